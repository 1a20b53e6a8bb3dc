"""Builds a context: message → who is meant → cards and memories → the text for a system prompt.

Finding who is meant and rendering their cards takes at most two SQL statements and no
model. Memories about them come next: linked ones first, a text fallback for those not
linked yet, then hybrid search, which embeds the message and can be left out. If nobody is
named, the results of the search may show who is meant. If that is uncertain, a model is asked
meanwhile; memories are looked up again only if it names other people.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F
from django.utils import timezone
from prometheus_client import Histogram

from accounts import tracing
from accounts.best_effort import best_effort
from accounts.cells import atomic
from accounts.models import App, EndUser
from accounts.scope import user_scope
from contacts import store
from contacts.lookup import People, look_up
from memories import own_card, queue
from memories.context import memory_vote, what, who
from memories.context.render import (
    Block,
    InjectedContact,
    InjectedDate,
    InjectedMemory,
    not_found,
    render,
)
from memories.context.request import ALL, ContextRequest
from memories.context.what import FoundMemory, PeopleMemories
from memories.corrections import erasure_requests
from memories.models import Erasure, Injected, Memory, Retrieval
from memories.providers.factory import embedder, resolving_provider
from memories.search.query_vectors import QueryVectors
from memories.search.recall import Hit
from understanding.lexicon.rules import content
from understanding.people.mentions import entries_of, find_mentions
from understanding.requests import forget_reading
from understanding.statements.fence import WORDS
from understanding.types import Mention, Person

# Whether this process has loaded what contexts read; before that there is no deadline.
is_warm = False
JUST_NOW = timedelta(minutes=30)  # how long the model is told that something was forgotten
# The steps of a context, in order; ``embedding`` is the time spent waiting for it.
STEPS = ("who", "model", "linked", "embedding", "search", "prompt")
# The outcomes of a context: whether it was searched (Injection.searched), or that it failed.
FAILED = "failed"
OUTCOMES = ("yes", "words", "late", "no", FAILED)
# For this process alone, labelled with its number: each request for /metrics reaches another
# process of a site, whose counts must not be taken for those of one.
SECONDS = Histogram(
    "mio_context_seconds",
    "Seconds that contexts took which applications asked for.",
    ["process", "outcome"],
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=None,
)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What the user asked in a chat to forget: ``hidden``, then ``erased``. While it is hidden
    an undo of ``change_id`` restores it, until ``erased_after``. ``memories`` and ``contacts``
    are counts; ``undecided`` counts messages and contacts that may be about forgotten people.
    State ``not_found``: nothing stored was meant; ``unclear``: it is unknown what is meant.
    ``missing``: the words of the request for which nothing is stored."""

    id: UUID
    state: str
    memories: int
    contacts: int
    undecided: int
    missing: list[str]
    requested_at: datetime
    erased_after: datetime
    change_id: UUID | None


@dataclass(frozen=True, slots=True)
class Injection:
    """``system_prompt`` is empty if there is nothing to say. ``resolved`` says what decided who is
    meant (:data:`memories.context.who.Resolved`), ``timing`` how long each step took, in
    milliseconds. ``searched``: ``yes``, ``words`` (the message could not be embedded),
    ``late`` (the search would have ended after the deadline and was left out) or ``no``."""

    system_prompt: str = ""
    user_card: str = ""
    contacts: tuple[InjectedContact, ...] = ()
    memories: tuple[InjectedMemory, ...] = ()
    forgetting: tuple[Forgetting, ...] = ()
    dates: tuple[InjectedDate, ...] = ()
    timing_ms: float = 0.0
    resolved: str = "fast"
    searched: str = "no"
    timing: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trace:
    """How an injection came about. ``block`` is its text in parts, None without a user;
    ``found_memories`` are the best first; ``about`` is None if nobody's memories were looked up."""

    injection: Injection
    block: Block | None = None
    mentions: tuple[Mention, ...] = ()
    found_memories: tuple[FoundMemory, ...] = ()
    about: PeopleMemories | None = None


@dataclass(frozen=True, slots=True)
class _Found:
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
    clock = _Clock()
    if end_user is None:
        return Trace(Injection(timing_ms=clock.total_ms))
    deadline = request.deadline_ms
    if deadline is None:  # a process that is still loading its models has none
        deadline = settings.MIO_CONTEXT_DEADLINE_MS if is_warm else 0
    embedding = what.embed(request, clock.began + deadline / 1000 if deadline else None)
    turns = who.turns_of(end_user, request.session_id, request.history)
    with clock.step("who"):
        keep = settings.MIO_KEEP_CARDS if request.keep_cards is None else request.keep_cards
        stay_messages = keep if "cards" in request.include else 0
        fast = look_up(end_user, request.message, turns, stay_messages)
    opinion = who.Opinion(fast.mentions)
    asked: who.Question | who.Opinion = opinion
    if (request.resolve or settings.MIO_RESOLVE) != "fast":
        with clock.step("model"):
            asked = who.ask(end_user, request, fast, turns)
    meant = opinion.meant
    found = _find_memories(end_user, request, meant, embedding, clock)
    if isinstance(asked, who.Opinion):
        opinion = asked
        clock.steps.pop("model", None)  # no model was asked
    else:
        with clock.step("model"):
            opinion = asked.opinion()
        if opinion.meant.keys() != meant.keys():
            meant = opinion.meant
            found = _find_memories(end_user, request, meant, embedding, clock)
    voted = None
    if found.hits and embedding and not meant:
        voted = memory_vote.vote(request.message, found.hits, embedding.wait())
    people, contacts = who.decided(end_user, fast, opinion, voted)
    return _render_trace(end_user, request, people, contacts, opinion.resolved, found, clock)


def _find_memories(
    end_user: EndUser,
    request: ContextRequest,
    meant: Mapping[UUID, Person],
    embedding: QueryVectors | None,
    clock: "_Clock",
) -> _Found:
    """Returns the memories about the people who are meant, and what a search finds."""
    known = None
    if meant and "linked" in request.include:
        with clock.step("linked"):
            known = what.about_people(
                end_user, list(meant.values()), request.message, request.limit
            )
    if embedding is None:
        return _Found(known)
    waited = embedding.waited
    with clock.step("search"):
        hits, searched = what.search(end_user, request, embedding, list(meant), known)
    waited = embedding.waited - waited
    clock.steps["embedding"] += waited
    clock.steps["search"] -= waited
    return _Found(known, hits, searched)


def _render_trace(
    end_user: EndUser,
    request: ContextRequest,
    people: People,
    contacts: Sequence[InjectedContact],
    resolved: who.Resolved,
    found: _Found,
    clock: "_Clock",
) -> Trace:
    """Returns the prompt with the cards of these people and the memories found, and its trace."""
    with clock.step("prompt"):
        erasures = erasure_requests.reported(end_user)
        own_text = own_card.text_of(end_user) if "user" in request.include else ""
        shown = contacts if "cards" in request.include else []
        # A full card shows the dates itself, a compact one does not.
        on_card = {contact.id for contact in shown if contact.matched_by != "conversation"}
        near = people.near_dates if "dates" in request.include else ()
        known = found.about.found if found.about else []
        found_memories = what.candidates(
            end_user, request.message, known, found.hits, people.mentions, shown
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
        timing_ms=clock.total_ms,
        resolved=resolved,
        searched=found.searched,
        timing={name: round(clock.steps[name], 3) for name in STEPS if name in clock.steps},
    )
    found_memories = [
        replace(one, kept=one.memory.id in shown_ids, line=one.memory.id in block.lines)
        for one in found_memories
    ]
    return Trace(injection, block, tuple(people.mentions), tuple(found_memories), found.about)


def trace_for_speaker(end_user: EndUser, speaker: str, request: ContextRequest) -> Trace:
    """Returns what a model should know before it answers somebody else than the end user, in a chat
    of several people: what this speaker stated, and nothing that the user did."""
    clock = _Clock()
    bearers = store.find(end_user, speaker)
    own = bearers[0] if len(bearers) == 1 else None  # of several, it is unknown which
    names = {speaker, *((own.name, *own.aliases) if own else ())}
    stated = what.memories_of_speaker(end_user, names, request.message)
    found_memories = what.found_memories(stated, [], end_user)
    block = render(end_user.writing_language, request, [], [one.injected for one in found_memories])
    injection = Injection(str(block), memories=block.memories, timing_ms=clock.total_ms)
    return Trace(injection, block, found_memories=tuple(found_memories))


def measured_trace(end_user: EndUser | None, request: ContextRequest) -> Trace:
    """Returns ``trace``, and counts its time and outcome in the metrics."""
    started, outcome = time.perf_counter(), FAILED
    try:
        traced = trace(end_user, request)
        outcome = traced.injection.searched
        return traced
    finally:
        _outcomes(os.getpid())[outcome].observe(time.perf_counter() - started)


@cache
def _outcomes(process: int) -> dict[str, Histogram]:
    """Returns the histograms of a process by outcome; all are created at once, since the first
    failure is an increase from 0 only if 0 was reported before."""
    return {outcome: SECONDS.labels(str(process), outcome) for outcome in OUTCOMES}


def note_use(end_user: EndUser | None, traced: Trace, session_id: str = "") -> None:
    """Counts the injected memories as used (MIRA: they earn their persistence by it), and queues
    the linking of contacts with memories that name them unlinked. If the database rejects the
    write, that is logged with the end user's id, and the counts are lost."""
    memory_ids = [memory.id for memory in traced.injection.memories]
    if end_user is None or not (traced.about or memory_ids):
        return
    # A request has closed its scope when its answer is sent.
    with user_scope(end_user), best_effort("Use of the context of end user", end_user.pk):
        if traced.about is not None:
            for contact_id in traced.about.unlinked:
                queue.enqueue("link_backfill", str(contact_id), end_user_id=end_user.pk)
            column = "fallback" if traced.about.unlinked else "linked"
            day = Retrieval.objects.of(end_user).filter(day=timezone.localdate())
            if not day.update(**{column: F(column) + 1}):
                row = Retrieval(end_user=end_user, day=timezone.localdate(), **{column: 1})
                Retrieval.objects.bulk_create([row], ignore_conflicts=True)
        if memory_ids:
            Injected.objects.create(end_user=end_user, session_id=session_id, memory_ids=memory_ids)
            with atomic():
                # Memories that somebody is writing to are left out: nobody waits for a count, and
                # two that wait for each other would deadlock.
                free = Memory.objects.filter(pk__in=memory_ids)
                free = free.select_for_update(skip_locked=True, no_key=True, of=("self",))
                Memory.objects.filter(pk__in=free.values("pk")).update(
                    access_count=F("access_count") + 1,
                    last_accessed_at=timezone.now(),
                    last_accessed_day=end_user.activity_days,
                )


def forgetting(erasure: Erasure) -> Forgetting:
    """Returns an erasure as apps see it."""
    pending = erasure.state == Erasure.State.PENDING
    return Forgetting(
        id=erasure.id,
        state="hidden" if pending else erasure.state,
        memories=len(erasure.memory_ids),
        contacts=len(erasure.contact_ids),
        undecided=len(erasure.unsure_message_ids) + len(erasure.unsure_contact_ids),
        missing=erasure.missing,
        requested_at=erasure.requested_at,
        erased_after=erasure.due_at if pending else erasure.finished_at or erasure.due_at,
        change_id=erasure.change_id,
    )


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


def warm_up() -> None:
    """Builds a context in each language for an end user that no database has, which loads what
    contexts read; takes a second or two. No model server is asked."""
    global is_warm
    nobody = EndUser(pk=0, app=App())
    parts = [part for part in ALL if part != "search" or embedder().in_process]
    request = ContextRequest("", include=parts, resolve="fast")
    with user_scope(nobody):
        for texts in content(__file__).values():
            forget_reading.read(texts["request"])
            find_mentions(texts["turn"], entries_of([Person(uuid4(), texts["name"])]))
            history = [("user", texts["turn"])]
            trace(nobody, replace(request, message=texts["message"], history=history))
    resolving_provider()  # which loads the client of model servers, if one is set
    is_warm = True


class _Clock:
    """Measures the milliseconds of each step; steps of one name are added up."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.steps: dict[str, float] = defaultdict(float)

    @property
    def total_ms(self) -> float:
        return round((time.perf_counter() - self.began) * 1000, 3)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        with tracing.span(f"context {name}"):
            yield
        self.steps[name] += (time.perf_counter() - started) * 1000
