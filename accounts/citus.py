"""Support for a cell that Citus keeps at a worker (docs/citus.md). Tables are *shards* there, whose
names end in a number (a move keeps it). Triggers use these names: Citus plans only what clients
send."""

import re

from django.db import transaction  # noqa: TID251 of the connection that is given
from django.db.backends.base.base import BaseDatabaseWrapper

from accounts.sql_files import sql_pieces

_SQL = sql_pieces(__file__)

# Citus reports a broken constraint of a shard as text, with the shard's number.
_BROKEN = re.compile(r'constraint "(\w+?)(?:_\d{5,})?"')


def bind_triggers(connection: BaseDatabaseWrapper) -> int:
    """Rewrites the functions of the cell so that they name its shards; returns how many changed."""
    count = 0
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        cursor.execute("SET LOCAL check_function_bodies = off")  # shards do not exist here
        cursor.execute(_SQL["names"])
        names = dict(cursor.fetchall())
        cursor.execute(_SQL["functions"])
        for source, definition in cursor.fetchall():
            renamed = _with_names(source, names)
            if renamed != source:
                cursor.execute(definition.replace(source, renamed))
                count += 1
    return count


def broken_constraint(error: Exception) -> str:
    """Returns the name of the constraint that a statement broke, as in the models; else ""."""
    diagnostics = getattr(error.__cause__, "diag", None)
    if diagnostics is None or diagnostics.constraint_name:
        return diagnostics.constraint_name if diagnostics else ""
    match = _BROKEN.search(diagnostics.message_primary or "")
    return match[1] if match else ""


def _with_names(source: str, names: dict[str, str]) -> str:
    """Returns a function's body with these ``names``, whichever it used before."""
    known = "|".join(sorted(names, key=len, reverse=True))
    pattern = rf"(?<![\w.\"])(?:\w+\.)?({known})(?:_\d{{5,}})?\b"
    return re.sub(pattern, lambda match: names[match[1]], source)
