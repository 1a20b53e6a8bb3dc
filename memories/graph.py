"""Finds the neighbours of memories by a walk along edges, which removes dangling edges it meets.

Every edge is stored in both directions, so a hop reads one range of one index. An edge
to an archived memory is never followed, and is removed when met (MIRA's heal-on-read);
the database deletes the edges of an erased memory with it. Nothing is lost by that:

- the verbs that archive a memory remove its edges themselves (``remove_edges_of``), so that their
  undo restores them; what a walk still meets was written after the archiving, by a worker
  that had read the memory before, and is found again when the memory is restored;
- edges that record where a memory comes from (LINEAGE) are never removed: the history follows
  them, and erasing a memory erases all that says the same;
- edges of outdated memories are history, and stay.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.db.models import Q

from accounts.best_effort import best_effort
from accounts.cells import connection, fetch
from accounts.changes import Recorder
from accounts.models import Change, EndUser
from accounts.sql_files import sql_pieces
from memories.models import Edge, Memory

Kind = Edge.Kind

# How much of a memory's relevance passes along an edge: from source to target, and back.
# Chosen for Mio: MIRA ranks the kinds only as sparse and high in value (classified) or
# dense and cheap (structural).
WEIGHTS: dict[str, tuple[float, float]] = {
    Kind.SUPERSEDES: (0.5, 0.9),  # back: what is true instead; forth: only what was
    Kind.INVALIDATED_BY: (0.9, 0.5),  # forth: what is true instead
    Kind.CONFLICTS: (0.8, 0.8),  # who reads one must know of the other
    Kind.CAUSES: (0.8, 0.8),  # answers "why", and "what came of it"
    Kind.MOTIVATED_BY: (0.8, 0.8),
    Kind.COMPLEMENTS: (0.7, 0.7),  # more detail of the same matter
    Kind.INSTANCE_OF: (0.7, 0.5),  # the pattern says more than one case of it
    Kind.PART_OF: (0.5, 0.5),  # the pieces repeat the whole
    Kind.WAS_CONTEXT_FOR: (0.4, 0.4),  # was useful once
    Edge.SHARES_ENTITY: (0.3, 0.3),  # a name in common may be chance
}
_UNKNOWN = 0.2
# Edges read per hop: more than any result shows, and a bound for dense graphs.
_MOST = 400
_SQL = sql_pieces(
    __file__,
    kinds=",".join(WEIGHTS),
    forth=",".join(str(forth) for forth, _ in WEIGHTS.values()),
    back=",".join(str(back) for _, back in WEIGHTS.values()),
    unknown=_UNKNOWN,
    entity=Edge.SHARES_ENTITY,
    most=_MOST,
)
# Parameters: ``end_user``, ``sources`` and the kinds ``wanted`` (empty: all).
STEPS = _SQL["steps"]
# Edges that record where a memory comes from.
LINEAGE = (Kind.SUPERSEDES, Kind.PART_OF)
# The verb that removes an edge (memories.corrections.edit_edges).
DISCONNECT = "disconnect"


@dataclass(frozen=True, slots=True)
class Step:
    """One edge as it was walked, from ``source`` to ``target``; ``inverse`` if the edge states
    the opposite direction. ``edge`` is the id of the row that was read, ``weight`` in 0..1."""

    edge: int
    kind: str
    source: UUID
    target: UUID
    inverse: bool
    confidence: float
    reason: str
    weight: float

    @classmethod
    def of_json(cls, values: Sequence[Any]) -> Self:
        """Builds a step from a row of STEPS in JSON, without its last column."""
        edge, kind, source, target, *rest = values
        return cls(edge, kind, UUID(source), UUID(target), *rest)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory reached in ``hops`` steps; ``weight`` in 0..1 is the product of their weights."""

    hops: int
    weight: float
    steps: tuple[Step, ...]

    @property
    def path(self) -> tuple[tuple[str, UUID], ...]:
        """The kind of each edge and the memory it was walked from, beginning at the start."""
        return tuple((step.kind, step.source) for step in self.steps)


def neighbours(
    end_user: EndUser,
    ids: Sequence[UUID],
    *,
    hops: int = 1,
    limit: int = 50,
    kinds: Collection[str] = (),
    heal: bool = True,
) -> dict[UUID, Neighbour]:
    """Returns the memories within ``hops`` edges of ``ids``, the heaviest first, at most ``limit``:
    active and outdated ones, never archived ones nor ``ids`` themselves.

    Each is reached by its shortest path, the heaviest of several. ``kinds`` restricts the edges
    (``shares_entity:`` means those of any entity). One statement per hop, and one more if there
    are dangling edges to remove (not with ``heal=False``).
    """
    neighbours_by_id: dict[UUID, Neighbour] = {}
    wanted = [str(kind) for kind in kinds]
    dangling: list[int] = []
    visited = set(ids)
    level: dict[UUID, Neighbour] = {pk: Neighbour(0, 1.0, ()) for pk in ids}
    for hop in range(1, hops + 1):
        if not level or limit <= 0:
            break
        reached: dict[UUID, Neighbour] = {}
        params = {"end_user": end_user.pk, "sources": list(level), "wanted": wanted}
        for *values, status in fetch(STEPS, params):
            step = Step(*values)
            if status == Memory.Status.ARCHIVED:
                if step.kind not in LINEAGE:
                    dangling.append(step.edge)
                continue
            origin = level[step.source]
            weight = origin.weight * step.weight
            other_path = reached.get(step.target)
            if step.target not in visited and (other_path is None or other_path.weight < weight):
                reached[step.target] = Neighbour(hop, weight, (*origin.steps, step))
        level = _heaviest(reached, limit)
        visited |= set(reached)
        neighbours_by_id.update(level)
    if dangling and heal:
        remove(end_user, dangling)
    return _heaviest(neighbours_by_id, limit)


def _heaviest(by_id: dict[UUID, Neighbour], limit: int) -> dict[UUID, Neighbour]:
    order = sorted(by_id, key=lambda pk: (-by_id[pk].weight, by_id[pk].hops, pk))
    return {pk: by_id[pk] for pk in order[:limit]}


def direct_neighbours(steps: Iterable[Step]) -> dict[UUID, Neighbour]:
    """Returns the memories one step away by their ids, each by the heaviest of ``steps``."""
    by_target: dict[UUID, Neighbour] = {}
    for step in steps:
        heaviest = by_target.get(step.target)
        if heaviest is None or heaviest.weight < step.weight:
            by_target[step.target] = Neighbour(1, step.weight, (step,))
    return by_target


def remove(end_user: EndUser, edges: Sequence[int]) -> None:
    """Deletes those ``edges`` that lead to archived memories, unless the end user is locked."""
    with best_effort("Removal of edges of end user", end_user.pk), connection.cursor() as cursor:
        cursor.execute(_SQL["remove"], [end_user.pk, list(edges)])


def remove_edges_of(end_user: EndUser, ids: Collection[UUID], recorder: Recorder) -> None:
    """Deletes the edges of memories that are being archived, except their lineage; undoing the
    recorder's change restores them. The caller holds the end user's lock."""
    edges = Edge.objects.of(end_user).filter(Q(source__in=ids) | Q(target__in=ids))
    rows = list(edges.exclude(kind__in=LINEAGE))
    recorder.watch(rows)
    Edge.objects.filter(pk__in=[row.pk for row in rows]).delete()


def disconnected_pairs(end_user: EndUser) -> set[frozenset[UUID]]:
    """Returns the pairs whose edge somebody removed: no machine joins them again."""
    changes = Change.objects.of(end_user).filter(verb=DISCONNECT, undone_at=None)
    return {frozenset(map(UUID, pair)) for pair in changes.values_list("subjects", flat=True)}
