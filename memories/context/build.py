"""Builds a context: message → who is meant → cards and memories → the text for a system prompt.

Finding who is meant and rendering their cards takes at most two SQL statements and no
model. Memories about them come next: linked ones first, a text fallback for those not
linked yet, then hybrid search, which embeds the message and can be left out. If nobody is
named, the results of the search may show who is meant. If that is uncertain, a model is asked
meanwhile; memories are looked up again only if it names other people.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.models import EndUser
from contacts import store
from contacts.lookup import People, look_up
from memories import own_card
from memories.context import clock, memory_vote, what, who
from memories.context.clock import STEPS, Clock
from memories.context.render import InjectedContact, InjectedDate, not_found, render
from memories.context.request import ContextRequest
from memories.context.types import Injection, PeopleMemories, Trace, forgetting
from memories.context.usage import note_use
from memories.corrections import erasure_requests
from memories.models import Erasure
from memories.search.query_vectors import QueryVectors
from memories.search.recall import Hit
from understanding.statements.fence import WORDS
from understanding.types import Person

JUST_NOW = timedelta(minutes=30)  # how long the model is told that something was forgotten


@dataclass(frozen=True, slots=True)
class _Memories:
    """The memories about the people meant and by search; ``searched`` as in Injection."""

    about: PeopleMemories | None = None
    hits: Sequence[Hit] = ()
    searched: str = "no"


def build(end_user: EndUser | None, request: ContextRequest) -> Injection:
    """Returns what a chat model should know before it answers the message. The injected memories
    count as used."""
    traced = trace(end_user, replace(request, heal=True))
    note_use(end_user, traced, request.session_id)
    return traced.injection


def trace(end_user: EndUser | None, request: ContextRequest) -> Trace:
    """Returns what ``build`` gives for the same, and how it came about. Writes nothing, except that
    it removes edges with ``heal`` and records model calls. Without an end user it is empty."""
    timer = Clock()
    if end_user is None:
        return Trace(Injection(timing_ms=timer.total_ms))
    deadline = request.deadline_ms
    if deadline is None:  # a process that is still loading its models has none
        deadline = settings.MIO_CONTEXT_DEADLINE_MS if clock.is_warm else 0
    embedding = what.embed(request, timer.began + deadline / 1000 if deadline else None)
    turns = who.turns_of(end_user, request.session_id, request.history)
    with timer.step("who"):
        keep = settings.MIO_KEEP_CARDS if request.keep_cards is None else request.keep_cards
        stay_messages = keep if "cards" in request.include else 0
        fast = look_up(end_user, request.message, turns, stay_messages)
    opinion = who.Opinion(fast.mentions)
    asked: who.Question | who.Opinion = opinion
    if (request.resolve or settings.MIO_RESOLVE) != "fast":
        with timer.step("model"):
            asked = who.ask(end_user, request, fast, turns)
    meant = opinion.meant
    memories = _find_memories(end_user, request, meant, embedding, timer)
    if isinstance(asked, who.Opinion):
        opinion = asked
        timer.steps.pop("model", None)  # no model was asked
    else:
        with timer.step("model"):
            opinion = asked.opinion()
        if opinion.meant.keys() != meant.keys():
            meant = opinion.meant
            memories = _find_memories(end_user, request, meant, embedding, timer)
    voted = None
    if memories.hits and embedding and not meant:
        voted = memory_vote.vote(request.message, memories.hits, embedding.wait())
    people, contacts = who.decided(end_user, fast, opinion, voted)
    return _render_trace(end_user, request, people, contacts, opinion.resolved, memories, timer)


def _find_memories(
    end_user: EndUser,
    request: ContextRequest,
    meant: Mapping[UUID, Person],
    embedding: QueryVectors | None,
    timer: Clock,
) -> _Memories:
    """Returns the memories about the people who are meant, and what a search finds."""
    about = None
    if meant and "linked" in request.include:
        with timer.step("linked"):
            about = what.about_people(
                end_user, list(meant.values()), request.message, request.limit
            )
    if embedding is None:
        return _Memories(about)
    waited = embedding.waited
    with timer.step("search"):
        hits, searched = what.search(end_user, request, embedding, list(meant), about)
    waited = embedding.waited - waited
    timer.steps["embedding"] += waited
    timer.steps["search"] -= waited
    return _Memories(about, hits, searched)


def _render_trace(
    end_user: EndUser,
    request: ContextRequest,
    people: People,
    contacts: Sequence[InjectedContact],
    resolved: who.Resolved,
    memories: _Memories,
    timer: Clock,
) -> Trace:
    """Returns the prompt with the cards of these people and the memories found, and its trace."""
    with timer.step("prompt"):
        erasures = erasure_requests.reported(end_user)
        own_text = own_card.text_of(end_user) if "user" in request.include else ""
        shown = contacts if "cards" in request.include else []
        # A full card shows the dates itself, a compact one does not.
        on_card = {contact.id for contact in shown if contact.matched_by != "conversation"}
        near = people.near_dates if "dates" in request.include else ()
        linked = memories.about.found if memories.about else []
        found_memories = what.candidates(
            end_user, request.message, linked, memories.hits, people.mentions, shown
        )
        block = render(
            end_user.writing_language,
            request,
            shown,
            [one.injected for one in found_memories],
            notices=_notices(erasures, request.session_id, end_user.writing_language),
            dates=[InjectedDate(*date) for date in near if date.contact not in on_card],
            today=end_user.day_of_talk,
            own_card=own_text,
        )
    shown_ids = {memory.id for memory in block.memories}
    injection = Injection(
        system_prompt=str(block),
        user_card=own_text,
        contacts=tuple(contacts),
        memories=block.memories,
        forgetting=tuple(map(forgetting, erasures)),
        dates=block.dates,
        timing_ms=timer.total_ms,
        resolved=resolved,
        searched=memories.searched,
        timing={name: round(timer.steps[name], 3) for name in STEPS if name in timer.steps},
    )
    found_memories = [
        replace(one, kept=one.memory.id in shown_ids, line=one.memory.id in block.lines)
        for one in found_memories
    ]
    return Trace(injection, block, tuple(people.mentions), tuple(found_memories), memories.about)


def _notices(erasures: Sequence[Erasure], session_id: str, language: str) -> list[str]:
    """Returns the outcome of this session's latest request to forget, if it is recent."""
    since = timezone.now() - JUST_NOW
    latest = next(
        (row for row in erasures if row.session_id == session_id and row.requested_at > since), None
    )
    if latest is None:
        return []
    if latest.state == Erasure.State.UNCLEAR:
        return [WORDS[language]["unclear"]]
    is_not_found = latest.state == Erasure.State.NOT_FOUND
    missing = [not_found(latest.missing, language)] if is_not_found or latest.missing else []
    return missing if is_not_found else [WORDS[language]["forgotten"], *missing]


def trace_for_speaker(end_user: EndUser, speaker: str, request: ContextRequest) -> Trace:
    """Returns what a model should know before it answers somebody else than the end user, in a chat
    of several people: what this speaker stated, and nothing that the user did."""
    timer = Clock()
    bearers = store.find(end_user, speaker)
    own = bearers[0] if len(bearers) == 1 else None  # of several, it is unknown which
    names = {speaker, *((own.name, *own.aliases) if own else ())}
    stated = what.memories_of_speaker(end_user, names, request.message)
    found_memories = what.found_memories(stated, [], end_user)
    block = render(end_user.writing_language, request, [], [one.injected for one in found_memories])
    injection = Injection(str(block), memories=block.memories, timing_ms=timer.total_ms)
    return Trace(injection, block, found_memories=tuple(found_memories))


def measured_trace(end_user: EndUser | None, request: ContextRequest) -> Trace:
    """Returns ``trace``, and counts its time and outcome in the metrics."""
    started, outcome = time.perf_counter(), clock.FAILED
    try:
        traced = trace(end_user, request)
        outcome = traced.injection.searched
        return traced
    finally:
        clock.outcomes(os.getpid())[outcome].observe(time.perf_counter() - started)
