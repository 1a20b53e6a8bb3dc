"""Snapshots of several cells that belong together: of a moment in which nobody changed cells.

The placement alone says which cell of an end user counts, and it is written before a new user's
rows are, and after the rows of one who moves are committed in the new cell. So while placements
stand still, whatever is committed in the cells, all of each user is in the cell that counts. What
else a snapshot holds of somebody (the copy of a move that was under way, a placement of a user
who came just then) is told by ``cells check`` and mended by the move's being made again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from django.db import OperationalError, connections
from django.db import transaction as django_transaction  # noqa: TID251 of several cells at once

from accounts import cells, scope
from mio_site.postgres.dump import DumpError

# Seconds: who places an end user waits behind this lock.
LOCK_TIMEOUT = 5.0
# Should a cell fall silent just while placements are held, the server gives them back by itself.
HELD_AT_MOST = 10.0

_BEGIN = """
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SET LOCAL idle_in_transaction_session_timeout = 0
"""
_EXPORT = """
SELECT pg_export_snapshot(), current_setting('server_version'),
    coalesce(sum(pg_total_relation_size(oid)), 0)::bigint
FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that other sessions of the cell's server can use, until ``end`` is called."""

    cell: str
    exported: str
    server_version: str
    size: int
    end: Callable[[], None]


@contextmanager
def taken(names: Sequence[str]) -> Iterator[list[Snapshot]]:
    """The snapshots of these cells, SHARED among them, the smallest cell first; what runs in it sees
    all rows of each, as they are there. Raises DumpError where placements never stand still."""
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(scope.all_users_of_session(connections[name]))
        transactions = {name: stack.enter_context(ExitStack()) for name in names}
        for name, transaction in transactions.items():
            transaction.enter_context(django_transaction.atomic(name))
            with connections[name].cursor() as cursor:
                cursor.execute(_BEGIN)
        with _placements_at_rest() if len(names) > 1 else ExitStack():
            for name in names:
                with connections[name].cursor() as cursor:
                    cursor.execute("SELECT 1")  # the snapshot is of the first query
        snapshots = [Snapshot(name, *_exported(name), transactions[name].close) for name in names]
        yield sorted(snapshots, key=lambda snapshot: snapshot.size)


@contextmanager
def _placements_at_rest() -> Iterator[None]:
    """Holds all placements still for the block, which takes a moment. The lock goes with the savepoint,
    and the transaction of SHARED keeps its snapshot. Raises DumpError where the lock is not to be had."""
    with connections[cells.SHARED].cursor() as cursor:
        cursor.execute("SAVEPOINT at_rest")
        try:
            cursor.execute(
                f"SET LOCAL lock_timeout = '{int(LOCK_TIMEOUT * 1000)}ms';"
                f"SET LOCAL idle_in_transaction_session_timeout = '{int(HELD_AT_MOST * 1000)}ms';"
                "LOCK TABLE accounts_placement IN SHARE MODE"
            )
        except OperationalError as error:
            raise DumpError(
                "Somebody is writing in which cell end users are (one large import, it may be): make "
                "the backup when that is done."
            ) from error
        yield
        cursor.execute("ROLLBACK TO SAVEPOINT at_rest; RELEASE SAVEPOINT at_rest")


def _exported(name: str) -> tuple[str, str, int]:
    with connections[name].cursor() as cursor:
        cursor.execute(_EXPORT)
        exported, server_version, size = cursor.fetchone()
    return exported, server_version, size
