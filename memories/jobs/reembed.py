"""Another model or dimension for every vector, while the server goes on answering.

The new vectors are written beside the old ones, which the server keeps using until its
settings name the new space; then those are dropped. Nothing has to be stopped, and whatever
happened meanwhile is filled in by the workers (``sweeping.sweep``).
"""

from collections.abc import Callable, Iterable

from django.db.models import Exists, OuterRef, QuerySet

from accounts.cells import connection
from accounts.models import EndUser
from memories.models import Memory, Vector
from memories.pipeline.store_memories import embed_missing
from memories.providers.embeddings import Embedder
from memories.providers.factory import embedder as configured
from memories.search import vectors

DROPPED_AT_ONCE = 5000

Progress = Callable[[int], object]


class NotReady(Exception):
    """Memories have no vector in the space that would be kept."""


def missing(space: str, users: Iterable[int] | None = None) -> QuerySet[Memory]:
    """The memories without a vector in ``space``, of all users or of these."""
    held = Vector.objects.filter(end_user=OuterRef("end_user"), memory=OuterRef("pk"), space=space)
    rows = Memory.objects.filter(~Exists(held))
    return rows if users is None else rows.filter(end_user__in=list(users))


def reembed(
    embedder: Embedder, users: Iterable[int] | None = None, progress: Progress = lambda _n: None
) -> int:
    """Embeds what has no vector in the embedder's space; returns how many memories.

    ``progress`` is told of each chunk. May be stopped at any moment and started again: what is
    written stays, and only what is missing is embedded. Raises ProviderError.
    """
    space = embedder.space
    current = space == configured().space
    waiting = missing(space, users).order_by().values("end_user")
    return sum(
        embed_missing(end_user, embedder, current=current, progress=progress)
        for end_user in EndUser.objects.filter(pk__in=waiting).order_by("pk")
    )


def index() -> dict[str, int]:
    """Builds what is missing of the indexes over the vectors that the server asks."""
    return {"indexes": vectors.build_index(configured().space)}


def prune(embedder: Embedder, progress: Progress = lambda _n: None) -> tuple[int, list[str]]:
    """Drops the vectors of every other space, and their indexes; returns how many, and the spaces.
    Raises NotReady when memories would be left without any."""
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
