"""Queries for one row that every request asks: their SQL is made once, which takes the ORM longer than
the server needs to answer."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import connections
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=Model)


class RowQuery(Generic[M]):
    """The row that ``rows`` selects, which takes one value for each parameter of its SQL, in order."""

    def __init__(self, rows: Callable[[], QuerySet[M]], alias: str) -> None:
        self._rows, self._alias = rows, alias

    @cached_property
    def _read(self) -> tuple[str, Callable[[Any], M]]:
        """The SQL, and what makes a row of its answer; as ``django.db.models.query.ModelIterable``."""
        compiler = self._rows().query.get_compiler(self._alias)
        sql, _ = compiler.as_sql()
        select, info = compiler.select, compiler.klass_info
        start, end = info["select_fields"][0], info["select_fields"][-1] + 1
        names = [column.target.attname for column, _, _ in select[start:end]]
        converters = compiler.get_converters([column for column, _, _ in select])
        # The stubs are of a later Django, which asks for one more.
        related = get_related_populators(info, select, self._alias)  # type: ignore[call-arg]

        def made(found: Any) -> M:
            (row,) = compiler.apply_converters([found], converters) if converters else (found,)
            one: M = info["model"].from_db(self._alias, names, row[start:end])
            for populator in related:
                populator.populate(row, one)
            return one

        return sql, made

    def get(self, *values: Any) -> M | None:
        sql, made = self._read
        with connections[self._alias].cursor() as cursor:
            cursor.execute(sql, values)
            found = cursor.fetchone()
        return None if found is None else made(found)
