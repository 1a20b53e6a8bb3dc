"""Lists in pages, each of which begins after the last row of the one before (keyset pagination)."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import DateTimeField, Q, QuerySet
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
    """``limit`` rows per page; ``cursor`` comes from the ``next`` of the page before."""

    limit = serializers.IntegerField(min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT)
    cursor = serializers.CharField(required=False, max_length=200)


def page_of(serializer: type[serializers.BaseSerializer], name: str = "") -> Any:
    """Returns the description of a page of rows in this serializer."""
    fields: dict[str, Any] = {
        "count": serializers.IntegerField(),
        "next": serializers.URLField(allow_null=True),
        "results": serializer(many=True),
    }
    return inline_serializer(
        name or f"{serializer.__name__.removesuffix('Serializer')}Page", fields
    )


def listed(serializer: type[serializers.BaseSerializer]) -> Callable[[Sequence[Any]], list[Any]]:
    """Returns a function that shows rows in this serializer: the ``show`` of ``page``."""
    return lambda rows: list(serializer(rows, many=True).data)


def page(
    request: Request,
    rows: QuerySet,
    newest_by: str,
    query: dict[str, Any],
    show: Callable[[Sequence[Any]], list[dict[str, Any]]],
    tie: str = "pk",
) -> Response:
    """Returns ``{"count", "next", "results"}`` of ``rows`` by ``newest_by``, newest first, and by
    ``tie``."""
    count, order = sum(of_cells(rows, lambda part: [part.count()])), (f"-{newest_by}", tie)
    shown, following = slice_of(rows, order, query.get("cursor", ""), query["limit"])
    address = None
    if following:
        parameters = request.query_params.copy()
        parameters["cursor"] = following
        path = escape_uri_path(request.path)
        address = request.build_absolute_uri(f"{path}?{parameters.urlencode()}")
    return Response({"count": count, "next": address, "results": show(shown)})


def slice_of(
    rows: QuerySet, order: Sequence[str], cursor: str, limit: int
) -> tuple[list[Any], str]:
    """Returns the first rows after a cursor ("" for the beginning) in an order of columns that together
    are unique, and the cursor for the rows after them, or "". Raises DRF's ValidationError."""
    if cursor:
        rows = rows.filter(after_condition(order, _cursor_values(rows, order, cursor)))
    first = first_of_cells(rows.order_by(*order), order, limit + 1)
    if len(first) <= limit:
        return first, ""
    row, names = first[limit - 1], [column.removeprefix("-") for column in order]
    values = [str(row[n] if isinstance(row, Mapping) else getattr(row, n)) for n in names]
    following = base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
    return first[:limit], following


def of_cells(rows: QuerySet, ask: Callable[[QuerySet], list[T]]) -> list[T]:
    """Returns the results of ``ask`` for the current cell's rows; in no cell, of each cell in turn."""
    everywhere_equal = cells.is_shared(rows.model) or issubclass(rows.model, InEveryCell)
    if cells.entered_cell() is not None or everywhere_equal:
        return ask(rows)
    results: list[T] = []
    for cell in cells.reachable():
        with cells.entered(cell):
            results += ask(rows.using(cell))
    return results


def first_of_cells(rows: QuerySet, order: Sequence[str], limit: int) -> list[Any]:
    """Returns the first of ``rows``, which are in this order, of the current or of all cells."""
    return first_merged(rows, lambda part: list(part[:limit]), order, limit)


def first_merged(
    rows: QuerySet, ask: Callable[[QuerySet], list[T]], order: Sequence[str], limit: int
) -> list[T]:
    """Returns the first results of ``ask`` in this order, of all cells together."""
    results = of_cells(rows, ask)
    if cells.entered_cell() is None:
        for name in reversed(order):
            results.sort(key=attrgetter(name.removeprefix("-")), reverse=name.startswith("-"))
    return results[:limit]


def _cursor_values(rows: QuerySet, order: Sequence[str], cursor: str) -> list[Any]:
    """Returns the values of a cursor in the types of the columns. Raises ValidationError."""
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return [_column_value(rows, *pair) for pair in zip(order, values, strict=True)]
    except (ValueError, TypeError, OverflowError, ValidationError) as error:
        problem = "This is not a cursor of this list."
        raise serializers.ValidationError({"cursor": [problem]}) from error


def _column_value(rows: QuerySet, name: str, value: Any) -> Any:
    name = name.removeprefix("-")
    annotation = rows.query.annotations.get(name)
    meta = rows.model._meta
    column: Any = meta.pk if name == "pk" else None
    column = annotation.output_field if annotation else column or meta.get_field(name)
    if isinstance(column, DateTimeField):
        return datetime.fromisoformat(value).astimezone(UTC)
    return column.to_python(str(value))


def after_condition(order: Sequence[str], values: Sequence[Any]) -> Q:
    """Returns the condition for rows after these values: (a, b) comes after (x, y) if a comes after
    x, or a equals x and b comes after y."""
    condition = same = Q()
    for column, value in zip(order, values, strict=True):
        name = column.removeprefix("-")
        way = "lt" if column.startswith("-") else "gt"
        condition |= same & Q(**{f"{name}__{way}": value})  # Q() | x is x
        same &= Q(**{name: value})
    # Implied by the condition; it lets the database begin to read there.
    first, way = order[0].removeprefix("-"), "lte" if order[0].startswith("-") else "gte"
    return Q(**{f"{first}__{way}": values[0]}) & condition
