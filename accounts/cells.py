"""The database that the work of now is in: the one door to connections and transactions.

A cell is a connection to a database, or to a schema, with all tables of Mio for some of the end users.
With ``MIO_CELLS``, ``default`` holds what all share: apps, keys, operators, the queue and placements.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections
from django.db import transaction as django_transaction  # noqa: TID251 this is the door
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

log = logging.getLogger(__name__)
T = TypeVar("T")

SHARED = DEFAULT_DB_ALIAS
# The bits of an id that its cell counts; what stands above them is the number of the cell.
COUNTED_BITS = 44
# What this package has that is nobody's in particular, and shared.
_SHARED_MODELS = frozenset({"app", "apikey", "cell", "placement"})

# Seconds after which a cell that was away is asked again.
ASK_AGAIN = 3.0

_away_until: dict[str, float] = {}
_current: ContextVar[str | None] = ContextVar("cell", default=None)


class CrossesCells(RuntimeError):
    """Work in one cell that turned to another: a transaction could not commit in both."""


class NoCell(RuntimeError):
    """A statement on rows of end users by work that did not say in which cell."""


class Moving(RuntimeError):
    """The end user is being moved to another cell, or was meanwhile. Nothing was written; try again."""

    def __init__(self) -> None:
        super().__init__("This user is being moved. Nothing was changed; try again.")


def names() -> tuple[str, ...]:
    """The aliases of all cells; the first is SHARED, which keeps users from before there were
    others."""
    return (SHARED, *settings.MIO_CELLS)


def several() -> bool:
    """Whether end users are in more than one cell."""
    return bool(settings.MIO_CELLS)


def chosen() -> str | None:
    """The cell that was entered, None before any was."""
    return _current.get() or (None if settings.MIO_CELLS else SHARED)


def current() -> str:
    """The alias of the connection that the work of now uses."""
    return _current.get() or SHARED


@contextmanager
def entered(cell: str | None) -> Iterator[None]:
    """Runs the block in this cell; with None in no cell, where lists ask all of them. Raises
    CrossesCells within a transaction of another one."""
    before, outer = _current.get(), current()
    leaves = cell != outer if cell else several()
    if leaves and connections[outer].in_atomic_block:
        raise CrossesCells(f"A transaction of the cell {outer} is open; the work is in {cell}.")
    _current.set(cell)
    try:
        yield
    finally:
        # Not by a token: a request may begin and end in different threads.
        _current.set(before)


everywhere = partial(entered, None)


def reachable() -> tuple[str, ...]:
    """The cells whose servers answer. With one cell, its server is not asked."""
    return tuple(cell for cell in names() if not is_away(cell)) if several() else names()


def is_away(cell: str) -> bool:
    """Whether the server of a cell does not answer. It is asked again after ASK_AGAIN seconds."""
    if _away_until.get(cell, 0.0) > time.monotonic():
        return True
    here = connections[cell]
    try:
        here.ensure_connection()
        if not here.in_atomic_block and not here.is_usable():
            here.close()
            here.ensure_connection()
    except (OperationalError, InterfaceError) as error:
        log.warning("the cell %s is away: %s", cell, type(error).__name__)
        _away_until[cell] = time.monotonic() + ASK_AGAIN
        return True
    return False


@contextmanager
def atomic(*, savepoint: bool = True, durable: bool = False) -> Iterator[None]:
    """A transaction (inside of one, a savepoint) of the current cell; as a decorator, `@atomic()`."""
    with django_transaction.atomic(current(), savepoint, durable):
        yield


def release() -> None:
    """Closes the connections of this thread that are in no transaction."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def releasing(work: Callable[..., T]) -> Callable[..., T]:
    """``work`` for a thread that serves many: it closes its connections afterwards."""

    @wraps(work)
    def done(*args: Any, **kwargs: Any) -> T:
        try:
            return work(*args, **kwargs)
        finally:
            release()

    return done


def on_commit(act: Callable[[], object], cell: str | None = None) -> None:
    """Calls ``act`` when the transaction of a cell is committed; at once outside of one."""
    where = cell or current()
    if connections[where].in_atomic_block:
        # What was committed stands, whatever becomes of what was to follow it.
        django_transaction.on_commit(act, using=where, robust=True)
    else:
        act()


class _Connection:
    """The connection of the current cell, asked for anew at every use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(connections[current()], name)


connection = cast(BaseDatabaseWrapper, _Connection())


def fetch(sql: str, params: Any = None, cell: str | None = None) -> list[Any]:
    """The rows that a statement returns in this cell, else in the current one."""
    with connections[cell or current()].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def is_shared(model: type[Model]) -> bool:
    """Whether its rows are in SHARED wherever the work is."""
    meta = model._meta
    if meta.app_label == "accounts":
        return meta.model_name in _SHARED_MODELS
    return meta.app_label not in settings.CELL_APPS


class Router:
    """Routes Django's ORM to the cell of a model's rows, when there are several cells."""

    def db_for_read(self, model: type[Model], **_hints: Any) -> str:
        return SHARED if is_shared(model) else current()

    db_for_write = db_for_read

    def allow_relation(self, *_objects: Model, **_hints: Any) -> bool:
        """A user of a cell points at their app: what crosses cells the guard refuses."""
        return True

    def allow_migrate(self, database: str, app_label: str, **_hints: Any) -> bool:
        return database == SHARED or app_label in settings.CELL_APPS
