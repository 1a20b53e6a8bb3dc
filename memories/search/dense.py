"""Meaning search: cosine over the vectors of one end user's memories."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from pgvector import HalfVector

from accounts.cells import connection
from memories.search.sql import Scope, Subset, hashed, indexed

_DISTANCE = "embedding <=> %(vector_{part})s::halfvec"
_ARM = """(
    SELECT {part} AS part, memory_id, {distance} AS place
    FROM memories_vector
    WHERE end_user_id = %(end_user)s AND space = %(space)s AND status = ANY(%(statuses)s)
        AND {wanted}
    ORDER BY place, memory_id LIMIT %({limit})s)
"""
# Where the best of a part are sought besides, all are compared once for both, and that part is
# looked up once.
_COMPARED = """
inside (id) AS MATERIALIZED ({inside}), compared AS MATERIALIZED (
    SELECT memory_id, {distances}
    FROM memories_vector
    WHERE end_user_id = %(end_user)s AND space = %(space)s AND status = ANY(%(statuses)s)
        AND {wanted}), """
_ARM_OF_COMPARED = """(
    SELECT {part} AS part, memory_id, place_{vector} AS place FROM compared
    WHERE {wanted} ORDER BY place, memory_id LIMIT %({limit})s)
"""
# Memories that no vector ranks, latest first; looked for only where the others don't suffice.
_OTHERS = """(
    SELECT {part}, id, -extract(epoch FROM said_at)::float8 FROM memories_memory
    WHERE end_user_id = %(end_user)s AND status = ANY(%(statuses)s) AND {wanted}
        AND (SELECT count(*) FROM ranked WHERE part = {first}) < %({limit})s
    ORDER BY said_at DESC, id LIMIT %({limit})s)
"""
_INSIDE = "SELECT id FROM inside"
_NOTHING = "SELECT 0 AS part, NULL::uuid AS memory_id, NULL::float8 AS place WHERE false"
# Of which memories to find how many: the parameter that says so.
_Sought = tuple[Subset | None, str]


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
    sought: list[_Sought] = [(scope.within, "limit")]
    if scope.inside:
        sought.append((scope.inside, "inside_limit"))
    found = _one_by_one(params, len(vectors), sought)
    return found[0], found[1] if scope.inside else _nearest([{} for _ in vectors], {})


def _nearest(ranked: Sequence[dict[UUID, float]], rest: Iterable[UUID]) -> Nearest:
    """From the cosines of what each vector ranks, nearest first."""
    others = [pk for pk in rest if not any(pk in cosines for cosines in ranked)]
    return Nearest([list(cosines) for cosines in ranked], others, list(ranked))


def _one_by_one(params: dict[str, Any], count: int, sought: Sequence[_Sought]) -> list[Nearest]:
    """What is sought for each of ``count`` vectors; of several, the others are parts of the first."""
    arms, others = [], []
    (within, _), (inside, _) = sought[0], sought[-1]
    once = len(sought) > 1 and count > 0
    for place, (subset, limit) in enumerate(sought):
        first = place * (count + 1)
        parts = range(first, first + count)
        ids = _INSIDE if once and place else subset.sql if subset else None
        if once:
            among = hashed("memory_id", _INSIDE) if place else "true"
            arms += _arms_of_compared(parts, first, among, limit)
        else:
            among = indexed("memory_id", ids) if ids else "true"
            arms += _arms(parts, first, among, limit)
        among = indexed("id", ids) if ids else "true"
        others.append(_OTHERS.format(part=first + count, first=first, wanted=among, limit=limit))
    compared = _compared(count, within, inside) if once and inside else ""
    sql = (
        f"WITH {compared}ranked AS MATERIALIZED ({' UNION ALL '.join(arms) or _NOTHING}) "  # noqa: S608
        f"SELECT * FROM ranked UNION ALL {' UNION ALL '.join(others)}"
    )
    lists = _read(sql, params, len(sought) * (count + 1))
    found = []
    for first in range(0, len(lists), count + 1):
        *ranked, rest = lists[first : first + count + 1]
        found.append(_nearest(ranked, rest))
    return found


def _arms(parts: Iterable[int], first: int, wanted: str, limit: str) -> list[str]:
    return [
        _ARM.format(
            part=part,
            distance=_DISTANCE.format(part=part - first),
            wanted=wanted,
            limit=limit,
        )
        for part in parts
    ]


def _compared(count: int, subset: Subset | None, inside: Subset) -> str:
    distances = (f"{_DISTANCE.format(part=part)} AS place_{part}" for part in range(count))
    wanted = indexed("memory_id", subset.sql) if subset else "true"
    return _COMPARED.format(inside=inside.sql, distances=", ".join(distances), wanted=wanted)


def _arms_of_compared(parts: Iterable[int], first: int, wanted: str, limit: str) -> list[str]:
    return [
        _ARM_OF_COMPARED.format(part=part, vector=part - first, wanted=wanted, limit=limit)
        for part in parts
    ]


def _read(sql: str, params: dict[str, Any], parts: int) -> list[dict[UUID, float]]:
    """For each part its ids, nearest first, with 1 less their places: cosines."""
    found: list[dict[UUID, float]] = [{} for _ in range(parts)]
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        for part, pk, place in sorted(cursor.fetchall(), key=itemgetter(0, 2, 1)):
            found[part][pk] = 1 - place
    return found
