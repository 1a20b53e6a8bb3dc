"""Message → who is meant → cards and memories → the text for a system prompt.

Finding who is meant and rendering their cards takes at most two SQL statements and no
model. Memories about them come next: linked ones first, a text fallback for what is not
linked yet, then hybrid search, which embeds the message and can be left out. Where nobody is
named, what the search finds may tell who is meant. Where it is unsure who is, a model is asked
meanwhile; only if it says otherwise, memories are looked for again.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from accounts.models import EndUser
from contacts import store
from contacts.lookup import People
from memories import own_card
from memories.context import forget_notices, linked, timing, use, what, who
from memories.context.render import Block, InjectedContact, InjectedDate, render
from memories.context.request import ContextRequest
from memories.context.result import Injection, Trace, Way
from memories.context.timing import Clock, since
from memories.corrections import erasure_requests
from memories.models import Erasure
from understanding.types import Person


def build(end_user: EndUser | None, request: ContextRequest) -> Injection:
    """What a chat model should know before it answers the message. The memories injected count as
    used."""
    traced = trace(end_user, replace(request, heal=True))
    use.note_use(end_user, traced, request.session_id)
    return traced.injection


def trace(end_user: EndUser | None, request: ContextRequest) -> Trace:
    """What ``build`` gives for the same, and how it came about. Writes nothing, but for edges that
    are to ``heal``, and what a model was asked. An end user that was never seen has nothing."""
    started = time.perf_counter()
    if end_user is None:
        return Trace(Injection(timing_ms=since(started)))
    clock = Clock()
    embedding = what.embed(end_user, request)
    fast, asked = who.ask(end_user, request, clock)
    if embedding is not None:
        embedding.until = what.until(started, request.deadline_ms)

    def memories_of(meant: Mapping[UUID, Person]) -> what.Found:
        if meant:
            return what.about(end_user, request, meant, embedding, clock)
        return what.anything(end_user, request, embedding, clock)

    meant = who.meant(fast.mentions)
    found = memories_of(meant)
    opinion = who.answer(asked, clock)
    if (otherwise := who.meant(opinion.mentions)).keys() != meant.keys():
        found = memories_of(otherwise)
    people = who.decided(end_user, fast, opinion, found.voted)
    contacts = who.contacts_of(people)
    with clock.step("prompt"):
        erasures = erasure_requests.reported(end_user)
        own_text = (
            own_card.text_of(end_user, own_card.of(end_user)) if "user" in request.include else ""
        )
        ways, block = _prompt(end_user, request, people, contacts, found, own_text, erasures)
    kept = {memory.id for memory in block.memories}
    steps = tuple(clock.by_name())
    injection = Injection(
        system_prompt=str(block),
        user_card=own_text,
        contacts=tuple(contacts),
        memories=block.memories,
        forgetting=tuple(map(forget_notices.forgetting, erasures)),
        dates=block.dates,
        timing_ms=since(started),
        resolved=opinion.resolved,
        searched=found.searched,
        timing={step.name: round(step.ms, 3) for step in steps},
    )
    ways = [
        replace(way, kept=way.memory.id in kept, line=way.memory.id in block.lines) for way in ways
    ]
    return Trace(injection, block, tuple(people.mentions), tuple(ways), steps, found.about)


def measured_trace(end_user: EndUser | None, request: ContextRequest) -> Trace:
    """``trace``, counted with its time and outcome."""
    started, outcome = time.perf_counter(), timing.FAILED
    try:
        traced = trace(end_user, request)
        outcome = traced.injection.searched
        return traced
    finally:
        timing.outcomes_of(os.getpid())[outcome].observe(time.perf_counter() - started)


def trace_for_speaker(end_user: EndUser, speaker: str, request: ContextRequest) -> Trace:
    """What a model should know before it answers somebody else than the end user, in a chat of
    several: what they told themselves, and nothing that the user did."""
    started = time.perf_counter()
    bearers = store.find(end_user, speaker)
    own = bearers[0] if len(bearers) == 1 else None  # of several, nobody knows which
    names = {speaker, *((own.name, *own.aliases) if own else ())}
    ways = what.ways(linked.told_by(end_user, names, request.message), [], end_user)
    block = render(end_user.reads, request, [], [way.injected for way in ways])
    injection = Injection(str(block), memories=block.memories, timing_ms=since(started))
    return Trace(injection, block, ways=tuple(ways))


def _prompt(
    end_user: EndUser,
    request: ContextRequest,
    people: People,
    contacts: Sequence[InjectedContact],
    found: what.Found,
    own_text: str,
    erasures: Sequence[Erasure],
) -> tuple[list[Way], Block]:
    """All memories for the prompt, and the prompt."""
    shown = contacts if "cards" in request.include else []
    # Whoever has a card has it on the card, but for a compact one.
    on_card = {contact.id for contact in shown if contact.matched_by != "conversation"}
    near = people.near if "dates" in request.include else ()
    hits = what.without_those_on_cards(found.hits, shown)
    ways = what.candidates(end_user, request, found, people, hits)
    block = render(
        end_user.reads,
        request,
        shown,
        [way.injected for way in ways],
        notice=forget_notices.just_asked(erasures, request.session_id),
        dates=[InjectedDate(*date) for date in near if date.contact not in on_card],
        today=end_user.day_of_talk,
        own_card=own_text,
    )
    return ways, block
