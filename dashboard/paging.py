"""Pages of a list by where the last one ended, so that page 1,000 costs what page 1 does."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

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
    after = _read(request.GET.get("after", ""), len(order))
    ordered = rows.order_by(*order)
    try:
        wanted = ordered.filter(_behind(order, after)) if after else ordered
    except (ValueError, ValidationError):  # values that the columns can't hold
        after, wanted = [], ordered
    found = list(wanted[: size + 1])
    more = len(found) > size
    shown = found[:size]
    return Page(shown, _write(shown[-1], order) if more else "", not after)


def _behind(order: Sequence[str], values: Sequence[Any]) -> Q:
    """(a, b) behind (x, y): a behind x, or a equal to x and b behind y."""
    condition = Q(pk__in=())
    same = Q()
    for column, value in zip(order, values, strict=True):
        name = column.removeprefix("-")
        way = "lt" if column.startswith("-") else "gt"
        condition |= same & Q(**{f"{name}__{way}": value})
        same &= Q(**{name: value})
    # Follows from the rest, and lets the database begin to read there.
    first, way = order[0].removeprefix("-"), "lte" if order[0].startswith("-") else "gte"
    return Q(**{f"{first}__{way}": values[0]}) & condition


def _write(row: Model, order: Sequence[str]) -> str:
    values = [str(getattr(row, column.removeprefix("-"))) for column in order]
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _read(cursor: str, length: int) -> list[str]:
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        return []
    good = isinstance(values, list) and len(values) == length
    return [str(value) for value in values] if good else []
