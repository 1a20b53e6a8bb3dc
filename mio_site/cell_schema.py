"""A cell before Mio's tables are in it, and the ids that it gives to rows."""

from collections.abc import Iterable
from itertools import combinations

from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from accounts import cells, scope

EXTENSIONS = ("vector", "btree_gin", "btree_gist")

# Those that count in 64 bits and have not come to the numbers of this cell yet.
_BEHIND = """
SELECT seqrelid::regclass::text FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
WHERE relnamespace = current_schema()::regnamespace AND seqtypid = 'bigint'::regtype
    AND coalesce(pg_sequence_last_value(seqrelid), 0) < %(first)s
"""


def added() -> list[str]:
    """The cells beside SHARED that ``cells add`` has made, as far as MIO_CELLS names them."""
    if not cells.several():
        return []
    # Also before models are to be had.
    numbered = "SELECT name FROM accounts_cell WHERE number > 0 ORDER BY number"
    return [name for (name,) in cells.fetch(numbered, cell=cells.SHARED) if name in cells.names()]


def schema_of(cell: str) -> str:
    """The schema that a cell is in, also before there is one of this name."""
    [(path, there)] = cells.fetch(
        "SELECT setting, coalesce(current_schema(), 'public') FROM pg_settings "
        "WHERE name = 'search_path'",
        cell=cell,
    )
    first = path.partition(",")[0].strip(' "')
    return there if first in ("$user", "public", "") else first


def make_ready(cell: str) -> None:
    """Makes the schema that a cell is in and the extensions that it needs."""
    schema, own = schema_of(cell), connections[cell]
    if schema == "public":
        return
    add_schema(cell, schema)
    # As the owner: whoever else may see Mio's tables in public has no right to this schema yet.
    with scope.all_users_of_session(own), own.cursor() as cursor:
        # What is not in the schema is looked for in public, where Mio's other tables may be.
        cursor.execute("SELECT to_regclass(%s)", [f'"{schema}".django_migrations'])
        if cursor.fetchone()[0] is None:
            cursor.execute(f"SET search_path = {own.ops.quote_name(schema)}")
            MigrationRecorder(own).ensure_schema()
    own.close()


def add_schema(cell: str, schema: str) -> None:
    """Makes a schema in the database of a cell, and the extensions there, where they lack."""
    own = connections[cell]
    with own.cursor() as cursor:
        cursor.execute("SELECT to_regnamespace(%s)", [own.ops.quote_name(schema)])
        if cursor.fetchone()[0] is None:
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {own.ops.quote_name(schema)}")
        # Citus lets only their owner say IF NOT EXISTS of one that is there.
        cursor.execute("SELECT extname FROM pg_extension")
        there = {name for (name,) in cursor.fetchall()}
        for name in set(EXTENSIONS) - there:
            cursor.execute(f"CREATE EXTENSION IF NOT EXISTS {name} SCHEMA public")


def number_ids(cell: str, number: int) -> None:
    """Makes a cell give ids of its own range, so that users keep their ids when they move."""
    first, own = number << cells.COUNTED_BITS, connections[cell]
    with scope.all_users_of_session(own), own.cursor() as cursor:
        cursor.execute(_BEHIND, {"first": first})
        for (sequence,) in cursor.fetchall():
            cursor.execute("SELECT setval(%s::regclass, %s)", [sequence, first])


def duplicates(names: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of these cells that are the same schema of the same database."""
    return [pair for pair in combinations(names, 2) if _identity(pair[0]) == _identity(pair[1])]


def _identity(cell: str) -> tuple[object, ...]:
    [server] = cells.fetch(
        "SELECT pg_postmaster_start_time(), current_database(), "
        "inet_server_addr(), inet_server_port()",
        cell=cell,
    )
    return *server, schema_of(cell)
