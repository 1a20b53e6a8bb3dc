"""Keyset pagination of the dashboard's lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from rest_framework.exceptions import ValidationError

from accounts import paging

SIZE = 50


@dataclass(frozen=True, slots=True)
class Page:
    """``rows`` of one page; ``next`` is the value of ``?after=`` for the one behind it."""

    rows: Sequence[Any]
    next: str
    first: bool


def page_of(request: HttpRequest, rows: QuerySet, order: Sequence[str], size: int = SIZE) -> Page:
    """The page of ``rows`` that ``?after=`` asks for, the first without it or where it makes no
    sense. ``order`` are columns ("-said_at", "id") that together are unique; the last is the key."""
    after = request.GET.get("after", "")
    try:
        shown, following = paging.slice_of(rows, order, after, size)
    except ValidationError:
        after = ""
        shown, following = paging.slice_of(rows, order, after, size)
    return Page(shown, following, not after)
