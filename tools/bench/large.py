"""Search in a table of a million memories: how long it takes.

Random words and vectors of :mod:`tools.bench.synthetic`; the query's embedding is not counted.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from accounts.cells import connection
from accounts.models import App, EndUser
from memories.models import Memory
from memories.providers.factory import embedder
from memories.search import recall, vectors
from memories.search.recall import SearchRequest
from tools.bench.measure import percentiles, timed
from tools.bench.synthetic import Source, fill

SIZES = (50, 1800, 10_000)
GIANT = 100_000
OTHERS_HAVE = 500
QUERY_WORDS = 5
ROUNDS = 60


def run(app: App, rows: int, *, progress: bool) -> dict[str, Any]:
    """``rows`` memories altogether, the users' in random order. ``search`` by the user's
    number of memories, in milliseconds."""
    sizes = _users(app, rows)
    space, dimensions = embedder().space, embedder().dimensions
    vectors.drop_other_indexes("")
    started = time.perf_counter()
    fill(sizes, space, dimensions, progress=progress)
    filled = time.perf_counter()
    vectors.build_index(space)
    built = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    source = Source(dimensions, seed=2)
    queries = [" ".join(words) for words in source.words(ROUNDS, QUERY_WORDS)]
    asked = source.vectors(ROUNDS).tolist()
    by_size = {size: user for user, size in sizes.items() if size != OTHERS_HAVE}
    return {
        "rows": Memory.objects.count(),
        "fill_s": round(filled - started, 1),
        "index_s": round(built - filled, 1),
        "size_mb": _megabytes(),
        "search": {
            str(size): _percentiles(
                [
                    partial(
                        recall.search,
                        user,
                        SearchRequest(query),
                        embedder=embedder(),
                        vector=vector,
                    )
                    for query, vector in zip(queries, asked, strict=True)
                ]
            )
            for size, user in by_size.items()
        },
    }


def _users(app: App, rows: int) -> dict[EndUser, int]:
    wanted = [size for size in (*SIZES, GIANT) if size <= rows // 5]
    others = (rows - sum(wanted)) // OTHERS_HAVE
    counts = [*wanted, *[OTHERS_HAVE] * others]
    users = EndUser.objects.bulk_create(
        [EndUser(app=app, external_id=f"large {n}", language="en") for n in range(len(counts))]
    )
    return dict(zip(users, counts, strict=True))


def _percentiles(calls: Sequence[Callable[[], object]]) -> dict[str, float]:
    """Those of the calls after a first one that warms up."""
    calls[0]()
    return percentiles(timed(calls))


def _megabytes() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT part, sum(bytes)::bigint / 1000000 FROM (
                   SELECT CASE WHEN t.relname LIKE 'memories_vector%%' THEN 'vectors'
                               WHEN t.relname = 'memories_posting' THEN 'postings'
                               ELSE 'memories' END AS part,
                          pg_relation_size(c.oid) AS bytes
                   FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
                   JOIN pg_class t ON t.oid = COALESCE(i.indrelid, c.oid)
                   WHERE t.relname ~ '^memories_(vector|posting|memory)' AND c.relkind IN ('r', 'i')
               ) parts GROUP BY part ORDER BY part"""
        )
        return dict(cursor.fetchall())
