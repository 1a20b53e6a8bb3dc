"""The memories for a context: linked to those who are meant, and found by search."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.models import EndUser
from contacts.lookup import People
from memories.context import linked, memory_vote, timing
from memories.context.render import InjectedContact, InjectedMemory
from memories.context.request import ContextRequest
from memories.context.result import Way
from memories.context.timing import Clock
from memories.models import Memory
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.query import asks_past
from memories.search.query_vectors import LateError, QueryVectors
from memories.search.ranking import Hit
from memories.search.recall import SearchRequest
from understanding.attributes import label
from understanding.statements.wordings import greets
from understanding.types import Person

_WITH_HISTORY = (Memory.Status.ACTIVE, Memory.Status.OUTDATED)
_UNTIL = {"en": "until {}", "zh": "到{}为止"}


@dataclass(frozen=True, slots=True)
class Found:
    """The memories about those meant and by search; ``searched`` as an Injection has it. ``voted``
    is whom the hits mean, where nobody else is meant."""

    about: linked.About | None = None
    hits: Sequence[Hit] = ()
    searched: str = "no"
    voted: memory_vote.Voted | None = None


def embed(end_user: EndUser, request: ContextRequest) -> QueryVectors | None:
    """Begins to embed the message; None where nothing is searched for."""
    if "search" not in request.include or greets(request.message):
        return None
    return QueryVectors(embedder(), request.message, end_user.pk)


def about(
    end_user: EndUser,
    request: ContextRequest,
    people: Mapping[UUID, Person],
    embedding: QueryVectors | None,
    clock: Clock,
) -> Found:
    """The memories of people who are meant: those linked to them, and what a search finds among
    theirs, or where little is known of them, among everybody's."""
    known = None
    if "linked" in request.include:
        with clock.step("linked"):
            known = linked.about_people(
                end_user, list(people.values()), request.message, request.limit
            )
    # Where little is known of those who are meant, what is asked for may be told of others.
    looks_wider = known is not None and len(known.found) < request.limit
    hits, searched = _search(
        end_user, request, embedding, clock, contact_ids=() if looks_wider else tuple(people)
    )
    if looks_wider and hits:
        with clock.step("search"):
            ids = [hit.memory.id for hit in hits]
            others = linked.said_not_to_be_about(end_user, list(people), ids)
        hits = [hit for hit in hits if hit.memory.id not in others]
    return Found(known, hits, searched)


def anything(
    end_user: EndUser, request: ContextRequest, embedding: QueryVectors | None, clock: Clock
) -> Found:
    """The memories that a search finds where nobody is meant, and whom they say that the message
    means."""
    hits, searched = _search(end_user, request, embedding, clock, with_people=True)
    vectors = embedding.wait() if embedding and hits else []
    return Found(None, hits, searched, memory_vote.meant(request.message, hits, vectors))


def _search(
    end_user: EndUser,
    request: ContextRequest,
    embedding: QueryVectors | None,
    clock: Clock,
    **narrowed: Any,
) -> tuple[list[Hit], str]:
    """What a search finds, and whether it was made (as ``Injection.searched``)."""
    if embedding is None:
        return [], "no"
    asked = SearchRequest(
        request.message,
        limit=request.limit,
        statuses=_WITH_HISTORY if asks_past(request.message) else (Memory.Status.ACTIVE,),
        heal=request.heal,
        floor=relevance.FLOOR,
        least=0.0 if narrowed.get("contact_ids") else relevance.LEAST,
        **narrowed,
    )
    waited, hits, searched = embedding.waited, list[Hit](), "late"
    with clock.step("search"), suppress(LateError):
        hits = recall.search(end_user, asked, embedder=embedder(), embedding=embedding)
        searched = "words" if embedding.failed else "yes"
    clock.split("search", "embedding", embedding.waited - waited)
    return hits, searched


def until(begun: float, deadline_ms: int | None) -> float | None:
    """Until when a context that was begun then waits for its search. A process that is still
    loading what it reads texts with is not held to what is set."""
    if deadline_ms is None:
        deadline_ms = settings.MIO_CONTEXT_DEADLINE_MS if timing.is_warm else 0
    return begun + deadline_ms / 1000 if deadline_ms else None


def without_those_on_cards(hits: Sequence[Hit], contacts: Sequence[InjectedContact]) -> list[Hit]:
    """The hits without the profiles of people whose card is shown."""
    on_cards = {f"profile:{contact.id}" for contact in contacts}
    return [hit for hit in hits if hit.memory.content_hash not in on_cards]


def candidates(
    end_user: EndUser, request: ContextRequest, found: Found, people: People, hits: Sequence[Hit]
) -> list[Way]:
    """All memories for the prompt, the best first: those found, and what these took the place of
    where the message is about it."""
    linked_memories = found.about.found if found.about else []
    scored = {hit.memory: hit.score for hit in hits}
    scored |= {one.memory: one.score for one in linked_memories}
    names = [name for m in people.mentions for name in (m.person.name, *m.person.aliases)]
    former = linked.former(end_user, request.message, scored, names)
    former = [one for one in former if one.memory not in scored]
    return ways([*linked_memories, *former], hits, end_user)


def ways(found: Sequence[linked.Found], hits: Sequence[Hit], end_user: EndUser) -> list[Way]:
    """Each memory once, the best first; what is said of it is what is known by its people."""
    by_search = {hit.memory.id: hit for hit in hits}
    ways = []
    for one in found:
        hit = by_search.pop(one.memory.id, None)
        ways.append(Way(one.memory, _injected(one, hit, end_user), one, hit))
    ways += [
        Way(hit.memory, _injected(hit, hit, end_user), None, hit) for hit in by_search.values()
    ]
    return sorted(ways, key=lambda way: -way.injected.score)


def _injected(one: linked.Found | Hit, hit: Hit | None, end_user: EndUser) -> InjectedMemory:
    memory = one.memory
    gone = memory.valid_to or memory.outdated_at or memory.updated_at
    history = memory.status == Memory.Status.OUTDATED
    return InjectedMemory(
        id=memory.id,
        content=memory.content,
        score=round(one.score, 4),
        reason=str(one.reason),
        said_on=memory.said_there.date().isoformat(),
        outdated_on=timezone.localdate(gone, end_user.zone).isoformat() if history else None,
        relevance=round(hit.relevance.likely, 3) if hit and hit.relevance else None,
        ended=() if history else _ended(memory, end_user),
        speaker="" if memory.brackets is None else memory.speaker,
    )


def _ended(memory: Memory, end_user: EndUser) -> tuple[str, ...]:
    """What of a memory is no longer true, and until when it was."""
    language = end_user.reads
    told = (memory.stored_fact(row) for row in memory.facts if "outdated_at" in row)
    return tuple(
        f"{label(fact.key, language)} {fact.value}, {_UNTIL[language].format(until)}"
        for fact in told
        if fact.valid_to
        for until in [timezone.localdate(fact.valid_to, end_user.zone).isoformat()[:7]]
    )
