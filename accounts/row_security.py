"""Row-level security: every table with rows of end users has one policy, made from the models.

It shows the rows of the end user in the setting ``mio.end_user``, or all where ``mio.scope`` says
so; ``accounts.scope`` sends both. Policies hold for the owner of the tables too (FORCE), but for
no superuser, so statements are run as a role that owns nothing, wherever there may be one.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from django.apps import apps
from django.db import (
    ProgrammingError,
    transaction,  # noqa: TID251 of the connection that is given
)
from django.db.backends.base.base import BaseDatabaseWrapper

POLICY = "mio_scope"
_USER = "(SELECT nullif(current_setting('mio.end_user', true), '')::bigint)"
_REST = "(SELECT current_setting('mio.scope', true))"
_APP = f"{_REST} = 'app:' || app_id"

# The planner takes a bare condition for one more that few rows meet, though each statement has
# its own on the end user: of 200 rows it expects 1, and walks joins row by row. Of this form it
# expects what it would without.
_SHOWN = "nullif({}, false) IS NOT NULL"

_STATE = """
SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AS enabled,
    obj_description(p.oid, 'pg_policy') AS shown, inhparent IS NOT NULL AS is_partition
FROM pg_class c
LEFT JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = %(policy)s
LEFT JOIN pg_inherits ON inhrelid = c.oid
WHERE c.relkind IN ('r', 'p')
    AND coalesce(inhparent, c.oid) IN (SELECT to_regclass(name) FROM unnest(%(tables)s::text[]) name)
ORDER BY c.relname
"""
# The role of the user who logs in, once it may read and write the tables.
_ROLE = "left(session_user, 59) || '_app'"
_USABLE = f"""
SELECT rolname FROM pg_roles WHERE rolname = {_ROLE} AND pg_has_role(oid, 'MEMBER')
    AND has_table_privilege(oid, to_regclass('accounts_enduser'), 'INSERT')
"""  # noqa: S608
_GRANTS = """
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}
"""

_roles: dict[tuple[str, str], str] = {}


class Unprotected(NamedTuple):
    """A table whose rows the database would show to everybody; ``shown`` is what its policy
    should be, "" for a partition, which is read by its table only."""

    table: str
    shown: str
    problem: str


def user_tables() -> dict[str, str]:
    """The tables with rows of end users, each with the condition by which a row is shown: those
    of every model with an ``end_user``, and of the end users themselves."""
    found = {}
    for model in apps.get_models():
        columns = {field.name: field.column for field in model._meta.concrete_fields}
        if model._meta.label == "accounts.EndUser":
            seen = f"id = {_USER} OR {_REST} = 'all' OR {_APP}"
        elif "end_user" in columns and not model._meta.proxy:
            seen = f"{columns['end_user']} = {_USER} OR {_REST} = 'all'"
        else:
            continue
        found[model._meta.db_table] = _SHOWN.format(seen)
    return found


@cache
def tables_in() -> re.Pattern[str]:
    """Finds the name of such a table in a statement."""
    return re.compile(rf"\b(?:{'|'.join(sorted(user_tables()))})\b")


def unprotected(connection: BaseDatabaseWrapper) -> Iterator[Unprotected]:
    """The tables with rows of end users, and their partitions, that lack their policy."""
    wanted = user_tables()
    with connection.cursor() as cursor:
        cursor.execute(_STATE, {"policy": POLICY, "tables": list(wanted)})
        rows = cursor.fetchall()
    for table, enabled, shown, is_partition in rows:
        condition = "" if is_partition else wanted[table]
        if not enabled:
            yield Unprotected(table, condition, "Row-level security is off.")
        elif (shown or "") != condition:
            yield Unprotected(table, condition, "Its policy is not the one of its model.")


def protect(connection: BaseDatabaseWrapper) -> None:
    """Gives every table that lacks it its policy, and the role its rights. What is right already
    is not touched, so no lock is taken."""
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        for table, shown, _ in unprotected(connection):
            cursor.execute(
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
                f"DROP POLICY IF EXISTS {POLICY} ON {table}"
            )
            if shown:
                cursor.execute(f"CREATE POLICY {POLICY} ON {table} USING ({shown})")
                literal = shown.replace("'", "''")
                cursor.execute(f"COMMENT ON POLICY {POLICY} ON {table} IS '{literal}'")
    _give_role(connection)
    _roles.clear()


def _give_role(connection: BaseDatabaseWrapper) -> None:
    """Makes the role where we may, and grants it what it needs; else there is none."""
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_ROLE}, current_schema(), to_regrole(quote_ident({_ROLE}))")
        name, schema, exists = cursor.fetchone()
        role = quote(name)
        try:
            with transaction.atomic(connection.alias):
                if not exists:
                    cursor.execute(f"CREATE ROLE {role} NOLOGIN; GRANT {role} TO SESSION_USER")
                cursor.execute(_GRANTS.format(role=role, schema=quote(schema)))
        except ProgrammingError:  # insufficient_privilege; the doctor says so
            return


def role_of(connection: BaseDatabaseWrapper) -> str:
    """The role that statements in a scope are run as; "" where there is none. Asked once by a
    process of each database."""
    at: Any = connection.settings_dict
    key = (connection.alias, at["NAME"])
    if key not in _roles:
        found = connection.connection.execute(_USABLE).fetchone()
        _roles[key] = found[0] if found else ""
    return _roles[key]


def is_bound(connection: BaseDatabaseWrapper) -> bool:
    """Whether the policies hold for the statements of this connection: they are run as a role
    that owns nothing, or at least not as a superuser's or another's who bypasses them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user")
        return bool(role_of(connection)) or not cursor.fetchone()[0]
