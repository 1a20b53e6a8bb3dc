"""Queries about memories: lists, search results, sources and neighbours."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from accounts.models import EndUser
from contacts.lookup import look_up
from contacts.models import Contact
from dashboard.words import edge_phrase, language_of
from memories import graph
from memories.corrections.derived import profile_text
from memories.models import Edge, Link, Memory, Message
from memories.search.recall import Hit

FOUND = 30  # results of a search
MOST_MESSAGES = 20
MOST_BESIDE = 14  # neighbours: more can't be taken in


def with_people(rows: QuerySet) -> QuerySet:
    """Returns memories with the people they are about, in a fixed number of statements."""
    links = Link.objects.standing().with_people().order_by("pk")
    return rows.defer("tokens").prefetch_related(Prefetch("links", links))


def linked(memories: Iterable[Memory]) -> list[Contact]:
    """Returns the people whom memories (from ``with_people``) are about."""
    return [link.contact for memory in memories for link in memory.links.all()]


def latest(end_user: EndUser, status: str, kind: str, *, of_nobody: bool) -> QuerySet[Memory]:
    """Returns an end user's memories of a status and type; ``of_nobody``: that lack a link."""
    rows = Memory.objects.of(end_user).facts()
    if of_nobody:
        rows = rows.of_nobody([end_user.pk])
    if status in Memory.Status:
        rows = rows.filter(status=status)
    if kind:
        rows = rows.filter(type=kind)
    return with_people(rows)


def results(end_user: EndUser, hits: Sequence[Hit]) -> list[tuple[Hit, Memory]]:
    """Returns each hit with its memory and people, profiles (unsaved) in the reader's language."""
    rows = with_people(Memory.objects.of(end_user)).in_bulk([hit.memory.pk for hit in hits])
    profiles = {
        link.contact_id: memory
        for memory in rows.values()
        if memory.kind == Memory.Kind.PROFILE
        for link in memory.links.all()
    }
    for contact in Contact.objects.of(end_user).filter(pk__in=profiles):
        profiles[contact.pk].content = profile_text(contact, language_of())
    return [(hit, rows[hit.memory.pk]) for hit in hits if hit.memory.pk in rows]


def by_relevance(
    end_user: EndUser, query: str, results: Sequence[tuple[Hit, Memory]]
) -> tuple[list[tuple[Hit, Memory]], list[tuple[Hit, Memory]]]:
    """Returns the relevant results, and the others. If the query names somebody, profiles of other
    people are not relevant."""
    named = {one.person.id for one in look_up(end_user, query, lambda: ([], [])).mentions}

    def is_relevant(hit: Hit, memory: Memory) -> bool:
        if not hit.is_relevant or not named or memory.kind == Memory.Kind.FACT:
            return hit.is_relevant
        return any(link.contact_id in named for link in memory.links.all())

    relevant = [one for one in results if is_relevant(*one)]
    return relevant, [one for one in results if one not in relevant]


def replacements(end_user: EndUser, memories: Sequence[Memory]) -> dict[UUID, Memory]:
    """Returns by id what replaced each of these memories that is outdated or was merged."""
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
    """Returns the messages that a memory comes from, at most MOST_MESSAGES."""
    rows = Message.objects.of(memory.end_user_id).filter(pk__in=memory.source_message_ids)
    return list(rows.order_by("seq")[:MOST_MESSAGES])


def neighbours(memory: Memory) -> list[tuple[str, list[tuple[Memory, graph.Step]]]]:
    """Returns the memories one edge away with that edge, by how they are related to this one."""
    near = graph.neighbours(memory.end_user, [memory.pk], hops=1, limit=MOST_BESIDE, heal=False)
    rows = with_people(Memory.objects.of(memory.end_user_id)).in_bulk(list(near))
    groups: dict[str, list[tuple[Memory, graph.Step]]] = {}
    for pk, neighbour in near.items():
        step = neighbour.steps[-1]
        if pk in rows:
            kind = edge_phrase(step.kind, inverse=step.inverse)
            groups.setdefault(kind, []).append((rows[pk], step))
    return list(groups.items())
