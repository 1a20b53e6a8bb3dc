"""Lists in pages that stay stable while rows come and go: the next page starts after the
last row of this one, whatever its number."""

import base64
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.utils.encoding import escape_uri_path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.fields import Strict

DEFAULT_LIMIT, MAX_LIMIT = 50, 200


class PageQuery(Strict):
    """``limit`` rows a page; ``cursor`` comes from the ``next`` of the page before."""

    limit = serializers.IntegerField(min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT)
    cursor = serializers.CharField(required=False, max_length=200)

    def validate_cursor(self, value: str) -> tuple[datetime, UUID]:
        try:
            moment, pk = json.loads(base64.urlsafe_b64decode(value.encode()))
            return datetime.fromisoformat(moment).astimezone(UTC), UUID(pk)
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise serializers.ValidationError("This is not a cursor of this list.") from error


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
) -> Response:
    """``{"count", "next", "results"}``: ``rows`` by ``newest_by`` (newest first), then id."""
    count = rows.count()
    if cursor := query.get("cursor"):
        moment, pk = cursor
        rows = rows.filter(
            Q(**{f"{newest_by}__lt": moment}) | Q(**{newest_by: moment, "pk__gt": pk})
        )
    limit = query["limit"]
    found = list(rows.order_by(f"-{newest_by}", "pk")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    following = _address(request, found[-1], newest_by) if more else None
    return Response({"count": count, "next": following, "results": show(found)})


def _address(request: Request, last: Model, newest_by: str) -> str:
    cursor = json.dumps([getattr(last, newest_by).isoformat(), str(last.pk)])
    parameters = request.query_params.copy()
    parameters["cursor"] = base64.urlsafe_b64encode(cursor.encode()).decode()
    path = escape_uri_path(request.path)
    return request.build_absolute_uri(f"{path}?{parameters.urlencode()}")
