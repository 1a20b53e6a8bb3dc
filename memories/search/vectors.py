"""The vectors of memories: in which space they are, who waits for one, and writing them.

A space is a model and its dimension (``multilingual-e5-small/384``): vectors of one space
are compared with each other and with nothing else. ``Memory.embedding_model`` names the space
in which the memory was embedded last, or nothing while it waits; the server answers in the
space of its settings, and what another space holds does not disturb it.
"""

from collections.abc import Sequence
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
