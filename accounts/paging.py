"""Lists in pages that stay stable while rows come and go: a page begins behind the last row of the
one before, whatever its number (keyset pagination)."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import DateTimeField, Model, Q, QuerySet
from django.utils.encoding import escape_uri_path
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import cells
from accounts.fields import Strict
from accounts.models import InEveryCell

T = TypeVar("T")

DEFAULT_LIMIT, MAX_LIMIT = 50, 200


class PageQuery(Strict):
    """``limit`` rows a page; ``cursor`` comes from the ``next`` of the page before."""

    limit = serializers.IntegerField(min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT)
    cursor = serializers.CharField(required=False, max_length=200)


def page_of(serializer: type[serializers.BaseSerializer], name: str = "") -> Any:
    """The description of what ``page`` answers with rows of this serializer."""
    fields: dict[str, Any] = {
        "count": serializers.IntegerField(),
        "next": serializers.URLField(allow_null=True),
        "results": serializer(many=True),
    }
    return inline_serializer(
        name or f"{serializer.__name__.removesuffix('Serializer')}Page", fields
    )


def listed(serializer: type[serializers.BaseSerializer]) -> Callable[[Sequence[Any]], list[Any]]:
    """Shows rows by this serializer: the ``show`` of ``page``."""
    return lambda rows: list(serializer(rows, many=True).data)


def page(
    request: Request,
    rows: QuerySet,
    newest_by: str,
    query: dict[str, Any],
    show: Callable[[Sequence[Any]], list[dict[str, Any]]],
    tie: str = "pk",
) -> Response:
    """``{"count", "next", "results"}``: ``rows`` by ``newest_by`` (newest first), then ``tie``; those
    of end users of all cells that answer, where no cell was entered."""
    count, order = sum(of_cells(rows, lambda part: [part.count()])), (f"-{newest_by}", tie)
    shown, following = slice_of(rows, order, query.get("cursor", ""), query["limit"])
    address = _address(request, following) if following else None
    return Response({"count": count, "next": address, "results": show(shown)})


def slice_of(
    rows: QuerySet, order: Sequence[str], cursor: str, limit: int
) -> tuple[list[Any], str]:
    """The first rows behind a cursor ("" for the first of all) in an order of columns that together
    are unique, and the cursor of those behind them, "" where there are none. Raises the
    ValidationError of REST framework."""
    if cursor:
        rows = rows.filter(behind(order, _place(rows, order, cursor)))
    first = first_of_cells(rows.order_by(*order), order, limit + 1)
    return first[:limit], cursor_of(first[limit - 1], order) if len(first) > limit else ""


def of_cells(rows: QuerySet, ask: Callable[[QuerySet], list[T]]) -> list[T]:
    """The results of ``ask`` for the rows of the current cell; without one, of each cell in turn."""
    everywhere_equal = cells.is_shared(rows.model) or issubclass(rows.model, InEveryCell)
    if cells.chosen() is not None or everywhere_equal:
        return ask(rows)
    results: list[T] = []
    for cell in cells.reachable():
        with cells.entered(cell):
            results += ask(rows.using(cell))
    return results


def first_of_cells(rows: QuerySet, order: Sequence[str], limit: int) -> list[Any]:
    """The first of rows in this order, of all cells as of one."""
    return merged(rows, lambda part: list(part[:limit]), order, limit)


def merged(
    rows: QuerySet, ask: Callable[[QuerySet], list[T]], order: Sequence[str], limit: int
) -> list[T]:
    """The first of what ``ask`` finds in this order, of all cells as of one."""
    results = of_cells(rows, ask)
    if cells.chosen() is None:
        for name in reversed(order):
            results.sort(key=attrgetter(name.removeprefix("-")), reverse=name.startswith("-"))
    return results[:limit]


def _place(rows: QuerySet, order: Sequence[str], cursor: str) -> list[Any]:
    """The values of a cursor as those of the columns. Raises ValidationError."""
    columns = [_column(rows, name.removeprefix("-")) for name in order]
    try:
        values = values_of(cursor, len(order))
        return [_read(*pair) for pair in zip(columns, values, strict=True)]
    except (ValueError, TypeError, OverflowError, ValidationError) as error:
        problem = "This is not a cursor of this list."
        raise serializers.ValidationError({"cursor": [problem]}) from error


def _column(rows: QuerySet, name: str) -> Any:
    if name in rows.query.annotations:
        return rows.query.annotations[name].output_field
    return rows.model._meta.pk if name == "pk" else rows.model._meta.get_field(name)


def _read(column: Any, value: str) -> Any:
    if isinstance(column, DateTimeField):
        return datetime.fromisoformat(value).astimezone(UTC)
    return column.to_python(value)


def _address(request: Request, cursor: str) -> str:
    parameters = request.query_params.copy()
    parameters["cursor"] = cursor
    path = escape_uri_path(request.path)
    return request.build_absolute_uri(f"{path}?{parameters.urlencode()}")


def cursor_of(row: Model | Mapping[str, Any], order: Sequence[str]) -> str:
    """The place of ``row`` in ``order``: columns ("-said_at", "id") that together are unique."""
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
