"""Django's schema editor, with statements in the form that Citus accepts."""

import re
from typing import Any

from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.backends.postgresql import schema

from accounts.row_security import login_of

# A constraint within a column has no name yet, which all have to be given. This is PostgreSQL's own.
_CHECKED_COLUMN = re.compile(
    r'(?P<alter>ALTER TABLE "(?P<table>\w+)") ADD COLUMN "(?P<column>\w+)"'
    r"(?P<kind>[^(]*(?:\(\d+\)[^(]*)?) (?P<check>CHECK \(.*\))(?P<rest>[^)]*)",
    re.S,
)
# It has no such command; what is kept in line is a matter of speed alone.
_STORAGE = re.compile(r"\s*ALTER TABLE \S+ ALTER COLUMN \S+ SET STORAGE\b")


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def __enter__(self) -> Any:
        self.on_citus = login_of(self.connection).apart
        if self.on_citus:
            self.sql_create_column_inline_fk = None  # type: ignore[assignment]
        return super().__enter__()

    def execute(self, sql: Any, params: Any = ()) -> None:
        """One statement at a time where Citus is to run them, and of each one command."""
        if not self.on_citus or self.collect_sql:
            return super().execute(sql, params)
        if params is not None:
            sql = self.connection.ops.compose_sql(str(sql), params)
        for statement in BaseDatabaseOperations.prepare_sql_script(self.connection.ops, str(sql)):
            for command in _split_commands(statement):
                super().execute(command, None)
        return None


def _split_commands(statement: str) -> list[str]:
    if _STORAGE.match(statement):
        return []
    match = _CHECKED_COLUMN.fullmatch(statement.strip().removesuffix(";"))
    if match is None:
        return [statement]
    alter, table, column, kind, check, rest = match.groups()
    return [
        f'{alter} ADD COLUMN "{column}"{kind}{rest}',
        f'{alter} ADD CONSTRAINT "{table}_{column}_check" {check}',
    ]
