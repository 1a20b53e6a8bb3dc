"""Row-level security: every table with rows of end users has one policy, generated from the models.

It shows the rows of the end user in the setting ``mio.end_user``, or all if ``mio.scope`` says so.
Policies apply to the owner of the tables too (FORCE), but to no superuser: statements are run as a role
that owns nothing, and whose other rights are those that models name (``scoped_rights``)."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from django.apps import apps
from django.db import (
    ProgrammingError,
    transaction,  # noqa: TID251 of the connection that is given
)
from django.db.backends.base.base import BaseDatabaseWrapper

from accounts.sql_files import sql_pieces

POLICY = "mio_scope"


# The SQL of a policy: the row is the end user's, the setting of other visible rows, and the whole
# condition. The planner takes a bare condition for one more that few rows meet, though each statement
# has its own on the end user: of 200 rows it expects 1, and walks joins row by row. Of this form it
# expects what it would without.
_FORM = (
    "{} = (SELECT nullif(current_setting('mio.end_user', true), '')::bigint)",
    "(SELECT current_setting('mio.scope', true))",
    "nullif({}, false) IS NOT NULL",
)
# Citus has no sub-selects in policies, and takes few forms; settings are read for each row.
_FORM_ON_CITUS = (
    "{}::text = current_setting('mio.end_user', true)",
    "current_setting('mio.scope', true)",
    "coalesce({}, false)",
)

# The role of the user who logs in, once it may read and write the tables.
_ROLE = "left(session_user, 59) || '_app'"
_SQL = sql_pieces(__file__, role=_ROLE)
# What the role may do with the task queue's table, whose model is not ours.
_QUEUE_RIGHTS = {"django_q_ormq": ("SELECT", "INSERT")}


class Login(NamedTuple):
    """How statements are sent: as ``role`` ("" for the login's), ``apart`` from their scope on
    Citus, which would run everything that is sent with a SET at the other node."""

    role: str
    apart: bool


_logins: dict[tuple[str, str], Login] = {}


class Unprotected(NamedTuple):
    """A table without the right policy, and the condition that the policy should have (``shown``)."""

    table: str
    shown: str
    problem: str


def user_tables(*, on_citus: bool = False) -> dict[str, str]:
    """Returns the tables with rows of end users, each with the condition under which a row is shown."""
    is_own, setting, shown = _FORM_ON_CITUS if on_citus else _FORM
    conditions = {}
    for model in apps.get_models():
        columns = {field.name: field.column for field in model._meta.concrete_fields}
        if model._meta.label == "accounts.EndUser":
            condition = (
                f"{is_own.format('id')} OR {setting} = 'all' OR {setting} = 'app:' || app_id"
            )
        elif "end_user" in columns and not model._meta.proxy:
            condition = f"{is_own.format(columns['end_user'])} OR {setting} = 'all'"
        else:
            continue
        conditions[model._meta.db_table] = shown.format(condition)
    return conditions


@cache
def tables_in() -> re.Pattern[str]:
    """Returns a pattern for the name of such a table in a statement."""
    return re.compile(rf"\b(?:{'|'.join(sorted(user_tables()))})\b")


def unprotected(connection: BaseDatabaseWrapper) -> Iterator[Unprotected]:
    """Yields the tables with rows of end users, and their partitions, that lack their policy."""
    conditions = user_tables(on_citus=login_of(connection).apart)
    with connection.cursor() as cursor:
        cursor.execute(_SQL["state"], {"policy": POLICY, "tables": list(conditions)})
        rows = cursor.fetchall()
    for table, root, enabled, shown in rows:
        condition = conditions[root]
        if not enabled:
            yield Unprotected(table, condition, "Row-level security is off.")
        elif shown != condition:
            yield Unprotected(table, condition, "Its policy is not the one of its model.")


def protect(connection: BaseDatabaseWrapper) -> None:
    """Gives every table that lacks it its policy, and the role its rights. Locks no other table."""
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        for table, shown, _ in unprotected(connection):
            cursor.execute(
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
            )
            cursor.execute(f"DROP POLICY IF EXISTS {POLICY} ON {table}")
            cursor.execute(f"CREATE POLICY {POLICY} ON {table} USING ({shown})")
            literal = shown.replace("'", "''")
            cursor.execute(f"COMMENT ON POLICY {POLICY} ON {table} IS '{literal}'")
    _give_role(connection)
    _logins.clear()


def _give_role(connection: BaseDatabaseWrapper) -> None:
    """Creates the role if we may, and grants it what it needs; else there is none."""
    if login_of(connection).apart:
        return
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_ROLE}, current_schema(), to_regrole(quote_ident({_ROLE}))")
        name, schema, exists = cursor.fetchone()
        role = quote(name)
        try:
            with transaction.atomic(connection.alias):
                if not exists:
                    cursor.execute(f"CREATE ROLE {role} NOLOGIN; GRANT {role} TO SESSION_USER")
                tables = ", ".join(user_tables())
                cursor.execute(
                    _SQL["grants"].format(role=role, schema=quote(schema), tables=tables)
                )
                for model in apps.get_models(include_auto_created=True):
                    # The role may know the columns that are not encrypted.
                    hidden, fields = getattr(model, "encrypted", ()), model._meta.concrete_fields
                    columns = ", ".join(str(one.column) for one in fields if one.name not in hidden)
                    # Of a table between two models, its rights are those of the one with the field.
                    rights = getattr(model._meta.auto_created or model, "scoped_rights", ())
                    for right in _QUEUE_RIGHTS.get(model._meta.db_table, rights):
                        cursor.execute(
                            f"GRANT {right} ({columns}) ON {model._meta.db_table} TO {role}"
                        )
        except ProgrammingError:  # insufficient_privilege; the doctor says so
            return


def login_of(connection: BaseDatabaseWrapper) -> Login:
    """Returns how statements are sent to a database; a process asks each migrated one once."""
    key = (connection.alias, str(connection.settings_dict["NAME"]))
    if key in _logins:
        return _logins[key]
    connection.ensure_connection()
    migrated, on_citus, role = connection.connection.execute(_SQL["login"]).fetchone()
    login = Login("" if on_citus else role or "", apart=on_citus)
    if migrated:
        _logins[key] = login
    return login


def warnings(connection: BaseDatabaseWrapper) -> list[str]:
    """Returns what is missing of row-level security."""
    if login_of(connection).role:
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user")
        (bypasses,) = cursor.fetchone()
    problem = (
        "void: this database role bypasses it, and there is no role that does not."
        if bypasses
        else "kept by the owner of the tables: there is no role that owns nothing."
    )
    return [f"Row-level security is {problem} See Row-level security in docs/operations.md."]
