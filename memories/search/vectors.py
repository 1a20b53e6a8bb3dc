"""The vectors of memories: in which space they are, who waits for one, and writing them.

A space is a model and its dimension (``multilingual-e5-small/384``): vectors of one space
are compared with each other and with nothing else. ``Memory.embedding_model`` names the space
in which the memory was embedded last, or nothing while it waits; the server answers in the
space of its settings, and what another space holds does not disturb it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction

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


def add(end_user_id: int, space: str, memories: Iterable[tuple[Memory, Sequence[float]]]) -> None:
    """Gives memories that were just stored their vectors. The caller holds the user's lock."""
    rows = list(memories)
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)
               SELECT %s, id, %s, status, embedding::halfvec
               FROM unnest(%s::uuid[], %s::text[], %s::text[]) new (id, status, embedding)
               ON CONFLICT DO NOTHING""",
            [
                end_user_id,
                space,
                [memory.pk for memory, _ in rows],
                [str(memory.status) for memory, _ in rows],
                [_text(vector) for _, vector in rows],
            ],
        )


def _text(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it, to twice the digits that a half has: writing all that a
    float has takes a fifth of the time of storing a memory."""
    return f"[{'%.6g,' * (len(vector) - 1)}%.6g]" % tuple(vector)


def put(end_user_id: int, space: str, embedded: Sequence[Embedded], *, current: bool) -> int:
    """Writes vectors made outside of any lock; returns how many memories still say what was
    embedded. With ``current`` they no longer wait."""
    with transaction.atomic():
        if EndUser.objects.lock(end_user_id) is None:
            return 0
        memories = (
            Memory.objects.of(end_user_id)
            .only("content", "status")
            .in_bulk([e.memory_id for e in embedded])
        )
        fitting = [
            (memories[e.memory_id], e.vector)
            for e in embedded
            if e.memory_id in memories and memories[e.memory_id].content == e.content
        ]
        add(end_user_id, space, fitting)
        if current:
            Memory.objects.of(end_user_id).filter(pk__in=[m.pk for m, _ in fitting]).update(
                embedding_model=space
            )
    return len(fitting)


def waiting_users(space: str) -> list[int]:
    """The end users of memories that were not embedded in ``space`` last: those without any
    vector first. Costs two short index ranges, however many memories there are."""
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
