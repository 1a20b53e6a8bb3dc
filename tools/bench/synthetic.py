"""A large table of memories, made fast: words by Zipf's law, vectors with structure, and the
users' rows mixed as real use mixes them.

The vectors lie near a space of far fewer dimensions than they have, as those of sentences
do; uniform noise would have no neighbours to speak of, and no index finds neighbours in it.
"""

import uuid
from collections.abc import Mapping
from datetime import timedelta

import numpy as np
from django.utils import timezone
from tqdm import tqdm

from accounts.cells import connection
from accounts.models import EndUser
from memories.models import Memory
from memories.models.memory import content_hash

CHUNK = 20_000
VOCABULARY = 20_000
WORDS = 12
# Zipf and Mandelbrot's law: the commonest word that is no stop word stands in an eighth of
# all memories.
SHIFT = 10
# Dimensions in which sentences differ, and how far they lie outside of them.
LATENT, OUTSIDE = 48, 0.3


class Source:
    """Random memories, the same for the same seed."""

    def __init__(self, dimensions: int, seed: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        # The directions are those of the "language", whatever the seed.
        self._directions = np.random.default_rng(0).normal(size=(LATENT, dimensions))
        odds = 1 / (np.arange(VOCABULARY) + 1 + SHIFT)
        self._cumulated = np.cumsum(odds / odds.sum())

    def words(self, count: int, length: int = WORDS) -> list[list[str]]:
        drawn = np.searchsorted(self._cumulated, self._random.random((count, length)))
        return [[f"w{word}" for word in row] for row in drawn.tolist()]

    def vectors(self, count: int) -> np.ndarray:
        """Vectors of length 1, one a row."""
        dimensions = self._directions.shape[1]
        # Latent directions count less and less, as principal components do.
        strength = 1 / np.sqrt(1 + np.arange(LATENT) / 8)
        latent = (self._random.normal(size=(count, LATENT)) * strength) @ self._directions
        latent /= np.linalg.norm(latent, axis=1, keepdims=True)
        noise = self._random.normal(size=(count, dimensions)) / np.sqrt(dimensions)
        made = latent + OUTSIDE * noise
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def mixed(self, sizes: Mapping[int, int]) -> np.ndarray:
        """Each user's id as often as it has memories, in random order."""
        return self._random.permutation(np.repeat(list(sizes), list(sizes.values())))


def fill(
    sizes: Mapping[EndUser, int], space: str, dimensions: int, *, seed: int = 1, progress: bool
) -> None:
    """Gives each end user so many memories with words and vectors."""
    users = {user.pk: user for user in sizes}
    source = Source(dimensions, seed)
    owners = source.mixed({user.pk: size for user, size in sizes.items()})
    template = Memory.objects.create(
        end_user=next(iter(users.values())),
        content="template",
        content_hash=content_hash("template"),
        type="personal",
        subtype="friend",
    )
    starts = range(0, len(owners), CHUNK)
    for start in tqdm(starts, desc="memories", disable=not progress):
        mine = owners[start : start + CHUNK]
        ids = [uuid.uuid4() for _ in mine]
        _vectors(ids, source.vectors(len(mine)))
        _memories(template, space, ids, mine.tolist(), source.words(len(mine)), start)
    template.delete()


def _memories(
    template: Memory,
    space: str,
    ids: list[uuid.UUID],
    owners: list[int],
    words: list[list[str]],
    start: int,
) -> None:
    """The rows are as the template but for what makes a memory its own."""
    own = ("id", "end_user_id", "content", "content_hash", "tokens", "said_at")
    columns = [str(field.column) for field in Memory._meta.concrete_fields]
    taken = [f"staged.{name}" if name in own else f"template.{name}" for name in columns]
    taken[columns.index("embedding")] = "embedded.embedding::vector"
    taken[columns.index("embedding_model")] = "%s"
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""CREATE TEMP TABLE staged AS
                SELECT {", ".join(own)} FROM memories_memory WITH NO DATA"""  # noqa: S608
        )
        with cursor.copy("COPY staged FROM STDIN") as copy:
            for place, (pk, owner, tokens) in enumerate(zip(ids, owners, words, strict=True)):
                content = " ".join(tokens)
                said_at = now - timedelta(minutes=start + place)
                copy.write_row((pk, owner, content, f"{start + place:064}", tokens, said_at))
        cursor.execute(
            f"""INSERT INTO memories_memory ({", ".join(columns)}) SELECT {", ".join(taken)}
                FROM staged JOIN embedded USING (id), memories_memory template
                WHERE template.id = %s""",  # noqa: S608
            [space, template.pk],
        )
        cursor.execute("DROP TABLE staged, embedded")


def _vectors(ids: list[uuid.UUID], vectors: np.ndarray) -> None:
    """PostgreSQL's binary COPY: its rows are all of one size, so numpy lays them out."""
    dimensions = vectors.shape[1]
    fields = [
        ("fields", ">i2"), ("id_size", ">i4"), ("id", "V16"), ("vector_size", ">i4"),
        ("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", (dimensions,)),
    ]  # fmt: skip
    rows = np.zeros(len(ids), dtype=fields)
    rows["fields"], rows["id_size"] = 2, 16
    rows["id"] = np.array([pk.bytes for pk in ids], dtype="V16")
    rows["vector_size"], rows["dimensions"] = 4 + 2 * dimensions, dimensions
    rows["vector"] = vectors
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE embedded (id uuid, embedding halfvec)")
        with cursor.copy("COPY embedded FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            copy.write(rows.tobytes())
            copy.write(b"\xff\xff")
