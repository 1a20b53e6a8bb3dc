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
    """One page of ``rows``; ``next`` is the ``?after=`` of the following page, "" on the last."""

    rows: Sequence[Any]
    next: str
    first: bool


def page_of(request: HttpRequest, rows: QuerySet, order: Sequence[str], size: int = SIZE) -> Page:
    """Returns the page of ``rows`` after ``?after=``, the first without it or if it is invalid.
    ``order`` are columns ("-said_at", "id") that are unique together; the last is the key."""
    after = request.GET.get("after", "")
    try:
        shown, following = paging.slice_of(rows, order, after, size)
    except ValidationError:
        after = ""
        shown, following = paging.slice_of(rows, order, after, size)
    return Page(shown, following, not after)
