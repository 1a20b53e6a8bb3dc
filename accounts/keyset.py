"""Keyset pagination: a page begins behind the last row of the one before, whatever its number."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Model, Q


def cursor_of(row: Model | Mapping[str, Any], order: Sequence[str]) -> str:
    """Where ``row`` stands in ``order``: columns ("-said_at", "id") that together are unique."""
    names = [column.removeprefix("-") for column in order]
    values = [str(row[n] if isinstance(row, Mapping) else getattr(row, n)) for n in names]
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def values_of(cursor: str, length: int) -> list[str]:
    """The values of the ``length`` columns that a cursor holds. Raises ValueError."""
    values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    if not isinstance(values, list) or len(values) != length:
        raise ValueError("not a cursor of this list")
    return [str(value) for value in values]


def behind(order: Sequence[str], values: Sequence[Any]) -> Q:
    """(a, b) behind (x, y): a behind x, or a equal to x and b behind y."""
    condition = same = Q()
    for column, value in zip(order, values, strict=True):
        name = column.removeprefix("-")
        way = "lt" if column.startswith("-") else "gt"
        condition |= same & Q(**{f"{name}__{way}": value})  # Q() | x is x
        same &= Q(**{name: value})
    # Follows from the rest, and lets the database begin to read there.
    first, way = order[0].removeprefix("-"), "lte" if order[0].startswith("-") else "gte"
    return Q(**{f"{first}__{way}": values[0]}) & condition
