"""Keyset pagination of the dashboard's lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import paging

SIZE = 50


@dataclass(frozen=True, slots=True)
class Page:
    """``rows`` of one page; ``next`` is the value of ``?after=`` for the one behind it."""

    rows: Sequence[Any]
    next: str
    first: bool


def page_of(request: HttpRequest, rows: QuerySet, order: Sequence[str], size: int = SIZE) -> Page:
    """The page of ``rows`` that ``?after=`` asks for, the first without it.

    ``order`` are columns ("-said_at", "id") that together are unique; the last is the key.
    A cursor that makes no sense is the first page.
    """
    after = _values(request.GET.get("after", ""), len(order))
    ordered = rows.order_by(*order)
    try:
        wanted = ordered.filter(paging.behind(order, after)) if after else ordered
    except (ValueError, ValidationError):  # values that the columns can't hold
        after, wanted = [], ordered
    next_rows = paging.first_of_cells(wanted, order, size + 1)
    more = len(next_rows) > size
    shown = next_rows[:size]
    return Page(shown, paging.cursor_of(shown[-1], order) if more else "", not after)


def _values(cursor: str, length: int) -> list[str]:
    try:
        return paging.values_of(cursor, length)
    except ValueError:
        return []
