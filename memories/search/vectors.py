"""Vectors of memories: which memories wait for one, storing them, and the index that keeps the
vectors of a user together.

A space is a model and its dimension (``multilingual-e5-small/384``): only vectors of one space are
compared with each other. ``Memory.embedding_model`` names the space of the memory's last embedding,
or is empty while it waits. The server answers in the space of its settings; vectors of another
space do not affect it.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from accounts.cells import atomic, connection, fetch
from accounts.models import EndUser
from accounts.sql_files import sql_pieces
from memories.models import Memory

# Memories read to find waiting users: bounds a sweep while a whole table is re-embedded.
LOOKED_AT = 10_000
TABLE = "memories_vector"
# A row of a B-tree has at most 2,704 bytes.
MOST_DIMENSIONS = 1280
_SQL = sql_pieces(__file__)


def put(
    end_user_id: int,
    space: str,
    embedded: Iterable[tuple[UUID, str, Sequence[float]]],
    *,
    current: bool,
) -> int:
    """Stores vectors made outside of any lock, each with its memory and the content that was
    embedded; returns how many memories still have that content. With ``current`` they no longer
    wait."""
    vectors = {(pk, content): vector for pk, content, vector in embedded}
    with atomic():
        if EndUser.objects.lock(end_user_id) is None:
            return 0
        rows = Memory.objects.of(end_user_id).filter(pk__in=[pk for pk, _content in vectors])
        fitting = [row for row in rows.values_list("pk", "content") if row in vectors]
        text = Memory._meta.get_field("embedding").get_prep_value
        params: dict[str, Any] = {
            "space": space,
            "ids": [pk for pk, _content in fitting],
            "vectors": [text(vectors[row]) for row in fitting],
        }
        with connection.cursor() as cursor:
            cursor.execute(_SQL["current" if current else "prepared"], params)
    return len(fitting)


def take_prepared(end_user_id: int, space: str, memory_ids: Sequence[UUID]) -> int:
    """Makes the vectors that these memories have in ``space`` their embeddings; returns how many
    had one."""
    with atomic(), connection.cursor() as cursor:
        EndUser.objects.lock(end_user_id)
        cursor.execute(_SQL["taken"], {"space": space, "ids": list(memory_ids)})
        return cursor.rowcount


def waiting_users(space: str) -> list[int]:
    """Returns the end users of memories whose last embedding is not in ``space``, those without any
    vector first. Costs two short index ranges, however many there are."""
    rows = fetch(_SQL["waiting"], {"space": space, "limit": LOOKED_AT})
    return [end_user_id for (end_user_id,) in rows]


def index_of(space: str) -> str:
    """Returns the name of the index of a space; those of its partitions have a number after it."""
    plain = re.sub(r"[^a-z0-9]+", "_", space.lower()).strip("_")
    if len(plain) > 30:
        plain = f"{plain[:21]}_{hashlib.sha256(space.encode()).hexdigest()[:8]}"
    return f"{TABLE}_{plain}_scan"


def build_index(space: str, progress: Callable[[int], object] = lambda _n: None) -> int:
    """Builds the index of a space, one partition after another, without locking any; returns how
    many were missing. May be stopped and started again. None is built for vectors that are too
    long. Without it a user's vectors are where they were inserted, each on another page among those
    of others: to compare 10,000 takes eleven times as long."""
    if int(space.rpartition("/")[2]) > MOST_DIMENSIONS:
        return 0
    name, built = index_of(space), 0
    definition = "(end_user_id, memory_id) INCLUDE (status, embedding) WHERE space = '{}'".format(
        space.replace("'", "''")
    )
    partitions, covered = _column("partitions", TABLE), _column("covered", name)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {name} ON ONLY {TABLE} {definition}")
        for partition in partitions:
            if partition in covered:
                continue
            child = f"{name}_{partition.rpartition('_')[2]}"
            if _column("half_built", child):
                cursor.execute(f"DROP INDEX CONCURRENTLY {child}")
            cursor.execute(
                f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {child} ON {partition} {definition}"
            )
            cursor.execute(f"ALTER INDEX {name} ATTACH PARTITION {child}")
            built += 1
            progress(1)
    return built


def drop_other_indexes(space: str) -> None:
    """Drops the indexes of all other spaces, and those that earlier versions built."""
    indexes = _column("indexes", TABLE)
    with connection.cursor() as cursor:
        for index in set(indexes) - {index_of(space)}:
            cursor.execute(f"DROP INDEX {index}")


def _column(name: str, *params: str) -> list[str]:
    return [value for (value,) in fetch(_SQL[name], params)]
