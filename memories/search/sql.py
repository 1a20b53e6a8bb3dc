"""QuerySets inside hand-written statements."""

from typing import Any

from django.db.models import QuerySet


def named(queryset: QuerySet, name: str) -> tuple[str, dict[str, Any]]:
    """The SQL of a QuerySet with named parameters, to stand inside a larger statement."""
    sql, params = queryset.order_by().query.sql_with_params()
    names = [f"{name}_{n}" for n in range(len(params))]
    return sql % tuple(f"%({n})s" for n in names), dict(zip(names, params, strict=True))
