"""Search in a table of a million memories: how long it takes, and what the index misses.

Random words and vectors of :mod:`tools.bench.synthetic`; the query's embedding is not counted.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pgvector import HalfVector

from accounts.cells import connection
from accounts.models import App, EndUser
from memories.models import Memory
from memories.providers.factory import embedder
from memories.search import ann, dense, recall, vectors
from memories.search.recall import SearchRequest
from tools.bench.measure import percentiles, timed
from tools.bench.synthetic import Source, fill

SIZES = (50, 1800, 10_000)
# Large enough for the graph: one of them is most of its partition.
GIANT = 100_000
OTHERS_HAVE = 500
QUERY_WORDS = 5
ROUNDS = 60
DEPTHS = (10, 100, 300)


def run(app: App, rows: int, *, progress: bool) -> dict[str, Any]:
    """``rows`` memories altogether, the users' in random order. ``search`` by the user's
    number of memories, in milliseconds; ``graph``: its recall against the exact order, and
    both ways' times for the largest user."""
    sizes = _users(app, rows)
    space, dimensions = vectors.space(embedder()), embedder().dimensions
    ann.drop_others("")
    started = time.perf_counter()
    fill(sizes, space, dimensions, progress=progress)
    filled = time.perf_counter()
    ann.build(space)
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
        "graph": _graph(by_size[max(by_size)], space, asked),
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


def _graph(user: EndUser, space: str, asked: list[list[float]]) -> dict[str, Any]:
    """Both ways to the same neighbours of the largest user."""
    params = [
        {
            "vector_0": HalfVector(vector).to_text(),
            "end_user": user.pk,
            "space": space,
            "limit": max(DEPTHS),
            "statuses": [Memory.Status.ACTIVE.value],
        }
        for vector in asked
    ]
    exact = [dense.one_by_one(one, 1)[0].ranked[0] for one in params]
    along = [list(dense.along_graph(one, 1)[0]) for one in params]
    return {
        "memories": len(exact[0]) and Memory.objects.of(user).count(),
        "chosen": ann.pay(user.pk, space, max(DEPTHS)),
        "exact": _percentiles([partial(dense.one_by_one, one, 1) for one in params]),
        "along_graph": _percentiles([partial(dense.along_graph, one, 1) for one in params]),
        **{f"recall@{depth}": _recall(along, exact, depth) for depth in DEPTHS},
    }


def _recall(along: Sequence[Sequence[Any]], exact: Sequence[Sequence[Any]], depth: int) -> float:
    """The mean share of the first of the exact order that the graph finds."""
    shares = [
        len(set(a[:depth]) & set(e[:depth])) / depth for a, e in zip(along, exact, strict=True)
    ]
    return round(statistics.mean(shares), 4)


def _megabytes() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT part, sum(bytes)::bigint / 1000000 FROM (
                   SELECT CASE WHEN a.amname = 'hnsw' THEN 'graph'
                               WHEN t.relname LIKE 'memories_vector%%' THEN 'vectors'
                               WHEN t.relname = 'memories_posting' THEN 'postings'
                               ELSE 'memories' END AS part,
                          pg_relation_size(c.oid) AS bytes
                   FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
                   JOIN pg_class t ON t.oid = COALESCE(i.indrelid, c.oid)
                   LEFT JOIN pg_am a ON a.oid = c.relam
                   WHERE t.relname ~ '^memories_(vector|posting|memory)' AND c.relkind IN ('r', 'i')
               ) parts GROUP BY part ORDER BY part"""
        )
        return dict(cursor.fetchall())
