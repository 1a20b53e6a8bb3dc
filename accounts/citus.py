"""A cell that Citus keeps at a worker (docs/citus.md). There tables lie as *shards*, under names that end
in a number, which triggers have to name: Citus plans what clients send alone. A move keeps numbers.
"""

import re

from django.db import transaction  # noqa: TID251 of the connection that is given
from django.db.backends.base.base import BaseDatabaseWrapper

# The functions of the schema of this connection, but those of extensions.
_OWN = """
pronamespace = current_schema()::regnamespace AND prokind = 'f'
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid
                        AND deptype = 'e')
"""
# Tables (of a partitioned one, itself), sequences and functions, as triggers are to name them.
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
# How Citus tells of a broken constraint of a shard: as text, with the shard's number.
_BROKEN = re.compile(r'constraint "(\w+?)(?:_\d{5,})?"')
_FUNCTIONS = f"""
SELECT prosrc, pg_get_functiondef(oid) FROM pg_proc p WHERE {_OWN} ORDER BY oid
"""  # noqa: S608 constants


def bind_triggers(connection: BaseDatabaseWrapper) -> int:
    """Rewrites the functions of the cell so that they name its shards; returns how many changed."""
    bound = 0
    with transaction.atomic(connection.alias), connection.cursor() as cursor:
        cursor.execute("SET LOCAL check_function_bodies = off")  # here are no shards
        cursor.execute(_NAMES)
        names = dict(cursor.fetchall())
        cursor.execute(_FUNCTIONS)
        for source, definition in cursor.fetchall():
            named = _named(source, names)
            if named != source:
                cursor.execute(definition.replace(source, named))
                bound += 1
    return bound


def broken_constraint(error: Exception) -> str:
    """The name of the constraint that a statement broke, as the models have it; else ""."""
    diagnostics = getattr(error.__cause__, "diag", None)
    if diagnostics is None or diagnostics.constraint_name:
        return diagnostics.constraint_name if diagnostics else ""
    match = _BROKEN.search(diagnostics.message_primary or "")
    return match[1] if match else ""


def _named(source: str, names: dict[str, str]) -> str:
    """A function's body with the ``names`` it should use, whichever it used before."""
    known = "|".join(sorted(names, key=len, reverse=True))
    pattern = rf"(?<![\w.\"])(?:\w+\.)?({known})(?:_\d{{5,}})?\b"
    return re.sub(pattern, lambda match: names[match[1]], source)
