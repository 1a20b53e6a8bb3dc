"""Memories about mentioned people: linked ones first, text only for what is not linked yet."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import EndUser
from accounts.reasons import Reason
from memories import queue
from memories.models import Link, Memory, Retrieval
from memories.search import concepts
from memories.search.sql import fetch
from memories.search.tokens import own, query_tokens, tokenise
from understanding.names import name_key
from understanding.types import Person

# How many of a contact's latest memories compete for a place in the prompt: bounds the cost
# whatever the contact's history is. Older ones are on the card, or found by search.
WINDOW = 40
# A memory that shares words with the message is wanted more than one that is merely new.
OVERLAP_WEIGHT, IMPORTANCE_WEIGHT, RECENCY_WEIGHT = 0.5, 0.3, 0.2


@dataclass(frozen=True, slots=True)
class Found:
    """``score`` is in 0..1. ``names``: the contact that an unlinked memory names."""

    memory: Memory
    score: float
    reason: Reason
    names: UUID | None = None


@dataclass(frozen=True, slots=True)
class About:
    """``unlinked``: the contacts for whom links were not enough."""

    found: list[Found]
    unlinked: tuple[UUID, ...]


def about_people(end_user: EndUser, people: Sequence[Person], message: str, limit: int) -> About:
    """The memories about these people that fit the message best, at most ``limit``.

    Phase one follows the links. Only where they give fewer than ``limit`` does phase two
    look for memories that name the contact and are not linked yet, by a statement each.
    """
    params: dict[str, Any] = {
        "end_user": end_user.pk,
        "contacts": [person.id for person in people],
        "window": WINDOW,
    }
    linked: dict[UUID, Memory] = {}
    for *columns, supersedes in fetch(_LATEST, params):
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
    best = sorted(found, key=lambda item: (-item.score, str(item.memory.id)))[:limit]
    return About(best, tuple(unlinked))


def told_by(end_user: EndUser, names: Collection[str], message: str) -> list[Found]:
    """The latest memories that somebody of these names told themselves, the best for the message
    first. One statement."""
    rows = Memory.objects.of(end_user).active().facts().filter(speaker__in=names)
    latest = rows.only(*Memory.SHOWN).order_by("-said_at", "pk")[:WINDOW]
    found = _ranked(list(latest), message, Reason("linked"))
    return sorted(found, key=lambda item: (-item.score, str(item.memory.id)))


# At most so many memories that are no longer true are told beside what took their place.
MOST_FORMER = 3
# What one of these has of the score of its successor: it stands right below it.
FORMER_SHARE = 0.95
_FORMER = f"""
SELECT {", ".join(f"m.{column}" for column in Memory.SHOWN)}, e.source_id AS newer
FROM memories_edge e JOIN memories_memory m ON m.id = e.target_id
WHERE e.end_user_id = %(end_user)s AND e.source_id = ANY(%(newer)s) AND e.kind = 'supersedes'
    AND NOT e.inverse AND m.status = 'outdated'
ORDER BY m.outdated_at DESC LIMIT %(most)s
"""  # noqa: S608 only constants are put together


def former(
    end_user: EndUser, message: str, scored: Mapping[Memory, float], names: Iterable[str]
) -> list[Found]:
    """What those of these memories (with their scores) took the place of that the message is
    about: by a word, or the attribute that it asks for, and not by a name alone. One statement,
    none where the message is about none of them, or these took nobody's place."""
    wanted = {*query_tokens(message)} - {concepts.HAS_TIME}
    wanted.difference_update(*map(tokenise, names))
    asked = {
        m.pk: score
        for m, score in scored.items()
        if m.supersedes is not False and not wanted.isdisjoint(_told(m))
    }
    if not asked:
        return []
    params = {"end_user": end_user.pk, "newer": list(asked), "most": MOST_FORMER}
    reason = Reason("no_longer_true")
    rows: Any = Memory.objects.raw(_FORMER, params)
    return [Found(memory, FORMER_SHARE * asked[memory.newer], reason) for memory in rows]


def _told(memory: Memory) -> list[str]:
    """The words of a memory, and the attributes that it states."""
    return [*own(memory.tokens), *(f"about:{fact['key']}" for fact in memory.facts)]


def said_not_to_be_about(
    end_user: EndUser, people: Collection[UUID], memories: Collection[UUID]
) -> set[UUID]:
    """Those of the memories that somebody said are not about one of these people. One statement."""
    links = Link.objects.of(end_user).filter(contact__in=people, memory__in=memories, rejected=True)
    return set(links.values_list("memory", flat=True))


def note(end_user: EndUser, about: About) -> None:
    """Hands contacts for whom links were not enough to the background linker, so that the
    fallback is needed less and less, and counts how often it was."""
    for contact_id in about.unlinked:
        queue.enqueue("link_backfill", str(contact_id), end_user_id=end_user.pk)
    _count(end_user, bool(about.unlinked))


# Written by hand, because to put it together took longer than to run it.
_LATEST = f"""
SELECT {", ".join(Memory.SHOWN)}, EXISTS (
    SELECT FROM memories_edge e
    WHERE e.source_id = m.id AND e.kind = 'supersedes' AND NOT e.inverse)
FROM memories_memory m
WHERE end_user_id = %(end_user)s AND status = 'active' AND kind = 'fact' AND id = ANY(ARRAY(
    SELECT memory_id FROM unnest(%(contacts)s::uuid[]) AS c (id) CROSS JOIN LATERAL (
        SELECT memory_id FROM memories_link
        WHERE contact_id = c.id AND NOT rejected ORDER BY id DESC LIMIT %(window)s) latest))
"""  # noqa: S608 only constants are put together


def _ranked(
    memories: Sequence[Memory], message: str, reason: Reason, names: UUID | None = None
) -> list[Found]:
    wanted = set(query_tokens(message))
    newest_first = sorted(memories, key=lambda memory: (memory.said_at, memory.id), reverse=True)
    return [
        Found(
            memory,
            OVERLAP_WEIGHT * _overlap(wanted, memory.tokens)
            + IMPORTANCE_WEIGHT * memory.importance
            + RECENCY_WEIGHT / (1 + place),
            reason,
            names,
        )
        for place, memory in enumerate(newest_first)
    ]


def _overlap(wanted: set[str], tokens: Sequence[str]) -> float:
    """The share of the message's words that the memory holds itself, in 0..1. That it has a
    time, any time, is no word of it."""
    held = wanted.intersection(own(tokens)) - {concepts.HAS_TIME}
    return len(held) / len(wanted) if wanted else 0.0


def _count(end_user: EndUser, fell_back: bool) -> None:
    """Notes for the day whether links were enough, so that operators see the fallback fade."""
    column = "fallback" if fell_back else "linked"
    today = timezone.localdate()
    noted = Retrieval.objects.of(end_user).filter(day=today)
    if not noted.update(**{column: F(column) + 1}):
        Retrieval.objects.bulk_create(
            [Retrieval(end_user=end_user, day=today, **{column: 1})], ignore_conflicts=True
        )


def unlinked_naming(end_user_id: int, person: Person) -> QuerySet[Memory]:
    """The active memories that hold one of the contact's names as words and have no link to
    it, not even a rejected one, nor to a namesake, whom they are known to mean."""
    wanted = [tokens for name in (person.name, *person.aliases) if (tokens := tokenise(name))]
    named = Memory.objects.none()
    for tokens in wanted:
        named |= Memory.objects.holding(end_user_id, tokens)
    theirs = Link.objects.standing().filter(
        memory=OuterRef("pk"), contact__name_key=name_key(person.name)
    )
    return (
        named.of(end_user_id)
        .active()
        .facts()
        .exclude(links__contact=person.id)
        .exclude(Exists(theirs))
    )
