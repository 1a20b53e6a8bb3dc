"""Empties the test database after a test that committed.

Django's flush truncates all tables and installs content types and permissions anew: half a second
for each test. Here rows are deleted from the few tables that hold any; what a migrated database
begins with stays, unless the test changed it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import TransactionTestCase

from accounts import scope
from dashboard.models import install_roles

# What a migrated database holds before anybody uses it.
INSTALLED = ("django_content_type", "auth_permission", "auth_group", "auth_group_permissions")


def delete_instead_of_flushing() -> None:
    """Has every test that commits end so."""
    TransactionTestCase._fixture_setup = classmethod(_look)  # type: ignore[assignment]
    TransactionTestCase._fixture_teardown = _empty  # type: ignore[method-assign]


def _look(_test: type[TransactionTestCase]) -> None:
    _installed_first()


def _empty(_test: TransactionTestCase) -> None:
    with _owner() as cursor:
        # Triggers on one table may add rows to another that was emptied before it.
        while filled := cursor.execute(_filled()).fetchall():
            for name in filled:
                cursor.execute("DELETE FROM {}".format(*name))
        changed = _installed(cursor) != _installed_first()
    if changed:
        call_command("flush", verbosity=0, interactive=False)
        install_roles()


@contextmanager
def _owner() -> Iterator[Any]:
    """A cursor of the owner of the tables, who sees all rows: a test may have left a scope."""
    connection.ensure_connection()
    session: Any = connection.connection
    with session.transaction(), session.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE NONE; SET LOCAL mio.scope = 'all'")
        yield cursor


@cache
def _filled() -> str:
    """The query for the names of the tables that hold rows, of those that tests fill."""
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    tables = sorted(set(names) - set(INSTALLED))
    return " UNION ALL ".join(
        f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in tables
    )


def _installed(cursor: Any) -> Any:
    """A checksum of what is installed."""
    rows = " UNION ALL ".join(f"SELECT {name}::text AS row FROM {name}" for name in INSTALLED)
    cursor.execute(f"SELECT md5(string_agg(row, ';' ORDER BY row)) FROM ({rows}) AS rows")
    return cursor.fetchone()


@cache
def _installed_first() -> Any:
    """The checksum before the first test that commits."""
    with _owner() as cursor:
        return _installed(cursor)


def forget_counts() -> None:
    """Resets the statistics that autovacuum gathered while other tests had emptied the tables, before
    a test of a query plan."""
    with scope.undeclared(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_clear_relation_stats('public', relname::text) FROM pg_class "
            "WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace "
            "AND relname ~ '^(contact|memories|accounts)' AND pg_has_role(relowner, 'USAGE')"
        )
