"""The two indexes over the vectors of one space, when to ask which, and building them while
the table is in use.

Side by side: a user's vectors in one stretch of a B-tree, to be compared one by one. Without
it they lie where they came, each on another page among those of other users.

As a graph (HNSW): Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
Hierarchical Navigable Small World graphs", 2018. Putting a vector into a graph takes longer than
all else of storing a memory (1.5 ms), so only a partition with a user for whom it pays has one;
pgvector's iterative scan goes on along it until enough of the asking user's vectors are found.
"""

import hashlib
import re
from collections.abc import Callable

from accounts.cells import connection

# A row of a B-tree has at most 2,704 bytes; pgvector's graph over halfvec this many dimensions.
MOST_SIDE_BY_SIDE = 1280
MOST_IN_GRAPH = 4000
# Memory for building one partition's graph; 0.5 million vectors of 384 dimensions fit.
BUILD_MEMORY = "512MB"
TABLE = "memories_vector"

# How a graph is walked: so many candidates are kept that of the nearest 300 of 60,000 vectors
# 0.994 are found (0.967 with 400 candidates), and the walk goes on until enough are the asking
# user's own.
EF_SEARCH = 800
SETTINGS = f"""
SET LOCAL hnsw.iterative_scan = strict_order;
SET LOCAL hnsw.ef_search = {EF_SEARCH};
SET LOCAL hnsw.max_scan_tuples = 100000;
SET LOCAL enable_sort = off
"""
# A step along the graph costs as much as comparing so many vectors side by side. Measured at
# 60,000 vectors of 384 dimensions: 22 µs of the server's time against 0.32 µs (docs/benchmarks.md).
STEP = 70
# How many vectors the user's partition had when it was last analyzed, and what the user has.
_SIZES = """
SELECT c.reltuples, (
    SELECT sum(size) FROM memories_corpus WHERE end_user_id = %(end_user)s)::float8
FROM (SELECT tableoid FROM memories_vector WHERE end_user_id = %(end_user)s LIMIT 1) mine
JOIN pg_class c ON c.oid = mine.tableoid
WHERE EXISTS (
    SELECT FROM pg_inherits a JOIN pg_index i ON i.indexrelid = a.inhrelid
    WHERE a.inhparent = to_regclass(%(index)s) AND i.indrelid = c.oid AND i.indisvalid)
"""


def pay(end_user_id: int, space: str, limit: int, size: float | None = None) -> bool:
    """Whether a user's nearest ``limit`` vectors are likely found sooner along the graph than
    by looking at each. A known ``size`` of all that is the user's spares the statement for
    most users."""
    if size is not None and not _is_sooner(size, 1.0, limit):
        return False
    with connection.cursor() as cursor:
        cursor.execute(_SIZES, {"end_user": end_user_id, "index": name_of(space)})
        rows, mine = cursor.fetchone() or (0, 0)
    return bool(mine) and rows > 0 and _is_sooner(mine, min(1.0, mine / rows), limit)


def _is_sooner(vectors: float, share: float, limit: int) -> bool:
    return vectors > STEP * max(EF_SEARCH, limit / share)


def _large_partitions() -> list[str]:
    """The partitions in which some user has so many memories that a graph may pay. Citus tells of
    their shards, which have a number more."""
    found = _column(
        """SELECT DISTINCT mine.tableoid::regclass::text
           FROM (SELECT end_user_id FROM memories_corpus
                 GROUP BY 1 HAVING sum(size) > %s) large
           CROSS JOIN LATERAL (SELECT tableoid FROM memories_vector v
                               WHERE v.end_user_id = large.end_user_id LIMIT 1) mine""",
        STEP * EF_SEARCH,
    )
    return sorted({re.sub(r"^\w+\.|_\d{5,}$", "", name) for name in found})


def name_of(space: str) -> str:
    """The name of the graph of a space; those of its partitions have a number after it."""
    plain = re.sub(r"[^a-z0-9]+", "_", space.lower()).strip("_")
    if len(plain) > 30:
        plain = f"{plain[:21]}_{hashlib.sha256(space.encode()).hexdigest()[:8]}"
    return f"{TABLE}_{plain}"


def dimensions_of(space: str) -> int:
    return int(space.rpartition("/")[2])


def _indexes(space: str) -> dict[str, str]:
    """The indexes that a space may have, by name: side by side, and as a graph."""
    size, found = dimensions_of(space), {}
    if size <= MOST_SIDE_BY_SIDE:
        found[name_of(space) + "_scan"] = "(end_user_id, memory_id) INCLUDE (status, embedding)"
    if size <= MOST_IN_GRAPH:
        found[name_of(space)] = f"USING hnsw ((embedding::halfvec({size})) halfvec_cosine_ops)"
    return found


def build(space: str, progress: Callable[[int], object] = lambda _n: None) -> int:
    """Builds the indexes of a space, one partition after the other, without locking any, and
    graphs only where they pay; returns how many were missing. May be stopped and started again."""
    built = 0
    where = "WHERE space = '{}'".format(space.replace("'", "''"))
    with connection.cursor() as cursor:
        cursor.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
        for name, definition in _indexes(space).items():
            graph = definition.startswith("USING hnsw")
            partitions = _large_partitions() if graph else _partitions()
            if not partitions:
                continue
            cursor.execute(
                f"CREATE INDEX IF NOT EXISTS {name} ON ONLY {TABLE} {definition} {where}"
            )
            for partition in partitions:
                child = f"{name}_{partition.rpartition('_')[2]}"
                if _covers(name, partition):
                    continue
                if _is_left_half_built(child):
                    cursor.execute(f"DROP INDEX CONCURRENTLY {child}")
                cursor.execute(
                    f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {child} "
                    f"ON {partition} {definition} {where}"
                )
                cursor.execute(f"ALTER INDEX {name} ATTACH PARTITION {child}")
                built += 1
                progress(1)
        cursor.execute("RESET maintenance_work_mem")
    return built


def _partitions() -> list[str]:
    return _column(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass "
        "ORDER BY inhrelid",
        TABLE,
    )


def _covers(index: str, partition: str) -> bool:
    return bool(
        _column(
            "SELECT 1 FROM pg_inherits a JOIN pg_index i ON i.indexrelid = a.inhrelid "
            "WHERE a.inhparent = to_regclass(%s) AND i.indrelid = %s::regclass",
            index,
            partition,
        )
    )


def _is_left_half_built(index: str) -> bool:
    return bool(
        _column(
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid", index
        )
    )


def drop_others(space: str) -> None:
    """Drops the indexes of all other spaces."""
    indexes = _column(
        "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "WHERE i.indrelid = %s::regclass AND NOT i.indisprimary",
        TABLE,
    )
    with connection.cursor() as cursor:
        for index in set(indexes) - {name_of(space), name_of(space) + "_scan"}:
            cursor.execute(f"DROP INDEX {index}")


def _column(sql: str, *params: str | int) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [value for (value,) in cursor.fetchall()]
