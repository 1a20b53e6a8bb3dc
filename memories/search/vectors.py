"""The vectors of memories: in which space they are, who waits for one, writing them, and the index
that has those of a user side by side.

A space is a model and its dimension (``multilingual-e5-small/384``): vectors of one space
are compared with each other and with nothing else. ``Memory.embedding_model`` names the space
in which the memory was embedded last, or nothing while it waits; the server answers in the
space of its settings, and what another space holds does not disturb it.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.cells import atomic, connection
from accounts.models import EndUser
from memories.models import Memory, Vector
from memories.providers.embeddings import Embedder

# Memories looked at for users that wait: bounds a sweep while a whole table is re-embedded.
LOOKED_AT = 10_000


@dataclass(frozen=True, slots=True)
class Embedded:
    """What was embedded, so that a memory which says something else by now is left out."""

    memory_id: UUID
    content: str
    vector: Sequence[float]


def space(embedder: Embedder) -> str:
    """The space of an embedder's vectors."""
    return f"{embedder.model}/{embedder.dimensions}"


# The index follows what the memories say; what is only prepared, it alone has.
_CURRENT = """
UPDATE memories_memory m SET embedding = new.embedding::vector, embedding_model = %(space)s
FROM unnest(%(ids)s::uuid[], %(vectors)s::text[]) new (id, embedding) WHERE m.id = new.id
"""
# Found first, then inserted: Citus sends a plain INSERT … SELECT on a cell's own rows in a form that
# is none, where row-level security adds its condition.
_PREPARED = """
WITH found AS MATERIALIZED (
    SELECT m.end_user_id, m.id, m.status, new.embedding::halfvec
    FROM unnest(%(ids)s::uuid[], %(vectors)s::text[]) new (id, embedding)
    JOIN memories_memory m ON m.id = new.id)
INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)
SELECT end_user_id, id, %(space)s, status, embedding FROM found ON CONFLICT DO NOTHING
"""
_TAKEN = """
UPDATE memories_memory m SET embedding = v.embedding::vector, embedding_model = v.space
FROM memories_vector v WHERE m.id = ANY(%(ids)s) AND v.end_user_id = m.end_user_id
    AND v.memory_id = m.id AND v.space = %(space)s AND m.embedding_model <> v.space
"""


def put(end_user_id: int, space: str, embedded: Sequence[Embedded], *, current: bool) -> int:
    """Writes vectors made outside of any lock; returns how many memories still say what was
    embedded. With ``current`` they no longer wait."""
    with atomic():
        if EndUser.objects.lock(end_user_id) is None:
            return 0
        rows = Memory.objects.of(end_user_id).filter(pk__in=[e.memory_id for e in embedded])
        said = dict(rows.values_list("pk", "content"))
        fitting = [e for e in embedded if said.get(e.memory_id) == e.content]
        text = Memory._meta.get_field("embedding").get_prep_value
        with connection.cursor() as cursor:
            cursor.execute(
                _CURRENT if current else _PREPARED,
                {
                    "space": space,
                    "ids": [e.memory_id for e in fitting],
                    "vectors": [text(e.vector) for e in fitting],
                },
            )
    return len(fitting)


def take_prepared(end_user_id: int, space: str, memory_ids: Sequence[UUID]) -> int:
    """Makes the vectors that these memories have in ``space`` their embeddings; returns how many
    had one."""
    with atomic(), connection.cursor() as cursor:
        EndUser.objects.lock(end_user_id)
        cursor.execute(_TAKEN, {"space": space, "ids": list(memory_ids)})
        return cursor.rowcount


def waiting_users(space: str) -> list[int]:
    """The end users of memories that were not embedded in ``space`` last: those without any vector
    first. Costs two short index ranges, however many there are."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT end_user_id FROM (
                   (SELECT end_user_id, embedding_model FROM memories_memory
                    WHERE embedding_model < %(space)s ORDER BY embedding_model LIMIT %(limit)s)
                   UNION ALL
                   (SELECT end_user_id, embedding_model FROM memories_memory
                    WHERE embedding_model > %(space)s ORDER BY embedding_model LIMIT %(limit)s)
               ) waiting GROUP BY end_user_id ORDER BY min(embedding_model), end_user_id""",
            {"space": space, "limit": LOOKED_AT},
        )
        return [end_user_id for (end_user_id,) in cursor.fetchall()]


def spaces() -> set[str]:
    """The spaces in which any memory has a vector. Reads the whole table."""
    return set(Vector.objects.order_by().values_list("space", flat=True).distinct())


TABLE = "memories_vector"
# A row of a B-tree has at most 2,704 bytes.
MOST_DIMENSIONS = 1280


def index_of(space: str) -> str:
    """The name of the index of a space; those of its partitions have a number after it."""
    plain = re.sub(r"[^a-z0-9]+", "_", space.lower()).strip("_")
    if len(plain) > 30:
        plain = f"{plain[:21]}_{hashlib.sha256(space.encode()).hexdigest()[:8]}"
    return f"{TABLE}_{plain}_scan"


def build_index(space: str, progress: Callable[[int], object] = lambda _n: None) -> int:
    """Builds the index of a space, one partition after the other, without locking any; returns how
    many were missing. May be stopped and started again. Longer vectors than fit have none.

    Without it a user's vectors lie where they came, each on another page among those of others:
    to compare 10,000 takes eleven times as long.
    """
    if int(space.rpartition("/")[2]) > MOST_DIMENSIONS:
        return 0
    name, built = index_of(space), 0
    definition = "(end_user_id, memory_id) INCLUDE (status, embedding) WHERE space = '{}'".format(
        space.replace("'", "''")
    )
    partitions = _column(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass "
        "ORDER BY inhrelid",
        TABLE,
    )
    covered = _column(
        "SELECT i.indrelid::regclass::text FROM pg_inherits a "
        "JOIN pg_index i ON i.indexrelid = a.inhrelid WHERE a.inhparent = to_regclass(%s)",
        name,
    )
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {name} ON ONLY {TABLE} {definition}")
        for partition in partitions:
            if partition in covered:
                continue
            child = f"{name}_{partition.rpartition('_')[2]}"
            if _column(
                "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid",
                child,
            ):  # left half built
                cursor.execute(f"DROP INDEX CONCURRENTLY {child}")
            cursor.execute(
                f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {child} ON {partition} {definition}"
            )
            cursor.execute(f"ALTER INDEX {name} ATTACH PARTITION {child}")
            built += 1
            progress(1)
    return built


def drop_other_indexes(space: str) -> None:
    """Drops the indexes of all other spaces, and what earlier versions built."""
    indexes = _column(
        "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "WHERE i.indrelid = %s::regclass AND NOT i.indisprimary",
        TABLE,
    )
    with connection.cursor() as cursor:
        for index in set(indexes) - {index_of(space)}:
            cursor.execute(f"DROP INDEX {index}")


def _column(sql: str, *params: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [value for (value,) in cursor.fetchall()]
