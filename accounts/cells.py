"""The cell of the current work, and the only access to connections and transactions.

A cell is a connection to a database, or to a schema, with all tables of Mio for some of the end users.
With ``MIO_CELLS``, ``default`` has what all share: apps, keys, operators, the queue and placements."""

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
# The lower bits of an id, which its cell counts; the bits above are the number of the cell.
COUNTED_BITS = 44
# Models of this package that belong to no end user, and are shared.
_SHARED_MODELS = frozenset({"app", "apikey", "cell", "placement"})

# Seconds after which a cell that was away is asked again.
ASK_AGAIN = 3.0

_away_until: dict[str, float] = {}
_current: ContextVar[str | None] = ContextVar("cell", default=None)


class CrossesCells(RuntimeError):
    """Work in one cell used another one: a transaction could not commit in both."""


class NoCell(RuntimeError):
    """A statement on rows of end users, by work that named no cell."""


class Moving(RuntimeError):
    """The end user is being moved to another cell, or was meanwhile. Nothing was written; try again."""

    def __init__(self) -> None:
        super().__init__("This user is being moved. Nothing was changed; try again.")


def names() -> tuple[str, ...]:
    """Returns the aliases of all cells, first SHARED, where users are from before there were others."""
    return (SHARED, *settings.MIO_CELLS)


def several() -> bool:
    """Whether end users are in more than one cell."""
    return bool(settings.MIO_CELLS)


def entered_cell() -> str | None:
    """Returns the cell that was entered, None if none was; SHARED if there is one cell only."""
    return _current.get() or (None if settings.MIO_CELLS else SHARED)


def current() -> str:
    """Returns the alias of the connection that the current work uses."""
    return _current.get() or SHARED


@contextmanager
def value_within(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Sets a context variable for the block."""
    previous = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        # Not by a token: a request may begin and end in different threads.
        variable.set(previous)


@contextmanager
def entered(cell: str | None) -> Iterator[None]:
    """Runs the block in a cell; with None in no cell, where lists read all of them. Raises
    CrossesCells inside a transaction of another cell."""
    outer = current()
    leaves = cell != outer if cell else several()
    if leaves and connections[outer].in_atomic_block:
        raise CrossesCells(f"A transaction of the cell {outer} is open; the work is in {cell}.")
    with value_within(_current, cell):
        yield


everywhere = partial(entered, None)


def reachable() -> tuple[str, ...]:
    """Returns the cells whose servers answer. If there is one cell only, its server is not asked."""
    return tuple(cell for cell in names() if not is_away(cell)) if several() else names()


def is_away(cell: str) -> bool:
    """Whether the server of a cell does not answer. It is asked again after ASK_AGAIN seconds."""
    if _away_until.get(cell, 0.0) > time.monotonic():
        return True
    database = connections[cell]
    try:
        database.ensure_connection()
        if not database.in_atomic_block and not database.is_usable():
            database.close()
            database.ensure_connection()
    except (OperationalError, InterfaceError) as error:
        log.warning("the cell %s is away: %s", cell, type(error).__name__)
        _away_until[cell] = time.monotonic() + ASK_AGAIN
        return True
    return False


@contextmanager
def atomic(*, savepoint: bool = True) -> Iterator[None]:
    """A transaction of the current cell (inside another, a savepoint); as a decorator, `@atomic()`."""
    with django_transaction.atomic(current(), savepoint):
        yield


def release() -> None:
    """Closes the connections of this thread that are in no transaction."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def releasing(work: Callable[..., T]) -> Callable[..., T]:
    """Wraps ``work`` for a thread that serves many requests: closes the connections afterwards."""

    @wraps(work)
    def wrapped(*args: Any, **kwargs: Any) -> T:
        try:
            return work(*args, **kwargs)
        finally:
            release()

    return wrapped


def on_commit(act: Callable[[], object], cell: str | None = None) -> None:
    """Calls ``act`` when the transaction of a cell is committed; at once outside of one."""
    where = cell or current()
    if connections[where].in_atomic_block:
        # What is committed stays, even if ``act`` fails.
        django_transaction.on_commit(act, using=where, robust=True)
    else:
        act()


class _Connection:
    """The connection of the current cell, looked up at every use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(connections[current()], name)


connection = cast(BaseDatabaseWrapper, _Connection())


def fetch(sql: str, params: Any = None, cell: str | None = None) -> list[Any]:
    """Returns the rows of a statement in this cell, else in the current one."""
    with connections[cell or current()].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def is_shared(model: type[Model]) -> bool:
    """Whether the model's rows are in SHARED, whatever the current cell."""
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
        """Allows all: a user in a cell refers to an app in SHARED. The guard refuses other cases."""
        return True

    def allow_migrate(self, database: str, app_label: str, **_hints: Any) -> bool:
        return database == SHARED or app_label in settings.CELL_APPS
