"""Memories as lists and as a graph, and how the importance of one comes about."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import EndUser
from dashboard.words import stands
from memories import graph
from memories.models import Edge, Link, Memory, Message
from memories.scoring import Parts
from memories.search.ranking import Hit

FOUND = 30  # results of a search
MOST_MESSAGES = 20
MOST_BESIDE = 14  # more can't be taken in


def with_people(rows: QuerySet) -> QuerySet:
    """Memories with whom they are about, in a fixed number of statements."""
    links = Link.objects.standing().with_people().order_by("pk")
    return rows.defer("tokens").prefetch_related(Prefetch("links", links))


def latest(end_user: EndUser, status: str, kind: str, *, of_nobody: bool) -> QuerySet[Memory]:
    """What an end user told, of a status and type where these are given, or only what is
    ``of_nobody`` though it should be about somebody. Profiles stand with their people."""
    rows = Memory.objects.of(end_user).facts()
    if of_nobody:
        rows = rows.of_nobody()
    if status in Memory.Status:
        rows = rows.filter(status=status)
    if kind:
        rows = rows.filter(type=kind)
    return with_people(rows)


def results(end_user: EndUser, hits: Sequence[Hit]) -> list[tuple[Hit, Memory]]:
    """The hits in their order, each with its memory and whom it is about."""
    rows = with_people(Memory.objects.of(end_user)).in_bulk([hit.memory.pk for hit in hits])
    return [(hit, rows[hit.memory.pk]) for hit in hits if hit.memory.pk in rows]


def replacements(end_user: EndUser, memories: Sequence[Memory]) -> dict[UUID, Memory]:
    """What took the place of each of these memories that is outdated or merged."""
    old = [memory.pk for memory in memories if memory.status != Memory.Status.ACTIVE]
    edges = Edge.objects.of(end_user).filter(kind=Edge.Kind.SUPERSEDES, target__in=old)
    rows = (
        edges.select_related("source").defer("source__tokens", "source__embedding").order_by("pk")
    )
    newer = {edge.target_id: edge.source for edge in rows}
    merged = {memory.pk: memory.merged_into_id for memory in memories if memory.merged_into_id}
    into = Memory.objects.of(end_user).defer("tokens").in_bulk(list(merged.values()))
    return newer | {pk: into[other] for pk, other in merged.items() if other in into}


def sources(memory: Memory) -> list[Message]:
    """The messages that a memory rests on."""
    rows = Message.objects.of(memory.end_user_id).filter(pk__in=memory.source_message_ids)
    return list(rows.order_by("seq")[:MOST_MESSAGES])


def neighbours(memory: Memory) -> list[tuple[str, list[tuple[Memory, graph.Step]]]]:
    """The memories one edge away with the edge, in groups by how they stand to this one, which is
    said in words; the strongest edge first."""
    near = graph.neighbours(memory.end_user, [memory.pk], hops=1, limit=MOST_BESIDE, heal=False)
    rows = with_people(Memory.objects.of(memory.end_user_id)).in_bulk(list(near))
    groups: dict[str, list[tuple[Memory, graph.Step]]] = {}
    for pk, neighbour in near.items():
        step = neighbour.steps[-1]
        if pk in rows:
            kind = stands(step.kind, inverse=step.inverse)
            groups.setdefault(kind, []).append((rows[pk], step))
    return list(groups.items())


@dataclass(frozen=True, slots=True)
class Factor:
    """What makes a memory count more or less: in words, and as a term or a factor (×)."""

    says: str
    effect: float
    times: bool = False

    @property
    def neutral(self) -> bool:
        return self.effect == self.times


def factors(memory: Memory, parts: Parts) -> list[Factor]:
    """Every component of a memory's importance."""
    used, mentioned = memory.access_count, memory.mention_count
    expired = parts.trailoff < 1
    return [
        Factor(_("How new it is: the lift for a new memory wears off within 60 active days"),
               parts.newness),
        Factor(
            ngettext("Given to a prompt %(n)d time: counts by its age",
                     "Given to a prompt %(n)d times: counts by its age", used)
            % {"n": used} if used else _("Not given to any prompt yet"), parts.value),
        Factor(
            ngettext("Said again or used in a reply %(n)d time",
                     "Said again or used in a reply %(n)d times", mentioned)
            % {"n": mentioned} if mentioned else _("Not said again, nor used in a reply"), parts.mention),
        Factor(_("Other memories refer to it") if parts.hub else _("No other memory refers to it"),
               parts.hub),
        Factor(_("Names something that connects it to other memories") if parts.entity_hub
               else _("Names nothing that connects it to other memories"), parts.entity_hub),
        Factor(_("Not used for a while: the longer, the less it counts") if parts.recency < 1
               else _("Used or learnt on the latest active day"), parts.recency, times=True),
        Factor(_("Its event is less than two weeks away") if parts.temporal > 1
               else _("No event of it is near"), parts.temporal, times=True),
        Factor(_("It has expired, and counts for nothing five days later") if expired
               else _("It has not expired"), parts.trailoff, times=True),
    ]  # fmt: skip


def importance(memory: Memory, parts: Parts) -> str:
    """Why a memory counts as much as it does, in a sentence."""
    share = {"share": f"{round(parts.importance * 100)}%"}
    if parts.fixed is None:
        if parts.trailoff == 0:
            return _("%(share)s: it has expired.") % share
        return _("%(share)s, from what follows.") % share
    if memory.consolidated_into_id:
        return _("Kept at %(share)s because the profile speaks for it.") % share
    if memory.kind == Memory.Kind.PROFILE:
        return _("Kept at %(share)s because a profile sums up many memories.") % share
    return _("Fixed at %(share)s by a person or an app.") % share
