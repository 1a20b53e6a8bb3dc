"""The API's lists in pages that stay stable while rows come and go."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import DateTimeField, QuerySet
from django.utils.encoding import escape_uri_path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import cells, keyset
from accounts.fields import Strict
from accounts.models import InEveryCell

T = TypeVar("T")

DEFAULT_LIMIT, MAX_LIMIT = 50, 200


class PageQuery(Strict):
    """``limit`` rows a page; ``cursor`` comes from the ``next`` of the page before."""

    limit = serializers.IntegerField(min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT)
    cursor = serializers.CharField(required=False, max_length=200)


class Page(serializers.Serializer):
    """What ``page`` answers; who inherits from it adds the ``results``."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)


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
    if cursor := query.get("cursor"):
        rows = rows.filter(keyset.behind(order, _place(rows, order, cursor)))
    limit = query["limit"]
    found = first_of_cells(rows.order_by(*order), order, limit + 1)
    more, found = len(found) > limit, found[:limit]
    following = _address(request, keyset.cursor_of(found[-1], order)) if more else None
    return Response({"count": count, "next": following, "results": show(found)})


def of_cells(rows: QuerySet, ask: Callable[[QuerySet], list[T]]) -> list[T]:
    """What ``ask`` finds among rows of the current cell; where none was entered, of one cell after
    the other."""
    everywhere_equal = cells.is_shared(rows.model) or issubclass(rows.model, InEveryCell)
    if cells.chosen() is not None or everywhere_equal:
        return ask(rows)
    found: list[T] = []
    for cell in cells.reachable():
        with cells.entered(cell):
            found += ask(rows.using(cell))
    return found


def first_of_cells(rows: QuerySet, order: Sequence[str], limit: int) -> list[Any]:
    """The first of rows in this order, of all cells as of one."""
    found = of_cells(rows, lambda part: list(part[:limit]))
    if cells.chosen() is None:
        for name in reversed(order):
            found.sort(key=attrgetter(name.removeprefix("-")), reverse=name.startswith("-"))
    return found[:limit]


def _place(rows: QuerySet, order: Sequence[str], cursor: str) -> list[Any]:
    """The values of a cursor as those of the columns. Raises ValidationError."""
    columns = [_column(rows, name.removeprefix("-")) for name in order]
    try:
        values = keyset.values_of(cursor, len(order))
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
