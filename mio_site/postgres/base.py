"""Django's PostgreSQL backend with a guard before every statement, and what Citus needs."""

import logging
import re
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, utils
from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.backends.postgresql import base, operations, schema
from psycopg.errors import InternalError_

from accounts import tracing
from accounts.row_security import login_of
from accounts.scope import SETTINGS, guard

log = logging.getLogger(__name__)

# As libpq reads it: a backslash precedes a blank, and the last setting counts.
_SEARCH_PATH = re.compile(r"-c\s*search_path=((?:\\.|[^\s\\])+)")


class DatabaseOperations(operations.DatabaseOperations):
    def last_executed_query(self, *args: Any) -> Any:
        """Returns the last statement, without the scope that was sent before it."""
        sent = super().last_executed_query(*args)
        return SETTINGS.sub("", sent) if sent else sent


# How Citus reports whatever went wrong at another node during a COMMIT or a SET: nothing is stored.
LOST_AT_NODE = ("could not commit transaction", "failure on connection marked as essential")


class DatabaseErrorWrapper(utils.DatabaseErrorWrapper):
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, InternalError_) and str(error).startswith(LOST_AT_NODE):
            self.wrapper.errors_occurred = True  # type: ignore[attr-defined]
            raise OperationalError(*error.args).with_traceback(traceback) from error
        super().__exit__(kind, error, traceback)


# Citus needs names for the constraints of columns: this gives them PostgreSQL's own.
_CHECKED_COLUMN = re.compile(
    r'(?P<alter>ALTER TABLE "(?P<table>\w+)") ADD COLUMN "(?P<column>\w+)"'
    r"(?P<kind>[^(]*(?:\(\d+\)[^(]*)?) (?P<check>CHECK \(.*\))(?P<rest>[^)]*)",
    re.S,
)
# Citus lacks this command; what is stored in line only affects speed.
_STORAGE = re.compile(r"\s*ALTER TABLE \S+ ALTER COLUMN \S+ SET STORAGE\b")


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def __enter__(self) -> Any:
        self.on_citus = login_of(self.connection).apart
        if self.on_citus:
            self.sql_create_column_inline_fk = None  # type: ignore[assignment]
        return super().__enter__()

    def execute(self, sql: Any, params: Any = ()) -> None:
        """Overrides Django's hook: on Citus, sends one statement at a time, each of one command."""
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


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    SchemaEditorClass = DatabaseSchemaEditor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.MIO_TRACING:
            self.execute_wrappers.append(tracing.statement)
        self.execute_wrappers.append(guard)

    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        return DatabaseErrorWrapper(self)

    def _configure_connection(self, connection: Any) -> bool:
        """Overrides Django's hook. Raises OperationalError if a pooler drops the cell's search path."""
        commits: bool = super()._configure_connection(connection)  # type: ignore[misc]
        if paths := _SEARCH_PATH.findall(self.settings_dict["OPTIONS"].get("options", "")):
            (search_path,) = connection.execute("SHOW search_path").fetchone()
            needed = re.sub(r"[\\\s]", "", paths[-1])
            if search_path.replace(" ", "") != needed:
                message = (
                    f"{self.alias}: the search path is {search_path}, not {needed}; a pooler has to set it "
                    "as it connects (docs/deployment.md, Behind PgBouncer)"
                )
                log.error(message)
                raise OperationalError(message)
        return commits

    def check_constraints(self, table_names: Any = None) -> None:
        """Overrides Django's hook; with Citus at other nodes too, which get only what follows a SET."""
        if not login_of(self).apart:
            return super().check_constraints(table_names)
        try:
            with self.cursor() as cursor:
                cursor.execute(
                    "SET LOCAL mio.checked = ''; "
                    "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED"
                )
        except OperationalError as error:
            raise IntegrityError(*error.args) from error.__cause__
