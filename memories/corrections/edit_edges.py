"""Corrections of edges between memories by a person or an app; each can be undone."""

from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.cells import atomic
from accounts.changes import recording
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from memories.corrections.edit_memories import InvalidCorrection, locked, outdate
from memories.graph import DISCONNECT, LINEAGE
from memories.models import Edge, Memory

Status = Memory.Status

# The kinds that a person may state; the others record what Mio itself did.
STATED = (
    Edge.Kind.COMPLEMENTS,
    Edge.Kind.CONFLICTS,
    Edge.Kind.CAUSES,
    Edge.Kind.INSTANCE_OF,
    Edge.Kind.INVALIDATED_BY,
    Edge.Kind.MOTIVATED_BY,
)


def contradictory() -> QuerySet[Edge]:
    """Returns edges between current facts that exclude each other (index ``edge_in_conflict``)."""
    return Edge.objects.filter(
        kind=Edge.Kind.CONFLICTS,
        source__status=Status.ACTIVE,
        target__status=Status.ACTIVE,
        source__kind=Memory.Kind.FACT,
        target__kind=Memory.Kind.FACT,
    )


@atomic()
def settle(end_user: EndUser, edge_id: int, right: UUID | None, *, actor: str) -> Change | None:
    """Decides which of two contradictory memories is true and outdates the other; ``None`` keeps
    both. Raises InvalidCorrection."""
    end_user = locked(end_user)
    edge = contradictory().filter(end_user=end_user, pk=edge_id).first()
    if edge is None:
        raise InvalidCorrection(Reason("no_such_edge"))
    if right is None:
        return disconnect(end_user, edge.source_id, edge.pk, actor=actor)
    if right not in (edge.source_id, edge.target_id):
        raise InvalidCorrection(Reason("not_of_the_two"))
    pair = {memory.pk: memory for memory in Memory.objects.of(end_user).filter(
        pk__in=[edge.source_id, edge.target_id])}  # fmt: skip
    true_memory = pair.pop(right)
    [other] = pair.values()
    # An earlier memory supersedes nothing: the later one was never true.
    later = true_memory.said_at >= other.said_at
    return outdate(end_user, [other], actor=actor, by=right if later else None)


@atomic()
def connect(
    end_user: EndUser, source_id: UUID, target_id: UUID, kind: str, *, actor: str, why: str = ""
) -> tuple[Edge, Change | None]:
    """Creates an edge between two memories, or returns the existing one and None. Raises
    InvalidCorrection."""
    end_user = locked(end_user)
    if kind not in STATED:
        raise InvalidCorrection(Reason("edge_not_by_hand"))
    if source_id == target_id:
        raise InvalidCorrection(Reason("edge_to_self"))
    memories = Memory.objects.of(end_user).filter(pk__in=[source_id, target_id])
    unarchived = memories.exclude(status=Memory.Status.ARCHIVED)
    if unarchived.count() != 2:
        raise InvalidCorrection(Reason("memory_gone_or_archived"))
    same_edge = Q(source=source_id, target=target_id)
    if kind == Edge.Kind.CONFLICTS:
        same_edge |= Q(source=target_id, target=source_id)
    if existing := Edge.objects.of(end_user).filter(same_edge, kind=kind).first():
        return existing, None
    with recording(end_user, "connect", actor, why, [source_id, target_id]) as (recorder, change):
        edge = Edge.objects.create(
            end_user=end_user, source_id=source_id, target_id=target_id, kind=kind, reason=why
        )
        recorder.watch([edge], created=True)
    return edge, change


@atomic()
def disconnect(end_user: EndUser, memory_id: UUID, edge_id: int, *, actor: str) -> Change:
    """Deletes an edge, given by either of its rows; no machine connects the two memories again.
    Edges of origin (LINEAGE) stay. Raises InvalidCorrection."""
    end_user = locked(end_user)
    row = Edge.both_ways.of(end_user).filter(pk=edge_id, source=memory_id).first()
    if row is None:
        raise InvalidCorrection(Reason("no_such_edge"))
    if row.kind in LINEAGE:
        raise InvalidCorrection(Reason("edge_of_origin"))
    ends = [row.target_id, row.source_id] if row.inverse else [row.source_id, row.target_id]
    edge = Edge.objects.of(end_user).get(kind=row.kind, source=ends[0], target=ends[1])
    with recording(end_user, DISCONNECT, actor, subjects=ends) as (recorder, change):
        recorder.watch([edge])
        edge.delete()
    return change
