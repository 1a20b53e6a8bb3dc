"""Meaning search: cosine over the vectors of one end user's memories."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from pgvector import HalfVector

from accounts.models import EndUser
from memories.models import MemoryQuerySet
from memories.search import ann
from memories.search.sql import named

# A user's vectors one by one, or, as the index over a whole partition has it, along a graph.
_EXACT = "embedding <=> %(vector_{part})s::halfvec", "place, memory_id"
_GRAPH = "embedding::halfvec({size}) <=> %(vector_{part})s::halfvec({size})", "place"
_ARM = """(
    SELECT {part} AS part, memory_id, {distance} AS place
    FROM memories_vector
    WHERE end_user_id = %(end_user)s AND space = %(space)s AND status = ANY(%(statuses)s)
        AND {wanted}
    ORDER BY {order} LIMIT %(limit)s)
"""
# Memories that no vector ranks, latest first; looked for only where the others don't suffice.
_OTHERS = """(
    SELECT -1, id, -extract(epoch FROM said_at)::float8 FROM memories_memory
    WHERE end_user_id = %(end_user)s AND status = ANY(%(statuses)s) AND {wanted}
        AND (SELECT count(*) FROM ranked WHERE part = 0) < %(limit)s
    ORDER BY said_at DESC, id LIMIT %(limit)s)
"""
_NOTHING = "SELECT 0 AS part, NULL::uuid AS memory_id, NULL::float8 AS place WHERE false"


def nearest(
    end_user: EndUser,
    statuses: Collection[str],
    space: str,
    vectors: Sequence[Sequence[float]],
    limit: int,
    within: MemoryQuerySet | None = None,
    *,
    size: float | None = None,
) -> tuple[list[list[UUID]], list[UUID]]:
    """For each vector the end user's memories of these ``statuses``, nearest by cosine first;
    and, where they are fewer than ``limit``, others, latest first.

    Results may be narrowed to those ``within``; ``size`` says how many memories the user has,
    where the caller knows. For a user so large that it pays, the ranks
    are those of an index, which may miss a neighbour; never fewer are found than exist.
    """
    wanted, params = "", dict[str, Any]()
    if within is not None:
        wanted, params = named(within.values("id"), "within")
    params |= {f"vector_{part}": HalfVector(list(v)).to_text() for part, v in enumerate(vectors)}
    params |= {"end_user": end_user.pk, "space": space, "limit": limit}
    params["statuses"] = [str(status) for status in statuses]
    if vectors and within is None and ann.pay(end_user.pk, space, limit, size):
        ranked = along_graph(params, len(vectors))
        if all(len(found) == limit for found in ranked):
            return ranked, []
    return one_by_one(params, len(vectors), wanted)


def one_by_one(
    params: dict[str, Any], count: int, wanted: str
) -> tuple[list[list[UUID]], list[UUID]]:
    """The ids for each vector, all of the user's compared; and what no vector ranks."""
    arms = _arms(count, _EXACT, f"memory_id IN ({wanted})" if wanted else "true")
    others = _OTHERS.format(wanted=f"id IN ({wanted})" if wanted else "true")
    sql = f"WITH ranked AS MATERIALIZED ({arms}) SELECT * FROM ranked UNION ALL {others}"  # noqa: S608
    ranked, rest = _read(sql, params, count)
    seen = {pk for ids in ranked for pk in ids}
    return ranked, [pk for pk in rest if pk not in seen]


def along_graph(params: dict[str, Any], count: int) -> list[list[UUID]]:
    """The ids for each vector by the index of the space; fewer than there are where a scan
    ends at its bound."""
    size = str(ann.dimensions_of(params["space"]))
    distance, order = _GRAPH
    arms = _arms(count, (distance.replace("{size}", size), order), "true")
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(ann.SETTINGS)
        return _read(arms, params, count)[0]


def _arms(count: int, how: tuple[str, str], wanted: str) -> str:
    distance, order = how
    arms = [
        _ARM.format(part=part, distance=distance.format(part=part), order=order, wanted=wanted)
        for part in range(count)
    ]
    return " UNION ALL ".join(arms) or _NOTHING


def _read(sql: str, params: dict[str, Any], count: int) -> tuple[list[list[UUID]], list[UUID]]:
    ranked: list[list[UUID]] = [[] for _ in range(count)]
    rest: list[UUID] = []
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        for part, pk, _ in sorted(cursor.fetchall(), key=lambda row: (row[0], row[2], row[1])):
            (rest if part < 0 else ranked[part]).append(pk)
    return ranked, rest
