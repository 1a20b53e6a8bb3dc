"""The database that the work of now is in: the one door to connections and transactions.

A cell is a connection to a database that holds the whole of Mio for some of the end users. There is
one, ``default``, unless ``MIO_CELLS`` names more. Nothing else asks Django for a connection or
a transaction, which would be those of ``default`` wherever the work is; ruff sees to it (TID251).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db import transaction as django_transaction  # noqa: TID251 this is the door
from django.db.backends.base.base import BaseDatabaseWrapper

_current: ContextVar[str] = ContextVar("cell", default=DEFAULT_DB_ALIAS)


class CrossesCells(RuntimeError):
    """Work in a transaction of one cell that turned to another one, which could not commit with it."""


def current() -> str:
    """The alias of the connection that the work of now uses."""
    return _current.get()


@contextmanager
def entered(cell: str) -> Iterator[None]:
    """What runs in it is in this cell.

    Raises CrossesCells within a transaction of another one.
    """
    before = _current.get()
    if cell != before and connections[before].in_atomic_block:
        raise CrossesCells(f"A transaction of the cell {before} is open; the work is in {cell}.")
    _current.set(cell)
    try:
        yield
    finally:
        # Not by a token: a request may begin and end in different threads.
        _current.set(before)


@contextmanager
def atomic(*, savepoint: bool = True, durable: bool = False) -> Iterator[None]:
    """A transaction (inside of one, a savepoint) of the current cell; as a decorator, `@atomic()`."""
    with django_transaction.atomic(_current.get(), savepoint, durable):
        yield


class _Connection:
    """The connection of the current cell, asked for anew at every use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(connections[_current.get()], name)


connection = cast(BaseDatabaseWrapper, _Connection())
