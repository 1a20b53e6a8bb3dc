"""Support for a cell that Citus keeps at a worker (docs/citus.md). Tables are *shards* there, whose
names end in a number (a move keeps it). Triggers use these names: Citus plans only what clients
send."""

import re

from django.db import transaction  # noqa: TID251 of the connection that is given
from django.db.backends.base.base import BaseDatabaseWrapper

# The functions in the schema of this connection, except those of extensions.
_OWN = """
pronamespace = current_schema()::regnamespace AND prokind = 'f'
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid
                        AND deptype = 'e')
"""
# Names that triggers have to use: of tables (not of partitions), sequences and functions.
_NAMES = f"""
SELECT relname, quote_ident(current_schema()) || '.'
    || quote_ident(relname || coalesce('_' || shardid, ''))
FROM pg_class c LEFT JOIN pg_dist_shard ON logicalrelid = c.oid
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'S')
    AND NOT relispartition
UNION
SELECT proname, quote_ident(current_schema()) || '.' || quote_ident(proname) FROM pg_proc p
WHERE {_OWN}
"""  # noqa: S608 constants
# Citus reports a broken constraint of a shard as text, with the shard's number.
_BROKEN = re.compile(r'constraint "(\w+?)(?:_\d{5,})?"')
_FUNCTIONS = f"""
SELECT prosrc, pg_get_functiondef(oid) FROM pg_proc p WHERE {_OWN} ORDER BY oid
"""  # noqa: S608 constants


def bind_triggers(connection: BaseDatabaseWrapper) -> int:
    """Rewrites the functions of the cell so that they name its shards; returns how many changed."""
    count = 0
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        cursor.execute("SET LOCAL check_function_bodies = off")  # shards do not exist here
        cursor.execute(_NAMES)
        names = dict(cursor.fetchall())
        cursor.execute(_FUNCTIONS)
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
