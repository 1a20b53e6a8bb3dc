"""Moves an end user to another cell, every row as it is. The move holds the user's lock, which
writers need, until all rows are committed in the new cell and the placement names it; reads go on.
The placement alone decides which cell counts, so that a move that died can be repeated."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from django.db import Error, connections
from django.db import transaction as django_transaction  # noqa: TID251 of two cells at once
from django.db.models import F

from accounts import cells, placement, row_security, scope
from accounts.models import Cell, Placement
from accounts.sql_files import sql_pieces
from memories.models import Batch, Consolidation, Receipt

USERS = "accounts_enduser"
# While rows are copied, triggers write deliveries; the copied ones replace them.
DELIVERIES = "webhooks_delivery"
# Tries of the copy: counts, which are written without the user's lock, may change meanwhile.
TRIES = 5
# Seconds until the rows in the old cell are deleted, so that reads there can finish.
READS_END = 1.0
# How many end users of a cell are moved before their rows in it are deleted.
CHUNK = 100

_SQL = sql_pieces(__file__)
_SHARDS = {"number": " || '_' || shardid", "shards": "JOIN pg_dist_shard ON logicalrelid = tgrelid"}


class CannotMove(RuntimeError):
    """An end user is not moved and stays where they were; the message says why."""


class _Changed(Exception):
    """A table differs between the two cells after it was copied."""


@dataclass(frozen=True, slots=True)
class Moved:
    """How many rows were copied, by table, and for how many seconds writers were locked out."""

    rows: Mapping[str, int]
    seconds: float


def move(held: Placement, target: str) -> Moved:
    """Moves an end user to the cell ``target``, or finishes an interrupted move; a move to their
    own cell cancels an interrupted one. Raises CannotMove."""
    if target not in cells.names() or not Cell.objects.filter(name=target).exists():
        raise CannotMove(f"There is no cell {target!r} that end users could be in.")
    _check_free(held, target)
    if target == held.cell:
        _cancel_move(held)
        return Moved({}, 0.0)
    placement.bring_copies(target)
    with _as_owner(held.cell, target):
        moved = _move_rows(held, target)
        time.sleep(READS_END)
        _clear_rest(held.cell, [held.user_pk])
    return moved


def move_all(
    source: str, target: str, told: Callable[[Placement, Moved | CannotMove], object]
) -> None:
    """Moves all end users of a cell to another and calls ``told`` with the outcome of each. Users
    who can't be moved now stay; a repetition continues where it was interrupted."""
    with _as_owner(source):
        for user_pks in _left_behind(source):
            _clear_rest(source, user_pks)
    last = 0
    while rows := list(Placement.objects.filter(cell=source, pk__gt=last).order_by("pk")[:CHUNK]):
        last = rows[-1].pk
        placement.bring_copies(target)
        for current in rows:
            told(current, _move_or_error(current, target))
        time.sleep(READS_END)
        with _as_owner(source):
            _clear_rest(source, [current.user_pk for current in rows])
    with _as_owner(source, target):
        receipts = Receipt.objects.using(source).filter(end_user=None)  # of erased users
        while erased := list(receipts[:CHUNK]):
            Receipt.objects.using(target).bulk_create(erased, ignore_conflicts=True)
            receipts.filter(pk__in=[row.pk for row in erased]).delete()


def _move_or_error(current: Placement, target: str) -> Moved | CannotMove:
    try:
        _check_free(current, target)
        with _as_owner(current.cell, target):
            return _move_rows(current, target)
    except CannotMove as error:
        return error
    except Error as error:  # a lost session
        return _as_cannot_move(error)


def _check_free(current: Placement, target: str) -> None:
    """Raises CannotMove unless both cells answer and the user is not being moved elsewhere."""
    if current.moving_to and target not in (current.cell, current.moving_to):
        raise CannotMove(f"They are on the way to {current.moving_to}: first end that move.")
    for cell in {current.cell, current.moving_to or target}:
        if cells.is_away(cell):
            raise CannotMove(f"The cell {cell} does not answer.")


@contextmanager
def _as_owner(*names: str) -> Iterator[None]:
    """Runs the block with sessions of these cells that see all rows, as the owner of the tables."""
    with ExitStack() as sessions:
        for name in sorted(set(names)):
            sessions.enter_context(scope.all_users_of_session(connections[name]))
        yield


def _cancel_move(current: Placement) -> None:
    """Deletes the user's rows in other cells. Raises CannotMove unless they are in their own."""
    with _as_owner(current.cell), django_transaction.atomic(current.cell):
        _lock_user(current)
        count, _ = _fingerprint(current.cell, USERS, current.user_pk)
        if not count:
            raise CannotMove(
                f"They are placed in {current.cell}, and are not there: cells check --fix."
            )
        for other in cells.reachable():
            if other != current.cell:
                with _as_owner(other):
                    _clear(other, current.user_pk)
        Placement.objects.filter(pk=current.pk).update(moving_to="")


def _lock_user(current: Placement, **expected: str) -> None:
    """Locks the user against writers. Raises CannotMove if their placement is not ``expected``."""
    cells.fetch(f"SELECT 1 FROM {USERS} WHERE id = %s FOR UPDATE", [current.user_pk], current.cell)  # noqa: S608
    if not Placement.objects.filter(pk=current.pk, cell=current.cell, **expected).exists():
        raise CannotMove(f"They are not in {current.cell} any more, or are moved by somebody else.")


def _move_rows(current: Placement, target: str) -> Moved:
    """Copies the user's rows and changes the placement to the new cell. Raises CannotMove."""
    started = time.monotonic()
    row = Placement.objects.filter(pk=current.pk, cell=current.cell, moving_to__in=["", target])
    row.update(moving_to=target)
    rows: dict[str, int] = {}
    for tried in range(1, TRIES + 1):
        try:
            rows = _copy_user(current, target)
            break
        except _Changed as error:
            if tried == TRIES:
                row.update(moving_to="")
                raise CannotMove(f"{error} changed again and again while it was copied.") from error
        except Error as error:
            row.update(moving_to="")
            raise _as_cannot_move(error) from error
    return Moved(rows, time.monotonic() - started)


def _as_cannot_move(error: Error) -> CannotMove:
    return CannotMove(f"{type(error.__cause__ or error).__name__}: run it again.")


def _left_behind(cell: str) -> Iterator[list[int]]:
    """Yields users, in groups, whose rows an interrupted move has left in a cell."""
    last = 0
    while True:
        query = f"SELECT id FROM {USERS} WHERE id > %s ORDER BY id LIMIT 1000"  # noqa: S608
        user_pks = [user_pk for (user_pk,) in cells.fetch(query, [last], cell)]
        if not user_pks:
            return
        last = user_pks[-1]
        elsewhere = Placement.objects.filter(user_pk__in=user_pks).exclude(cell=cell)
        yield list(elsewhere.values_list("user_pk", flat=True))


def _clear_rest(cell: str, user_pks: Iterable[int]) -> None:
    """Deletes the rows of users in a cell that they have left, unless they are on the way back."""
    for user_pk in user_pks:
        with django_transaction.atomic(cells.SHARED):
            current = Placement.objects.select_for_update().filter(user_pk=user_pk).first()
            if current is None or cell not in (current.cell, current.moving_to):
                _clear(cell, user_pk)


def _copy_user(current: Placement, target: str) -> dict[str, int]:
    """Copies all rows once and changes the placement. Raises _Changed and CannotMove."""
    source, user_pk, tables = current.cell, current.user_pk, _tables()
    with django_transaction.atomic(source):
        _lock_user(current, moving_to=target)
        _clear(target, user_pk)
        with django_transaction.atomic(target):
            _disable_triggers(target)
            for cell in (source, target):  # a node of Citus has a time zone of its own
                with connections[cell].cursor() as cursor:
                    cursor.execute("SET LOCAL TimeZone = 'UTC'")
            for table in tables:
                _copy_table(source, target, table, user_pk)
            fingerprints = {table: _fingerprint(source, table, user_pk) for table in tables}
            for table, fingerprint in fingerprints.items():
                if _fingerprint(target, table, user_pk) != fingerprint:
                    raise _Changed(table)
            for model in (Batch, Consolidation):  # work claimed in the old cell is claimable
                claimed = model.objects.using(target).filter(end_user=user_pk)
                claimed.filter(state=model.State.RUNNING).update(
                    state=model.State.PENDING, leased_until=None, server_start=None
                )
        _change_placement(current, target)
    return {table: count for table, (count, _) in fingerprints.items() if count}


def _tables() -> list[str]:
    """Returns the tables with rows of end users; the one that triggers write to comes last."""
    rest = set(row_security.user_tables()) - {USERS, DELIVERIES}
    return [USERS, *sorted(rest), DELIVERIES]


def _disable_triggers(cell: str) -> None:
    """Disables triggers that derive data until the transaction ends, and defers checks of keys."""
    with connections[cell].cursor() as cursor:
        on_citus = row_security.login_of(connections[cell]).apart
        shards = _SHARDS if on_citus else dict.fromkeys(_SHARDS, "")
        cursor.execute(_SQL["triggers"].format(**shards))
        (names,) = cursor.fetchone()
        # In one string, which Citus takes to the other node.
        cursor.execute(f"SET LOCAL pgtrigger.ignore = '{names}'; SET CONSTRAINTS ALL DEFERRED")


def _clear(cell: str, user_pk: int) -> None:
    """Deletes all rows of a user in a cell that a move has left there."""
    with django_transaction.atomic(cell), connections[cell].cursor() as cursor:
        _disable_triggers(cell)
        for table in reversed(_tables()):
            cursor.execute(f"DELETE FROM {table} WHERE {_owner(table)} = %s", [user_pk])  # noqa: S608
        # Those that triggers wrote about these deletions.
        cursor.execute(f"DELETE FROM {DELIVERIES} WHERE end_user_id = %s", [user_pk])  # noqa: S608


def _columns(cell: str, table: str) -> str:
    quoted = connections[cell].ops.quote_name
    return ", ".join(quoted(name) for (name,) in cells.fetch(_SQL["columns"], [table], cell))


def _owner(table: str) -> str:
    return "id" if table == USERS else "end_user_id"


def _copy_table(source: str, target: str, table: str, user_pk: int) -> None:
    """Copies a table by a temporary one: only a superuser may COPY into a table with policies."""
    columns = _columns(source, table)
    if columns != _columns(target, table):
        raise CannotMove(f"{table} is not the same in {source} and {target}: run bin/mio migrate.")
    with connections[target].cursor() as into, connections[source].cursor() as out:
        into.execute(
            f"CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT {columns} FROM {table} LIMIT 0"  # noqa: S608
        )
        rows = f"COPY (SELECT {columns} FROM {table} WHERE {_owner(table)} = {user_pk}) TO STDOUT"  # noqa: S608
        with out.copy(rows) as read, into.copy("COPY moved FROM STDIN") as written:
            for block in read:
                written.write(block)
        if table == DELIVERIES:
            into.execute(f"DELETE FROM {table} WHERE end_user_id = %s", [user_pk])  # noqa: S608
        # With RETURNING Citus makes no COPY of it, which it refuses to roles that policies bind.
        into.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM moved RETURNING 1")  # noqa: S608
        into.execute("DROP TABLE moved")


def _fingerprint(cell: str, table: str, user_pk: int) -> tuple[int, str]:
    """Returns the number of the user's rows in a table, and a checksum of their values."""
    columns = _columns(cell, table)
    [(count, checksum)] = cells.fetch(
        f"SELECT count(*), coalesce(sum(hashtextextended(ROW({columns})::text, 0)::numeric), 0)"  # noqa: S608
        f"::text FROM {table} WHERE {_owner(table)} = %s",
        [user_pk],
        cell,
    )
    return int(count), str(checksum)


def _change_placement(current: Placement, target: str) -> None:
    with django_transaction.atomic(cells.SHARED):
        rows = Placement.objects.filter(pk=current.pk, cell=current.cell, moving_to=target)
        if rows.update(cell=target, moving_to=""):
            Cell.objects.filter(name=current.cell).update(users=F("users") - 1)
            Cell.objects.filter(name=target).update(users=F("users") + 1)
