"""Prepares a cell before Mio's tables are in it, and sets the range of its ids."""

from collections.abc import Iterable
from itertools import combinations

from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from accounts import cells, scope
from accounts.sql_files import sql_pieces

EXTENSIONS = ("vector", "btree_gin", "btree_gist")

_SQL = sql_pieces(__file__)


def added() -> list[str]:
    """Returns the cells besides SHARED that ``cells add`` has made, as far as MIO_CELLS names them."""
    if not cells.several():
        return []
    # In SQL, since this may run before models are loaded.
    numbered = "SELECT name FROM accounts_cell WHERE number > 0 ORDER BY number"
    return [name for (name,) in cells.fetch(numbered, cell=cells.SHARED) if name in cells.names()]


def schema_of(cell: str) -> str:
    """Returns the schema of a cell, also before there is one of this name."""
    [(path, current_schema)] = cells.fetch(
        "SELECT setting, coalesce(current_schema(), 'public') FROM pg_settings "
        "WHERE name = 'search_path'",
        cell=cell,
    )
    first = path.partition(",")[0].strip(' "')
    return current_schema if first in ("$user", "public", "") else first


def make_ready(cell: str) -> None:
    """Creates the schema of a cell and the extensions that it needs."""
    schema, database = schema_of(cell), connections[cell]
    if schema == "public":
        return
    add_schema(cell, schema)
    # As the owner: whoever else may see Mio's tables in public has no right to this schema yet.
    with scope.all_users_of_session(database), database.cursor() as cursor:
        # What the schema lacks is looked up in public, where other tables of Mio may be.
        cursor.execute("SELECT to_regclass(%s)", [f'"{schema}".django_migrations'])
        if cursor.fetchone()[0] is None:
            cursor.execute(f"SET search_path = {database.ops.quote_name(schema)}")
            MigrationRecorder(database).ensure_schema()
    database.close()


def add_schema(cell: str, schema: str) -> None:
    """Creates a schema in the database of a cell, and the extensions there, unless they exist."""
    database = connections[cell]
    with database.cursor() as cursor:
        cursor.execute("SELECT to_regnamespace(%s)", [database.ops.quote_name(schema)])
        if cursor.fetchone()[0] is None:
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {database.ops.quote_name(schema)}")
        # Citus lets only the owner of an existing extension say IF NOT EXISTS.
        cursor.execute("SELECT extname FROM pg_extension")
        installed = {name for (name,) in cursor.fetchall()}
        for name in set(EXTENSIONS) - installed:
            cursor.execute(f"CREATE EXTENSION IF NOT EXISTS {name} SCHEMA public")


def number_ids(cell: str, number: int) -> None:
    """Makes a cell issue ids of its own range, so that users keep their ids when they move."""
    first, database = number << cells.COUNTED_BITS, connections[cell]
    with scope.all_users_of_session(database), database.cursor() as cursor:
        cursor.execute(_SQL["behind"], {"first": first})
        for (sequence,) in cursor.fetchall():
            cursor.execute("SELECT setval(%s::regclass, %s)", [sequence, first])


def duplicates(names: Iterable[str]) -> list[tuple[str, str]]:
    """Returns the pairs of these cells that are the same schema of the same database."""
    return [pair for pair in combinations(names, 2) if _identity(pair[0]) == _identity(pair[1])]


def _identity(cell: str) -> tuple[object, ...]:
    [server] = cells.fetch(
        "SELECT pg_postmaster_start_time(), current_database(), "
        "inet_server_addr(), inet_server_port()",
        cell=cell,
    )
    return *server, schema_of(cell)
