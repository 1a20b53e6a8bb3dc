"""Vector search: cosine over the vectors of one end user's memories."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

from pgvector import HalfVector

from accounts.cells import fetch
from accounts.sql_files import sql_pieces
from memories.search.sql import Scope, indexed

_SQL = sql_pieces(__file__)

_NOTHING = "SELECT 0 AS part, NULL::uuid AS memory_id, NULL::float8 AS place WHERE false"


class Nearest(NamedTuple):
    """The ids for each vector, nearest first, with their ``cosines``; ``others`` are ids that no
    vector ranks, latest first."""

    ranked: list[list[UUID]]
    others: list[UUID]
    cosines: list[dict[UUID, float]]


def nearest(
    scope: Scope, space: str, vectors: Sequence[Sequence[float]], limit: int
) -> tuple[Nearest, Nearest]:
    """Returns, for each vector, the memories of the scope, nearest by cosine first, and if these
    are fewer than ``limit``, others, latest first; then the same for ``Scope.inside``. Compares all
    of the user's vectors, in one statement."""
    params = scope.params | {"space": space, "limit": limit}
    params |= {f"vector_{part}": HalfVector(list(v)).to_text() for part, v in enumerate(vectors)}
    within, inside = (subset and subset.sql for subset in (scope.within, scope.inside))
    subsets = [(within, "limit"), *([("SELECT id FROM inside", "inside_limit")] if inside else [])]
    arms, others, part_count = list[str](), list[str](), 0
    for ids, most in subsets:
        among = {name: indexed(name, ids) if ids else "true" for name in ("memory_id", "id")}
        arms += [
            _SQL["arm"].format(part=part_count + n, vector=n, wanted=among["memory_id"], limit=most)
            for n in range(len(vectors))
        ]
        last = part_count + len(vectors)
        others.append(
            _SQL["others"].format(part=last, first=part_count, wanted=among["id"], limit=most)
        )
        part_count = last + 1
    sql = (
        f"WITH inside (id) AS MATERIALIZED ({inside or 'SELECT NULL::uuid'}), "  # noqa: S608
        f"ranked AS MATERIALIZED ({' UNION ALL '.join(arms) or _NOTHING}) "
        f"SELECT * FROM ranked UNION ALL {' UNION ALL '.join(others)}"
    )
    # For each part its ids, nearest first, with 1 less their places: cosines.
    cosines_by_part: list[dict[UUID, float]] = [{} for _ in range(part_count)]
    for part, pk, place in sorted(fetch(sql, params), key=itemgetter(0, 2, 1)):
        cosines_by_part[part][pk] = 1 - place
    everything = _as_nearest(cosines_by_part[: len(vectors)], cosines_by_part[len(vectors)])
    if not inside:
        return everything, _as_nearest([{} for _ in vectors], {})
    return everything, _as_nearest(cosines_by_part[len(vectors) + 1 : -1], cosines_by_part[-1])


def _as_nearest(ranked: Sequence[dict[UUID, float]], other_ids: Iterable[UUID]) -> Nearest:
    """Returns the result from the cosines that each vector ranks, nearest first, and other ids."""
    others = [pk for pk in other_ids if not any(pk in cosines for cosines in ranked)]
    return Nearest([list(cosines) for cosines in ranked], others, list(ranked))
