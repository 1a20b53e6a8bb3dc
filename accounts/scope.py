"""The only access to the rows of end users: whose rows the current work may see.

Every statement on a table of end users is sent with its scope, in the same round trip and for its own
transaction only, so that a pooler may give the connection to anybody after it. Without a scope it is
not sent; the policies (``accounts.row_security``) show it no other rows."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core.management.base import CommandError
from django.db.backends.base.base import BaseDatabaseWrapper

from accounts import cells, row_security

# Statements that read or write rows, or create a table for the role that does; the others (BEGIN,
# SET, CREATE INDEX) show no rows, and those on the schema are its owner's.
_ROWS = re.compile(
    r"[\s(]*(?:select|insert|update|delete|with|merge|explain|copy|do|create\s+temp)\b", re.I
)
_TEMPORARY = re.compile(r"\s*create\s+temp\b", re.I)
_SCHEMA = re.compile(r"\s*(?:create|alter|drop|analyze|truncate)\b", re.I)

# The settings that precede a statement.
SETTINGS = re.compile(r"\A(?:SET LOCAL [^;]*; )+")


class Unscoped(RuntimeError):
    """A statement on rows of end users, by work that did not say whose rows."""


class CrossesUsers(RuntimeError):
    """Work on one end user turned to another one."""


@dataclass(frozen=True)
class Scope:
    """``end_user`` is an id, ``visible`` what is visible besides: ``all``, or ``app:ID`` for which
    users an app has. ``lasting`` if the whole session has it."""

    end_user: str = ""
    visible: str = ""
    lasting: bool = False


_current: ContextVar[Scope | None] = ContextVar("scope", default=None)
_patience: ContextVar[str] = ContextVar("patience", default="")


_opened = partial(cells.value_within, _current)


@contextmanager
def user_scope(end_user: Any) -> Iterator[None]:
    """Lets the block see only the rows of one end user, in the cell that they were read from.
    Raises CrossesUsers, or CrossesCells inside a transaction of another cell."""
    pk = int(getattr(end_user, "pk", end_user))
    current = _current.get()
    if current is not None and current.end_user not in ("", str(pk)):
        raise CrossesUsers(f"The work is on end user {current.end_user}, not {pk}.")
    read_from = getattr(getattr(end_user, "_state", None), "db", None)
    cell = cells.entered(read_from) if read_from and cells.several() else nullcontext()
    with cell, _opened(Scope(end_user=str(pk))):
        yield


def app_scope(app_id: int) -> Any:
    """Lets the block see which end users an app has, and none of their rows."""
    return _opened(Scope(visible=f"app:{int(app_id)}"))


def all_users() -> Any:
    """Lets the block see the rows of all end users: for jobs, operators and commands."""
    return _opened(Scope(visible="all"))


def undeclared() -> Any:
    """Clears the scope within the block, as before any was declared."""
    return _opened(None)


def patient(seconds: float) -> Any:
    """Lets statements of the block wait for locks without limit, and run for ``seconds`` each."""
    limits = f"SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = {int(seconds * 1000)}; "
    return cells.value_within(_patience, limits)


@contextmanager
def all_users_of_session(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Lets a whole session see all end users, as the owner of the tables: for migrations. Raises
    CommandError behind a pooler, which may give each transaction another session."""
    connection.ensure_connection()
    raw = connection.connection
    (serving_pid,) = raw.execute("SELECT pg_backend_pid()").fetchone()
    # A pooler names itself as a client connects, since it can't know yet who will serve it.
    if serving_pid != raw.info.backend_pid:
        raise CommandError(
            f"The database {connection.alias!r} is reached through a pooler, and this needs a session "
            "of its own: run it with addresses of PostgreSQL itself in DATABASE_URL and MIO_CELLS."
        )
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE NONE; SET mio.scope = 'all'")
    try:
        with _opened(Scope(visible="all", lasting=True)):
            yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET mio.scope")


def _check_cell(alias: str, text: str) -> None:
    """Raises NoCell or CrossesCells for a statement that goes to another cell than the work's."""
    if not cells.several() or alias == (entered := cells.entered_cell()):
        return
    if not (table := row_security.tables_in().search(text)):
        return
    if entered is None:
        raise cells.NoCell(
            f"{table[0]} is in every cell: say in which, by `with user_scope(end_user):`, "
            "`with placement.entered(app, external_id):` or `with cells.entered(cell):`."
        )
    raise cells.CrossesCells(f"A statement on {table[0]} of {alias} by work in {entered}.")


def _settings(connection: BaseDatabaseWrapper, scope: Scope | None, text: str) -> str:
    """Returns the settings to send before a statement: the role and the scope. Raises Unscoped."""
    of_users = row_security.tables_in().search(text)
    if scope is None and of_users:
        raise Unscoped(
            f"{of_users[0]} holds rows of end users: say whose, by `with user_scope(end_user):`, "
            "or `with all_users():` for work that is rightly on all of them."
        )
    settings = (
        f"{_patience.get()}SET LOCAL mio.end_user = '{scope.end_user}'; "
        f"SET LOCAL mio.scope = '{scope.visible}'; "
        if scope
        else ""
    )
    role = row_security.login_of(connection).role
    if not role or not (scope or connection.in_atomic_block):
        return settings
    needed = of_users or _TEMPORARY.match(text)
    as_owner = scope is None or (scope.visible == "all" and not needed)
    return ("SET LOCAL ROLE NONE; " if as_owner else f'SET LOCAL ROLE "{role}"; ') + settings


def guard(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
    """Sends a statement with the current scope, as the role of scopes or the owner of the tables:
    an execute wrapper of every connection. Raises Unscoped, NoCell and CrossesCells."""
    cursor, connection = context["cursor"], context["connection"]
    text = sql if isinstance(sql, str) else sql.as_string(connection.connection)
    scope = _current.get()
    lasting = scope is not None and scope.lasting
    if lasting and not row_security.login_of(connection).apart:
        return execute(sql, params, many, context)
    if not lasting:
        _check_cell(connection.alias, text)
    if not _ROWS.match(text):
        if connection.in_atomic_block and _SCHEMA.match(text):
            connection.connection.execute("SET LOCAL ROLE NONE")
        return execute(sql, params, many, context)
    login, settings = row_security.login_of(connection), _settings(connection, scope, text)
    if not settings:
        return execute(sql, params, many, context)
    if login.apart or many or getattr(cursor, "name", None):  # these can't be sent with others
        raw = connection.connection
        transaction = raw.transaction() if raw.autocommit else nullcontext()
        with connection.wrap_database_errors, transaction:
            raw.execute(settings)
            return execute(sql, params, many, context)
    result = execute(settings + text, params, many, context)
    for _ in range(settings.count("; ")):
        cursor.cursor.nextset()
    return result
