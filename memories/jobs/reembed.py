"""Computes all vectors with another model or dimension while the server keeps answering.

The new vectors are written beside the old ones, which the server uses until its settings name the
new space; then the old ones are deleted. Nothing has to be stopped, and the workers embed what
changed meanwhile (``sweep.sweep``)."""

from collections.abc import Callable, Iterable

from django.db.models import Exists, OuterRef, QuerySet

from accounts.cells import connection
from accounts.models import EndUser
from memories.models import Memory, Vector
from memories.pipeline.store_memories import embed_missing
from memories.providers.embeddings import Embedder
from memories.providers.factory import embedder as configured_embedder
from memories.search import vectors

DROPPED_AT_ONCE = 5000

Progress = Callable[[int], object]


class NotReady(Exception):
    """Memories would be left without a vector, as they have none in the space to keep."""


def missing(space: str, users: Iterable[int] | None = None) -> QuerySet[Memory]:
    """Returns the memories without a vector in ``space``, of all users or of these."""
    vector = Vector.objects.filter(
        end_user=OuterRef("end_user"), memory=OuterRef("pk"), space=space
    )
    rows = Memory.objects.filter(~Exists(vector))
    return rows if users is None else rows.filter(end_user__in=list(users))


def reembed(
    embedder: Embedder, users: Iterable[int] | None = None, progress: Progress = lambda _n: None
) -> int:
    """Embeds the memories that have no vector in the embedder's space; returns how many.

    ``progress`` is called with the size of each chunk. May be stopped at any moment and started
    again: written vectors stay, and only missing ones are computed. Raises ProviderError."""
    space = embedder.space
    current = space == configured_embedder().space
    waiting = missing(space, users).order_by().values("end_user")
    return sum(
        embed_missing(end_user, embedder, current=current, progress=progress)
        for end_user in EndUser.objects.filter(pk__in=waiting).order_by("pk")
    )


def index() -> dict[str, int]:
    """Builds the missing indexes of the vectors that the server uses; returns how many."""
    return {"indexes": vectors.build_index(configured_embedder().space)}


def prune(embedder: Embedder, progress: Progress = lambda _n: None) -> tuple[int, list[str]]:
    """Deletes the vectors of every other space and their indexes; returns how many vectors, and the
    spaces. Raises NotReady if a memory has no vector in the embedder's space."""
    space = embedder.space
    if left := missing(space).count():
        raise NotReady(f"{left} memories have no vector in {space}; run reembed first.")
    vectors.drop_other_indexes(space)
    rows = Vector.objects.exclude(space=space).order_by("space")
    others = list(rows.values_list("space", flat=True).distinct())
    dropped = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(
                """DELETE FROM memories_vector WHERE (end_user_id, memory_id, space) IN (
                       SELECT end_user_id, memory_id, space FROM memories_vector
                       WHERE space <> %s LIMIT %s)""",
                [space, DROPPED_AT_ONCE],
            )
            if not cursor.rowcount:
                return dropped, others
            dropped += cursor.rowcount
            progress(cursor.rowcount)
