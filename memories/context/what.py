"""Selects the memories for a context: those linked to the people who are meant, those that name
them but are not linked yet, and what a search finds."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.cells import fetch
from accounts.models import EndUser
from accounts.reasons import Reason
from accounts.sql_files import sql_pieces
from memories.context.render import InjectedContact, InjectedMemory
from memories.context.request import ContextRequest
from memories.context.types import FoundMemory, PeopleMemories, PersonMemory
from memories.models import Link, Memory
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.query_vectors import LateError, QueryVectors
from memories.search.recall import Hit
from memories.search.tokens import HAS_TIME, own, query_weights, tokenise
from understanding.attributes import label
from understanding.languages import wording
from understanding.names import name_key
from understanding.statements.wordings import greets
from understanding.types import Mention, Person

# How many of a contact's latest memories compete for a place in the prompt, which bounds the cost
# for any length of history. Older ones are on the card, or found by search.
WINDOW = 40
# A memory that shares words with the message is preferred to one that is merely new.
OVERLAP_WEIGHT, IMPORTANCE_WEIGHT, RECENCY_WEIGHT = 0.5, 0.3, 0.2
# The most memories that are no longer true to be shown with those that replaced them.
MOST_FORMER = 3
# The share of its successor's score that such a memory gets: it comes right below it.
FORMER_SHARE = 0.95
# A context takes the first few results of a search whatever their relevance. Later ones of little
# relevance name people whom nobody meant; only a message that explores takes them, too.
FIRST = 3
# Where enough is known about the people who are meant, what is about others or nobody (a link may be
# missing) is added only from this relevance on: 0.3 gives the same results on three lives.
PROBABLE = 0.5

_SHOWN = ", ".join(f"m.{column}" for column in Memory.SHOWN)
_SQL = sql_pieces(__file__, shown=_SHOWN)


def about_people(
    end_user: EndUser, people: Sequence[Person], message: str, limit: int
) -> PeopleMemories:
    """Returns the memories about these people that fit the message best, at most ``limit``.

    Phase one follows the links. Only if they give fewer than ``limit``, phase two looks for
    memories that name a contact and are not linked yet, by one statement per contact.
    """
    params = {"end_user": end_user.pk, "contacts": [one.id for one in people], "window": WINDOW}
    linked: dict[UUID, Memory] = {}
    for *columns, supersedes in fetch(_SQL["latest"], params):
        memory = Memory.shown(columns)
        memory.supersedes = supersedes
        linked[memory.pk] = memory
    found = _ranked(list(linked.values()), message, Reason("linked"))
    unlinked = []
    if len(found) < limit:
        for person in people:
            naming = unlinked_naming(end_user.pk, person).only(*Memory.SHOWN)[:limit]
            fresh = [m for m in naming if m.id not in linked]
            if fresh:
                unlinked.append(person.id)
                reason = Reason("not_linked_yet", name=person.name)
                found += _ranked(fresh, message, reason, person.id)
    return PeopleMemories(_best_first(found)[:limit], tuple(unlinked))


def memories_of_speaker(
    end_user: EndUser, names: Collection[str], message: str
) -> list[PersonMemory]:
    """Returns the latest memories whose speaker has one of these names, the best for the message
    first. One statement."""
    rows = Memory.objects.of(end_user).active().facts().filter(speaker__in=names)
    latest = rows.only(*Memory.SHOWN).order_by("-said_at", "pk")[:WINDOW]
    return _best_first(_ranked(list(latest), message, Reason("linked")))


def _best_first(found: Iterable[PersonMemory]) -> list[PersonMemory]:
    return sorted(found, key=lambda item: (-item.score, str(item.memory.id)))


def _ranked(
    memories: Sequence[Memory], message: str, reason: Reason, names: UUID | None = None
) -> list[PersonMemory]:
    wanted = set(query_weights(message))
    # The token that a memory has a time, any time, is no word of the message.
    words = wanted - {HAS_TIME}
    newest_first = sorted(memories, key=lambda memory: (memory.said_at, memory.id), reverse=True)
    return [
        PersonMemory(
            memory,
            OVERLAP_WEIGHT * (len(words.intersection(own(memory.tokens))) / (len(wanted) or 1))
            + IMPORTANCE_WEIGHT * memory.importance
            + RECENCY_WEIGHT / (1 + place),
            reason,
            names,
        )
        for place, memory in enumerate(newest_first)
    ]


def unlinked_naming(end_user_id: int, person: Person) -> QuerySet[Memory]:
    """Returns the active memories that contain one of the contact's names as words and have no link
    to it, not even a rejected one, nor to a namesake, whom they are known to mean."""
    named = Memory.objects.none()
    for tokens in map(tokenise, (person.name, *person.aliases)):
        if tokens:
            named |= Memory.objects.holding(end_user_id, tokens)
    namesakes = Link.objects.standing().filter(
        memory=OuterRef("pk"), contact__name_key=name_key(person.name)
    )
    rows = named.of(end_user_id).active().facts()
    return rows.exclude(links__contact=person.id).exclude(Exists(namesakes))


def said_not_to_be_about(
    end_user: EndUser, people: Collection[UUID], memories: Collection[UUID]
) -> set[UUID]:
    """Returns the memories that somebody said are not about one of ``people``. One statement."""
    links = Link.objects.of(end_user).filter(contact__in=people, memory__in=memories, rejected=True)
    return set(links.values_list("memory", flat=True))


def embed(request: ContextRequest, until: float | None) -> QueryVectors | None:
    """Starts to embed the message; None if no search is wanted or the message is a greeting."""
    if "search" not in request.include or greets(request.message):
        return None
    return QueryVectors(embedder(), request.message, until)


def search(
    end_user: EndUser,
    request: ContextRequest,
    embedding: QueryVectors,
    people: Collection[UUID],
    known: PeopleMemories | None,
) -> tuple[list[Hit], str]:
    """Searches all memories; if enough memories of the ``people`` who are meant are ``known``, hits
    that are not about these must be probable. Only theirs, if none were looked for. Returns the
    hits, and whether the search was made (as ``Injection.searched``)."""
    is_enough = known is not None and len(known.found) >= request.limit
    asked = recall.SearchRequest(
        request.message,
        limit=request.limit,
        contact_ids=tuple(people) if known is None else (),
        heal=request.heal,
        floor=relevance.FLOOR,
        keep_first=FIRST,
        with_former=True,
        with_people=True,
    )
    hits, searched = list[Hit](), "late"
    with suppress(LateError):
        hits = recall.search(end_user, asked, embedder=embedder(), embedding=embedding)
        searched = "words" if embedding.failed else "yes"
    ids = set(map(str, people))
    elsewhere = {
        hit.memory.id: hit for hit in hits if not any(one["id"] in ids for one in hit.people)
    }
    if people and elsewhere:
        denied = said_not_to_be_about(end_user, people, elsewhere)
        if is_enough:
            denied |= {pk for pk, hit in elsewhere.items() if hit.likely < PROBABLE}
        hits = [hit for hit in hits if hit.memory.id not in denied]
    return hits, searched


def candidates(
    end_user: EndUser,
    message: str,
    known: Sequence[PersonMemory],
    hits: Sequence[Hit],
    mentions: Iterable[Mention],
    cards: Iterable[InjectedContact],
) -> list[FoundMemory]:
    """Returns all memories for the prompt, the best first: those ``known`` of people, those found
    by search, and the outdated ones that these replaced, if the message is about that; without the
    profiles of people whose card is shown."""
    on_cards = {f"profile:{contact.id}" for contact in cards}
    hits = [hit for hit in hits if hit.memory.content_hash not in on_cards]
    scored = {hit.memory: hit.score for hit in hits} | {one.memory: one.score for one in known}
    names = [name for m in mentions for name in (m.person.name, *m.person.aliases)]
    former = [one for one in _former(end_user, message, scored, names) if one.memory not in scored]
    return found_memories([*known, *former], hits, end_user)


def _former(
    end_user: EndUser, message: str, scored: Mapping[Memory, float], names: Iterable[str]
) -> list[PersonMemory]:
    """Returns the outdated memories that were replaced by those of ``scored`` (memories with their
    scores) that the message is about: by a word or the attribute that it asks for, not by a name
    alone. One statement; none if the message is about none that replaced another."""
    wanted = {*query_weights(message)} - {HAS_TIME}
    wanted.difference_update(*map(tokenise, names))
    relevant_scores = {
        m.pk: score
        for m, score in scored.items()
        if m.supersedes is not False
        and not wanted.isdisjoint([*own(m.tokens), *(f"about:{fact['key']}" for fact in m.facts)])
    }
    if not relevant_scores:
        return []
    params = {"end_user": end_user.pk, "newer": list(relevant_scores), "most": MOST_FORMER}
    reason = Reason("no_longer_true")
    rows: Any = Memory.objects.raw(_SQL["former"], params)
    return [
        PersonMemory(memory, FORMER_SHARE * relevant_scores[memory.newer], reason)
        for memory in rows
    ]


def found_memories(
    found: Sequence[PersonMemory], hits: Sequence[Hit], end_user: EndUser
) -> list[FoundMemory]:
    """Returns each memory once, best first; ``found`` decides score and reason before ``hits``."""
    by_search = {hit.memory.id: hit for hit in hits}
    memories = []
    for one in found:
        hit = by_search.pop(one.memory.id, None)
        memories.append(FoundMemory(one.memory, _injected(one, hit, end_user), one, hit))
    memories += [
        FoundMemory(hit.memory, _injected(hit, hit, end_user), None, hit)
        for hit in by_search.values()
    ]
    return sorted(memories, key=lambda memory: -memory.injected.score)


def _injected(item: PersonMemory | Hit, hit: Hit | None, end_user: EndUser) -> InjectedMemory:
    memory = item.memory
    ended_at = memory.valid_to or memory.outdated_at or memory.updated_at
    is_over = memory.status == Memory.Status.OUTDATED
    return InjectedMemory(
        id=memory.id,
        content=memory.content,
        score=round(item.score, 4),
        reason=str(item.reason),
        said_on=memory.said_there.date().isoformat(),
        outdated_on=timezone.localdate(ended_at, end_user.zone).isoformat() if is_over else None,
        relevance=round(hit.relevance.likely, 3) if hit and hit.relevance else None,
        ended=() if is_over else _ended_facts(memory, end_user),
        speaker="" if memory.brackets is None else memory.speaker,
    )


def _ended_facts(memory: Memory, end_user: EndUser) -> tuple[str, ...]:
    """Returns the facts of a memory that are no longer true, each with the month when it ended."""
    language = end_user.writing_language
    facts = (memory.stored_fact(row) for row in memory.facts if "outdated_at" in row)
    return tuple(
        f"{label(fact.key, language)} {fact.value}, {wording(language)['until'].format(month)}"
        for fact in facts
        if fact.valid_to
        for month in [timezone.localdate(fact.valid_to, end_user.zone).isoformat()[:7]]
    )
