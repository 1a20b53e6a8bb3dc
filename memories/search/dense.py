"""Meaning search: cosine over the vectors of one end user's memories."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

from pgvector import HalfVector

from accounts.cells import fetch
from memories.search.sql import Scope, indexed

_ARM = """(
    SELECT {part} AS part, memory_id, embedding <=> %(vector_{vector})s::halfvec AS place
    FROM memories_vector
    WHERE end_user_id = %(end_user)s AND space = %(space)s AND status = ANY(%(statuses)s)
        AND {wanted}
    ORDER BY place, memory_id LIMIT %({limit})s)
"""
# Memories that no vector ranks, latest first; looked for only where the others don't suffice.
_OTHERS = """(
    SELECT {part}, id, -extract(epoch FROM said_at)::float8 FROM memories_memory
    WHERE end_user_id = %(end_user)s AND status = ANY(%(statuses)s) AND {wanted}
        AND (SELECT count(*) FROM ranked WHERE part = {first}) < %({limit})s
    ORDER BY said_at DESC, id LIMIT %({limit})s)
"""
_NOTHING = "SELECT 0 AS part, NULL::uuid AS memory_id, NULL::float8 AS place WHERE false"


class Nearest(NamedTuple):
    """The ids for each vector, nearest first, and ``others`` that none ranks, latest first;
    ``cosines`` are those of the ranked."""

    ranked: list[list[UUID]]
    others: list[UUID]
    cosines: list[dict[UUID, float]]


def nearest(
    scope: Scope,
    space: str,
    vectors: Sequence[Sequence[float]],
    limit: int,
) -> tuple[Nearest, Nearest]:
    """For each vector the memories of the scope, nearest by cosine first; and, where they are
    fewer than ``limit``, others, latest first. Then the same for those inside. All of the user's
    vectors are compared, in one statement."""
    params = scope.params | {"space": space, "limit": limit}
    params |= {f"vector_{part}": HalfVector(list(v)).to_text() for part, v in enumerate(vectors)}
    within, inside = (subset and subset.sql for subset in (scope.within, scope.inside))
    sought = [(within, "limit"), *([("SELECT id FROM inside", "inside_limit")] if inside else [])]
    arms, others, first = list[str](), list[str](), 0
    for ids, most in sought:
        among = {name: indexed(name, ids) if ids else "true" for name in ("memory_id", "id")}
        arms += [
            _ARM.format(part=first + n, vector=n, wanted=among["memory_id"], limit=most)
            for n in range(len(vectors))
        ]
        last = first + len(vectors)
        others.append(_OTHERS.format(part=last, first=first, wanted=among["id"], limit=most))
        first = last + 1
    sql = (
        f"WITH inside (id) AS MATERIALIZED ({inside or 'SELECT NULL::uuid'}), "  # noqa: S608
        f"ranked AS MATERIALIZED ({' UNION ALL '.join(arms) or _NOTHING}) "
        f"SELECT * FROM ranked UNION ALL {' UNION ALL '.join(others)}"
    )
    # For each part its ids, nearest first, with 1 less their places: cosines.
    lists: list[dict[UUID, float]] = [{} for _ in range(first)]
    for part, pk, place in sorted(fetch(sql, params), key=itemgetter(0, 2, 1)):
        lists[part][pk] = 1 - place
    everything = _nearest(lists[: len(vectors)], lists[len(vectors)])
    if not inside:
        return everything, _nearest([{} for _ in vectors], {})
    return everything, _nearest(lists[len(vectors) + 1 : -1], lists[-1])


def _nearest(ranked: Sequence[dict[UUID, float]], rest: Iterable[UUID]) -> Nearest:
    """From the cosines of what each vector ranks, nearest first."""
    others = [pk for pk in rest if not any(pk in cosines for cosines in ranked)]
    return Nearest([list(cosines) for cosines in ranked], others, list(ranked))
