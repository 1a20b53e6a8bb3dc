"""Moving an end user to another cell: every row as it is. Who writes holds the user's lock, which
the move has until all rows are committed in the new cell and the placement says so; reads go on.
The placement alone says which cell counts, so that a move that died can be made again."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from django.db import Error, connections
from django.db import transaction as django_transaction  # noqa: TID251 of two cells at once
from django.db.models import F

from accounts import cells, placement, row_security, scope
from accounts.models import Cell, Placement
from memories.models import Batch, Consolidation, Receipt

USERS = "accounts_enduser"
# Triggers write some, which the user had before they were moved.
DELIVERIES = "webhooks_delivery"
# What is counted without the user's lock may change while it is copied; then it is copied again.
TRIES = 5
# Seconds that reads which began in the old cell have until the rest of the rows there is deleted.
READS_END = 1.0
# So many end users of a cell are moved before the rest of all of them is deleted.
CHUNK = 100

_COLUMNS = """
SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0
    AND NOT attisdropped AND attgenerated = '' ORDER BY attname
"""


# Those that derive what is copied as it is; a shard of Citus adds its number to their names.
_TRIGGERS = """
SELECT coalesce(array_agg(tgname{number}), '{{}}')::text FROM pg_trigger {shards}
WHERE tgname LIKE 'pgtrigger%' AND NOT tgisinternal
"""
_SHARDS = {"number": " || '_' || shardid", "shards": "JOIN pg_dist_shard ON logicalrelid = tgrelid"}


class CannotMove(RuntimeError):
    """Why an end user is not moved; they are where they were."""


class _Changed(Exception):
    """A table that is not the same in both cells."""


@dataclass(frozen=True, slots=True)
class Moved:
    """How many rows came to the new cell, by table, and how long the user was not written to."""

    rows: Mapping[str, int]
    seconds: float


def move(held: Placement, target: str) -> Moved:
    """Moves an end user to the cell ``target``, or ends a move that was broken off; to their own
    cell, it calls such a move back. Raises CannotMove."""
    if target not in cells.names() or not Cell.objects.filter(name=target).exists():
        raise CannotMove(f"There is no cell {target!r} that end users could be in.")
    _check_free(held, target)
    if target == held.cell:
        _keep(held)
        return Moved({}, 0.0)
    placement.bring_copies(target)
    with _owned(held.cell, target):
        moved = _moved(held, target)
        time.sleep(READS_END)
        _clear_rest(held.cell, [held.user_pk])
    return moved


def move_all(
    source: str, target: str, told: Callable[[Placement, Moved | CannotMove], object]
) -> None:
    """Moves all end users of a cell to another and calls ``told`` with what became of each. Who
    can't be moved now stays; run again, it goes on where it was broken off."""
    with _owned(source):
        for left in _left_behind(source):
            _clear_rest(source, left)
    last = 0
    while rows := list(Placement.objects.filter(cell=source, pk__gt=last).order_by("pk")[:CHUNK]):
        last = rows[-1].pk
        placement.bring_copies(target)
        for held in rows:
            told(held, _moved_or_why_not(held, target))
        time.sleep(READS_END)
        with _owned(source):
            _clear_rest(source, [held.user_pk for held in rows])
    with _owned(source, target):
        receipts = Receipt.objects.using(source).filter(end_user=None)  # of those who are erased
        while erased := list(receipts[:CHUNK]):
            Receipt.objects.using(target).bulk_create(erased, ignore_conflicts=True)
            receipts.filter(pk__in=[row.pk for row in erased]).delete()


def _moved_or_why_not(held: Placement, target: str) -> Moved | CannotMove:
    try:
        _check_free(held, target)
        with _owned(held.cell, target):
            return _moved(held, target)
    except CannotMove as error:
        return error
    except Error as error:  # of a session that was lost
        return _failed(error)


def _check_free(held: Placement, target: str) -> None:
    """Raises CannotMove unless both cells answer and nobody else moves the user."""
    if held.moving_to and target not in (held.cell, held.moving_to):
        raise CannotMove(f"They are on the way to {held.moving_to}: first end that move.")
    for cell in {held.cell, held.moving_to or target}:
        if cells.is_away(cell):
            raise CannotMove(f"The cell {cell} does not answer.")


@contextmanager
def _owned(*names: str) -> Iterator[None]:
    """The sessions of these cells see all rows, as the owner of the tables."""
    with ExitStack() as sessions:
        for name in sorted(set(names)):
            sessions.enter_context(scope.all_users_of_session(connections[name]))
        yield


def _keep(held: Placement) -> None:
    """Deletes what other cells have of the user. Raises CannotMove unless they are in their own."""
    with _owned(held.cell), django_transaction.atomic(held.cell):
        _hold(held)
        there, _ = _fingerprint(held.cell, USERS, held.user_pk)
        if not there:
            raise CannotMove(
                f"They are placed in {held.cell}, and are not there: cells check --fix."
            )
        for other in cells.reachable():
            if other != held.cell:
                with _owned(other):
                    _clear(other, held.user_pk)
        Placement.objects.filter(pk=held.pk).update(moving_to="")


def _hold(held: Placement, **placed: str) -> None:
    """Locks the user against writers. Raises CannotMove unless they are still ``placed`` so."""
    cells.fetch(f"SELECT 1 FROM {USERS} WHERE id = %s FOR UPDATE", [held.user_pk], held.cell)  # noqa: S608
    if not Placement.objects.filter(pk=held.pk, cell=held.cell, **placed).exists():
        raise CannotMove(f"They are not in {held.cell} any more, or are moved by somebody else.")


def _moved(held: Placement, target: str) -> Moved:
    """Copies the user's rows and places them in the new cell. Raises CannotMove."""
    began = time.monotonic()
    here = Placement.objects.filter(pk=held.pk, cell=held.cell, moving_to__in=["", target])
    here.update(moving_to=target)
    rows: dict[str, int] = {}
    for tried in range(1, TRIES + 1):
        try:
            rows = _copied(held, target)
            break
        except _Changed as error:
            if tried == TRIES:
                here.update(moving_to="")
                raise CannotMove(f"{error} changed again and again while it was copied.") from error
        except Error as error:
            here.update(moving_to="")
            raise _failed(error) from error
    return Moved(rows, time.monotonic() - began)


def _failed(error: Error) -> CannotMove:
    return CannotMove(f"{type(error.__cause__ or error).__name__}: run it again.")


def _left_behind(cell: str) -> Iterator[list[int]]:
    """Those whose rows a move that was broken off has left in a cell, some at a time."""
    last = 0
    while True:
        some = f"SELECT id FROM {USERS} WHERE id > %s ORDER BY id LIMIT 1000"  # noqa: S608
        here = [user_pk for (user_pk,) in cells.fetch(some, [last], cell)]
        if not here:
            return
        last = here[-1]
        elsewhere = Placement.objects.filter(user_pk__in=here).exclude(cell=cell)
        yield list(elsewhere.values_list("user_pk", flat=True))


def _clear_rest(cell: str, user_pks: Iterable[int]) -> None:
    """Deletes what is left in a cell of those who were moved from it, and are not on the way back."""
    for user_pk in user_pks:
        with django_transaction.atomic(cells.SHARED):
            held = Placement.objects.select_for_update().filter(user_pk=user_pk).first()
            if held is None or cell not in (held.cell, held.moving_to):
                _clear(cell, user_pk)


def _copied(held: Placement, target: str) -> dict[str, int]:
    """Copies all rows and places the user there. Raises _Changed and CannotMove."""
    source, user_pk, tables = held.cell, held.user_pk, _tables()
    with django_transaction.atomic(source):
        _hold(held, moving_to=target)
        _clear(target, user_pk)
        with django_transaction.atomic(target):
            _let_triggers_rest(target)
            for cell in (source, target):  # a node of Citus has a time zone of its own
                with connections[cell].cursor() as cursor:
                    cursor.execute("SET LOCAL TimeZone = 'UTC'")
            for table in tables:
                _copy(source, target, table, user_pk)
            found = {table: _fingerprint(source, table, user_pk) for table in tables}
            for table, told in found.items():
                if _fingerprint(target, table, user_pk) != told:
                    raise _Changed(table)
            for model in (Batch, Consolidation):  # work claimed in the old cell is claimable
                claimed = model.objects.using(target).filter(end_user=user_pk)
                claimed.filter(state=model.State.RUNNING).update(
                    state=model.State.PENDING, leased_until=None, server_start=None
                )
        _placed(held, target)
    return {table: count for table, (count, _) in found.items() if count}


def _tables() -> list[str]:
    """Those with rows of end users; what triggers write into comes last."""
    rest = set(row_security.user_tables()) - {USERS, DELIVERIES}
    return [USERS, *sorted(rest), DELIVERIES]


def _let_triggers_rest(cell: str) -> None:
    """Until the end of the transaction nothing is derived, and keys are checked at its end."""
    with connections[cell].cursor() as cursor:
        on_citus = row_security.login_of(connections[cell]).apart
        shards = _SHARDS if on_citus else dict.fromkeys(_SHARDS, "")
        cursor.execute(_TRIGGERS.format(**shards))
        (named,) = cursor.fetchone()
        # In one string, which Citus takes to the other node.
        cursor.execute(f"SET LOCAL pgtrigger.ignore = '{named}'; SET CONSTRAINTS ALL DEFERRED")


def _clear(cell: str, user_pk: int) -> None:
    """Deletes all rows of a user in a cell: those that a move has left there."""
    with django_transaction.atomic(cell), connections[cell].cursor() as cursor:
        _let_triggers_rest(cell)
        for table in reversed(_tables()):
            cursor.execute(f"DELETE FROM {table} WHERE {_whose(table)} = %s", [user_pk])  # noqa: S608
        # What was told of their deletion.
        cursor.execute(f"DELETE FROM {DELIVERIES} WHERE end_user_id = %s", [user_pk])  # noqa: S608


def _columns(cell: str, table: str) -> str:
    quoted = connections[cell].ops.quote_name
    return ", ".join(quoted(name) for (name,) in cells.fetch(_COLUMNS, [table], cell))


def _whose(table: str) -> str:
    return "id" if table == USERS else "end_user_id"


def _copy(source: str, target: str, table: str, user_pk: int) -> None:
    """By a table of its own, since no role but a superuser copies into one with policies."""
    columns = _columns(source, table)
    if columns != _columns(target, table):
        raise CannotMove(
            f"{table} is not the same in {source} and {target}: run manage.py migrate."
        )
    with connections[target].cursor() as into, connections[source].cursor() as out:
        into.execute(
            f"CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT {columns} FROM {table} LIMIT 0"  # noqa: S608
        )
        rows = f"COPY (SELECT {columns} FROM {table} WHERE {_whose(table)} = {user_pk}) TO STDOUT"  # noqa: S608
        with out.copy(rows) as read, into.copy("COPY moved FROM STDIN") as written:
            for block in read:
                written.write(block)
        if table == DELIVERIES:
            into.execute(f"DELETE FROM {table} WHERE end_user_id = %s", [user_pk])  # noqa: S608
        # With RETURNING Citus makes no COPY of it, which is refused to whom policies bind.
        into.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM moved RETURNING 1")  # noqa: S608
        into.execute("DROP TABLE moved")


def _fingerprint(cell: str, table: str, user_pk: int) -> tuple[int, str]:
    """How many rows of a table are the user's, and a sum over all that they hold."""
    columns = _columns(cell, table)
    [(count, told)] = cells.fetch(
        f"SELECT count(*), coalesce(sum(hashtextextended(ROW({columns})::text, 0)::numeric), 0)"  # noqa: S608
        f"::text FROM {table} WHERE {_whose(table)} = %s",
        [user_pk],
        cell,
    )
    return int(count), str(told)


def _placed(held: Placement, target: str) -> None:
    with django_transaction.atomic(cells.SHARED):
        moved = Placement.objects.filter(pk=held.pk, cell=held.cell, moving_to=target)
        if moved.update(cell=target, moving_to=""):
            Cell.objects.filter(name=held.cell).update(users=F("users") - 1)
            Cell.objects.filter(name=target).update(users=F("users") + 1)
