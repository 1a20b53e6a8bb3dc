"""Hand-written statements: read from files, and with QuerySets inside."""

from itertools import dropwhile
from pathlib import Path
from typing import Any

from django.db.models import QuerySet


def named(queryset: QuerySet, name: str) -> tuple[str, dict[str, Any]]:
    """The SQL of a QuerySet with named parameters, to stand inside a larger statement."""
    sql, params = queryset.order_by().query.sql_with_params()
    names = [f"{name}_{n}" for n in range(len(params))]
    return sql % tuple(f"%({n})s" for n in names), dict(zip(names, params, strict=True))


def statement(module: str, name: str) -> str:
    """The SQL of the file ``name`` beside ``module`` (its ``__file__``), without the comment at its
    head: what is sent begins with its verb."""
    lines = Path(module).with_name(name).read_text(encoding="utf-8").splitlines()
    return "\n".join(dropwhile(lambda line: line.startswith("--"), lines))
