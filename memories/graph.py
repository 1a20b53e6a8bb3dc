"""The memories beside a memory: a walk along the edges, which mends what it meets.

Every edge lies in the table in both directions, so a hop is one range of one index. An edge
to an archived memory is never followed, and is removed when met (MIRA's heal-on-read);
those of an erased memory go with it in the database. Nothing is lost by that:

- the verbs that archive a memory take its edges away themselves (``let_go``), so that their
  undo brings them back; what a walk still meets was written after the archiving, by a worker
  that had read the memory before, and is found again when the memory comes back;
- where a memory comes from (LINEAGE) is never removed: history is told along it, and erasing
  a memory erases all that says the same;
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
from memories.models import Edge, Memory
from memories.sql_files import sql_pieces

Kind = Edge.Kind

# How much of a memory's relevance passes along an edge: from source to target, and back.
# Chosen for Mio: MIRA ranks the kinds only as sparse and high in value (classified) or
# dense and cheap (structural).
WEIGHTS: dict[str, tuple[float, float]] = {
    Kind.SUPERSEDES: (0.5, 0.9),  # back: what holds instead; forth: only what was
    Kind.INVALIDATED_BY: (0.9, 0.5),  # forth: what holds instead
    Kind.CONFLICTS: (0.8, 0.8),  # who reads one must know of the other
    Kind.CAUSES: (0.8, 0.8),  # answers "why", and "what came of it"
    Kind.MOTIVATED_BY: (0.8, 0.8),
    Kind.COMPLEMENTS: (0.7, 0.7),  # more detail of the same matter
    Kind.INSTANCE_OF: (0.7, 0.5),  # the pattern says more than one case of it
    Kind.PART_OF: (0.5, 0.5),  # the pieces repeat the whole
    Kind.WAS_CONTEXT_FOR: (0.4, 0.4),  # was of use once
    Edge.SHARES_ENTITY: (0.3, 0.3),  # a name in common may be chance
}
_UNKNOWN = 0.2
# Edges read per hop: more than any result shows, and a bound however dense the graph.
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
# Takes ``end_user``, ``sources`` and the kinds ``wanted``: all where none are given.
STEPS = _SQL["steps"]
# Edges that say where a memory comes from.
LINEAGE = (Kind.SUPERSEDES, Kind.PART_OF)
# The verb that takes an edge away (memories.corrections.edit_edges).
DISCONNECT = "disconnect"


@dataclass(frozen=True, slots=True)
class Step:
    """One edge as it was walked: from ``source`` to ``target``; ``inverse`` when the edge is
    stated the other way round. ``edge`` is the row that was read, ``weight`` in 0..1."""

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
        """From a row of STEPS without its last column, as JSON has it."""
        edge, kind, source, target, *rest = values
        return cls(edge, kind, UUID(source), UUID(target), *rest)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory reached in ``hops`` steps; ``weight`` in 0..1 is the product of its steps'."""

    hops: int
    weight: float
    steps: tuple[Step, ...]

    @property
    def path(self) -> tuple[tuple[str, UUID], ...]:
        """The kind of each edge and the memory it was walked from, from the start on."""
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
    """The memories within ``hops`` edges of these, the heaviest first, at most ``limit``;
    active and outdated ones, never archived ones nor ``ids`` themselves.

    Each by its shortest way, and of these the heaviest. ``kinds`` narrows the edges
    (``shares_entity:`` means those of any entity). One statement a hop, and one more where
    something is to be mended (not with ``heal=False``).
    """
    found: dict[UUID, Neighbour] = {}
    wanted = [str(kind) for kind in kinds]
    dangling: list[int] = []
    seen = set(ids)
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
            before = level[step.source]
            weight = before.weight * step.weight
            held = reached.get(step.target)
            if step.target not in seen and (held is None or held.weight < weight):
                reached[step.target] = Neighbour(hop, weight, (*before.steps, step))
        level = _heaviest(reached, limit)
        seen |= set(reached)
        found.update(level)
    if dangling and heal:
        remove(end_user, dangling)
    return _heaviest(found, limit)


def _heaviest(found: dict[UUID, Neighbour], limit: int) -> dict[UUID, Neighbour]:
    order = sorted(found, key=lambda pk: (-found[pk].weight, found[pk].hops, pk))
    return {pk: found[pk] for pk in order[:limit]}


def beside(steps: Iterable[Step]) -> dict[UUID, Neighbour]:
    """The memories one step away, each by the heaviest of these steps."""
    found: dict[UUID, Neighbour] = {}
    for step in steps:
        known = found.get(step.target)
        if known is None or known.weight < step.weight:
            found[step.target] = Neighbour(1, step.weight, (step,))
    return found


def remove(end_user: EndUser, edges: Sequence[int]) -> None:
    """Takes away those of these edges that lead to archived memories."""
    with best_effort("Removal of edges of end user", end_user.pk), connection.cursor() as cursor:
        cursor.execute(_SQL["remove"], [end_user.pk, list(edges)])


def let_go(end_user: EndUser, ids: Collection[UUID], recorder: Recorder) -> None:
    """Takes away the edges of memories that are being archived, but their lineage; the
    recorder's change brings them back. The caller holds the end user's lock."""
    edges = Edge.objects.of(end_user).filter(Q(source__in=ids) | Q(target__in=ids))
    rows = list(edges.exclude(kind__in=LINEAGE))
    recorder.watch(rows)
    Edge.objects.filter(pk__in=[row.pk for row in rows]).delete()


def refused(end_user: EndUser) -> set[frozenset[UUID]]:
    """The pairs between which somebody took an edge away: no machine joins them again."""
    changes = Change.objects.of(end_user).filter(verb=DISCONNECT, undone_at=None)
    return {frozenset(map(UUID, pair)) for pair in changes.values_list("subjects", flat=True)}
