"""Message → mentions → cards and memories → the text for a system prompt.

Finding who is meant and rendering their cards takes at most two SQL statements and no
model. Memories about them come next: linked ones first, a text fallback for what is not
linked yet, then hybrid search, which embeds the message and can be left out. Where nobody is
named, what the search finds may tell who is meant. Where it is unsure who is, a model is asked
meanwhile; only if it says otherwise, memories are looked for again.

``trace`` only reads and tells how it came to its result; ``note`` writes what is to be remembered
of it, which nobody waits for; ``build`` does both.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from accounts.best_effort import best_effort
from accounts.cells import atomic
from accounts.models import EndUser
from accounts.scope import user_scope
from contacts import lookup, store
from contacts.cards import compact
from memories import own_card
from memories.context import linked, memory_vote, model_resolution, pace, timing
from memories.context.model_resolution import Opinion, Question
from memories.context.render import (
    NOTHING,
    InjectedContact,
    InjectedDate,
    InjectedMemory,
    Told,
    render,
)
from memories.context.timing import Clock, Step, since
from memories.corrections import erasure_requests
from memories.models import Erasure, Injected, Memory, Message
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.neighbour_turns import PAUSE
from memories.search.outdated_weight import asks_past
from memories.search.query_vectors import LateError, QueryVectors
from memories.search.ranking import Hit
from memories.types import CONTACT
from understanding.attributes import label
from understanding.statements.client_text import without_client_text
from understanding.statements.own_words import without_injected
from understanding.statements.small_talk import greets
from understanding.types import Mention, Person

ALL = ("user", "cards", "linked", "search", "dates")
_WITH_HISTORY = [Memory.Status.ACTIVE, Memory.Status.OUTDATED]
_UNTIL = {"en": "until {}", "zh": "到{}为止"}
JUST_NOW = timedelta(minutes=30)  # so long the model is told that something was forgotten


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What the user asked in a chat to forget: ``hidden``, then ``erased``. While it is hidden
    an undo of ``change_id`` brings it back, until ``erased_after``. ``memories`` and
    ``contacts`` are how many; ``undecided`` are so many messages and contacts that may be
    about forgotten people. ``not_found``: nothing that is kept was meant. ``unclear``: what
    is meant could not be told. ``missing``: of what was asked for, this is not kept."""

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
    """``system_prompt`` is empty when there is nothing to say. ``resolved`` says whose answer it is
    who is meant (:data:`memories.context.model_resolution.Resolved`), ``timing`` what each step
    took, in milliseconds. ``searched``: ``yes``, ``words`` (the message could not be embedded),
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
class Way:
    """How a memory was found: about a person in the message, by search, or both. ``kept``:
    it found room; ``line``: it has a line of its own, not only one on a card."""

    memory: Memory
    injected: InjectedMemory
    found: linked.Found | None
    hit: Hit | None
    kept: bool = False
    line: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """How an injection came about. ``ways`` are all memories found, the best first; ``about``
    is None where nobody's memories were looked for."""

    injection: Injection
    mentions: tuple[Mention, ...] = ()
    ways: tuple[Way, ...] = ()
    steps: tuple[Step, ...] = ()
    about: linked.About | None = None


def build(
    end_user: EndUser | None, message: str, *, session_id: str = "", **options: Any
) -> Injection:
    """What a chat model should know before it answers ``message``, with the ``options`` of
    ``trace``. The memories injected count as used."""
    traced = trace(end_user, message, session_id=session_id, heal=True, **options)
    note(end_user, traced, session_id)
    return traced.injection


def note(end_user: EndUser | None, traced: Trace, session_id: str = "") -> None:
    """Counts the memories injected as used, and people whom links don't suffice for go to the
    linker. What the database doesn't take is logged with the end user's id, and lost."""
    if end_user is None or not (traced.about or traced.injection.memories):
        return
    # A request has closed its scope when its answer is sent.
    with user_scope(end_user), best_effort("Use of the context of end user", end_user.pk):
        if traced.about is not None:
            linked.note(end_user, traced.about)
        _note_access(end_user, traced.injection.memories, session_id)


def trace_for_speaker(
    end_user: EndUser, speaker: str, message: str, *, limit: int = 10, token_budget: int = 1500
) -> Trace:
    """What a model should know before it answers somebody else than the end user, in a chat of
    several: what they told themselves, and nothing that the user did."""
    started = time.perf_counter()
    bearers = store.find(end_user, speaker)
    own = bearers[0] if len(bearers) == 1 else None  # of several, nobody knows which
    names = {speaker, *((own.name, *own.aliases) if own else ())}
    ways = _ways(linked.told_by(end_user, names, message), [], end_user)
    block = render(end_user.reads, [], [way.injected for way in ways], limit, token_budget)
    injection = Injection(block.text, memories=block.kept, timing_ms=since(started))
    return Trace(injection, ways=tuple(ways))


def trace(
    end_user: EndUser | None,
    message: str,
    *,
    session_id: str = "",
    history: Sequence[tuple[str, str]] = (),
    limit: int = 10,
    token_budget: int = 1500,
    include: Collection[str] = ALL,
    keep_cards: int | None = None,
    resolve: str | None = None,
    resolve_budget_ms: int = pace.BUDGET_MS,
    deadline_ms: int | None = None,
    heal: bool = False,
) -> Trace:
    """What ``build`` gives for the same, and how it came about. Writes nothing, but for edges
    that are to ``heal`` on the way, and what a model was asked.

    ``history`` are (role, content) turns before the message; what of the session is stored and older
    is read as well. ``limit`` bounds the memories, ``token_budget`` the whole text; cards come first.
    Whoever the talk is about keeps a compact one for ``keep_cards`` messages (default: as set).
    Where it is unsure who is meant, a model is asked, and waited for ``resolve_budget_ms`` at most:
    with ``resolve`` "auto" unless it turned out too slow, with "model" always, with "fast" never
    (default: as set). After ``deadline_ms`` (default: as set, 0 for none) no search is begun or
    waited for; an end user that was never seen has nothing.
    """
    started = time.perf_counter()
    if end_user is None:
        return Trace(Injection(timing_ms=since(started)))
    clock = Clock()
    searches = "search" in include and not greets(message)
    embedding = QueryVectors(embedder(), message, end_user.pk) if searches else None
    with clock.step("who"):
        turns = cache(_turns(end_user, session_id, history))
        stay = settings.MIO_KEEP_CARDS if keep_cards is None else keep_cards
        people = lookup.look_up(end_user, message, turns, stay if "cards" in include else 0)
        mentions, known = people.mentions, people.cards
    how = resolve or settings.MIO_RESOLVE
    opinion: Opinion | Question = Opinion(mentions, {}, "fast")
    if how != "fast":
        with clock.step("model"):
            opinion = model_resolution.ask(
                end_user, message, people, turns, resolve_budget_ms, however_slow=how == "model"
            )
        if not isinstance(opinion, Question):
            clock.steps.pop()  # nobody was asked
    if embedding is not None:
        embedding.until = _until(started, deadline_ms)
    look = partial(_look, end_user, message, embedding, clock, limit, heal, "linked" in include)
    looked = look(mentions)
    if isinstance(opinion, Question):
        with clock.step("model"):
            opinion = opinion.opinion()
        if _meant(opinion.mentions).keys() != _meant(mentions).keys():
            looked = look(opinion.mentions)
    mentions, known = list(opinion.mentions), {**known, **opinion.cards}
    if looked.voted is not None:
        voted = looked.voted.mention
        mentions = [*(m for m in mentions if m.person.id != voted.person.id), voted]
        known |= lookup.cards_of(end_user, {voted.person.id: looked.voted.known})
    contacts, about, hits = _contacts(mentions, known), looked.about, looked.hits
    with clock.step("prompt"):
        shown = contacts if "cards" in include else []
        # Whoever has a card has it on the card, but for a compact one.
        told = {contact.id for contact in shown if contact.matched_by != "conversation"}
        near = [date for date in people.near if "dates" in include and date.contact not in told]
        on_cards = {f"profile:{contact.id}" for contact in shown}
        found = about.found if about else []
        hits = [hit for hit in hits if hit.memory.content_hash not in on_cards]
        scored = {hit.memory: hit.score for hit in hits} | {one.memory: one.score for one in found}
        names = [name for one in mentions for name in (one.person.name, *one.person.aliases)]
        before = linked.former(end_user, message, scored, names)
        ways = _ways([*found, *(one for one in before if one.memory not in scored)], hits, end_user)
        asked = erasure_requests.reported(end_user)
        own_text = own_card.text_of(end_user, own_card.of(end_user)) if "user" in include else ""
        block = render(
            end_user.reads,
            shown,
            [way.injected for way in ways],
            limit,
            token_budget,
            _just_asked(asked, session_id),
            [InjectedDate(*date) for date in near],
            end_user.day_of_talk,
            own_text,
        )
    forgotten = tuple(map(forgetting, asked))
    kept = {memory.id for memory in block.kept}
    return Trace(
        Injection(
            block.text,
            own_text,
            tuple(contacts),
            block.kept,
            forgotten,
            block.dates,
            since(started),
            opinion.resolved,
            looked.searched,
            {step.name: round(step.ms, 3) for step in clock.by_name()},
        ),
        tuple(mentions),
        tuple(
            replace(way, kept=way.memory.id in kept, line=way.memory.id in block.lines)
            for way in ways
        ),
        tuple(clock.by_name()),
        about,
    )


@dataclass(frozen=True, slots=True)
class _Looked:
    """The memories found about those meant and by search; ``searched`` as an Injection has it.
    ``voted`` is whom the hits mean, where nobody else is meant."""

    about: linked.About | None
    hits: list[Hit]
    searched: str
    voted: memory_vote.Voted | None = None


def _look(
    end_user: EndUser,
    message: str,
    embedding: QueryVectors | None,
    clock: Clock,
    limit: int,
    heal: bool,
    with_linked: bool,
    mentions: Sequence[Mention],
) -> _Looked:
    meant, about = _meant(mentions), None
    if with_linked and meant:
        with clock.step("linked"):
            about = linked.about_people(end_user, list(meant.values()), message, limit)
    # Where little is known of those who are meant, what is asked for may be told of others.
    looks_wider = about is not None and len(about.found) < limit
    hits: list[Hit] = []
    searched, voted = "no", None
    if embedding is not None:
        searched, waited = "late", embedding.waited
        with clock.step("search"), suppress(LateError):
            hits = recall.search(
                end_user,
                message,
                embedder=embedder(),
                embedding=embedding,
                limit=limit,
                contact_ids=[] if looks_wider else list(meant),
                statuses=_WITH_HISTORY if asks_past(message) else [Memory.Status.ACTIVE],
                heal=heal,
                floor=relevance.FLOOR,
                with_people=not meant,
            )
            if looks_wider and hits:
                ids = [hit.memory.id for hit in hits]
                others = linked.said_not_to_be_about(end_user, list(meant), ids)
                hits = [hit for hit in hits if hit.memory.id not in others]
            searched = "words" if embedding.failed else "yes"
            # Where somebody is named, others in what is known of the matter are not meant.
            voted = None if meant else memory_vote.meant(message, hits, embedding.wait())
        clock.split("search", "embedding", embedding.waited - waited)
    return _Looked(about, hits, searched, voted)


def _meant(mentions: Iterable[Mention]) -> dict[UUID, Person]:
    """The people whom a message itself means, by their ids."""
    return {m.person.id: m.person for m in mentions if m.how != "conversation"}


def _until(begun: float, deadline_ms: int | None) -> float | None:
    """Until when a context that was begun then waits for its search. A process that is still
    loading what it reads texts with is not held to what is set."""
    if deadline_ms is None:
        deadline_ms = settings.MIO_CONTEXT_DEADLINE_MS if timing.is_warm else 0
    return begun + deadline_ms / 1000 if deadline_ms else None


def _ways(found: Sequence[linked.Found], hits: Sequence[Hit], end_user: EndUser) -> list[Way]:
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


def forgetting(erasure: Erasure) -> Forgetting:
    """An erasure as apps see it."""
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


def _just_asked(asked: Sequence[Erasure], session_id: str) -> Told:
    """What became of the latest request of this session, if it was made a moment ago."""
    since = timezone.now() - JUST_NOW
    for one in asked:
        if one.session_id == session_id and one.requested_at > since:
            if one.state == Erasure.State.UNCLEAR:
                return Told(unclear=True)
            nothing = one.state == Erasure.State.NOT_FOUND
            return Told(not nothing, tuple(one.missing) if nothing or one.missing else None)
    return NOTHING


def _turns(end_user: EndUser, session_id: str, history: Sequence[tuple[str, str]]) -> lookup.Turns:
    """Reads the stored session only when it is asked for, and where ``history`` is shorter than
    what is read of a session. Nobody is meant by what was injected, where an app puts it into a
    message."""

    def read() -> tuple[list[lookup.Turn], list[lookup.Turn]]:
        if len(history) >= lookup.HISTORY:
            return _own([lookup.Turn(*turn) for turn in history]), []
        session, before = stored_turns(end_user, session_id)
        if history:
            session, before = _continued(session, history, named=bool(session_id)), []
        return _own(session), _own(before)

    return read


def _continued(
    stored: Sequence[lookup.Turn], given: Sequence[tuple[str, str]], *, named: bool
) -> list[lookup.Turn]:
    """The given turns behind those of the stored session that are older; each given one that is
    stored with what is stored of it. Where the session has no name and none of the given is
    stored, it is another."""
    older, turns, known = len(stored), list[lookup.Turn](), named
    for role, text in reversed(given):
        at = next((at for at in range(older - 1, -1, -1) if stored[at].text == text), None)
        if at is not None:
            older, known = at, True
        turns.append(stored[at] if at is not None else lookup.Turn(role, text))
    return [*(stored[:older] if known else ()), *reversed(turns)][-lookup.HISTORY :]


def _own(turns: Sequence[lookup.Turn]) -> list[lookup.Turn]:
    """The turns without what was injected, and of the user's without what a client wrote."""
    return [
        turn._replace(
            text=without_injected(
                without_client_text(turn.text) if turn.role == Message.Role.USER else turn.text
            )
        )
        for turn in turns
    ]


def stored_turns(end_user: EndUser, session_id: str) -> tuple[list[lookup.Turn], list[lookup.Turn]]:
    """The latest turns of the session, however old, and those of the latest other session, oldest
    first. Where an app names no sessions, a pause ends one. One statement."""
    latest = end_user.messages.order_by("-seq").values_list(
        "session_id", "role", "content", "created_at", "understood", "speaker", "received_at", "seq"
    )
    stored = latest[: 2 * lookup.HISTORY]
    if session_id:
        stored = stored.union(latest.filter(session_id=session_id)[: lookup.HISTORY])
    rows = sorted(stored, key=lambda row: row[-1])
    ended = not session_id and rows and rows[-1][-2] < timezone.now() - PAUSE
    current = [] if ended else [row for row in rows if row[0] == session_id]
    others = rows if ended else [row for row in rows if row[0] != session_id]
    last = [row for row in others if row[0] == others[-1][0]]
    return _said(current), _said(last)


def _said(
    rows: Sequence[tuple[str, str, str, datetime, Sequence[UUID], str | None, datetime, int]],
) -> list[lookup.Turn]:
    return [
        lookup.Turn(CONTACT if speaker else role, text, tuple(understood), at)
        for _session, role, text, at, understood, speaker, _received, _seq in rows[
            -lookup.HISTORY :
        ]
    ]


def _contacts(mentions: Sequence[Mention], known: dict[UUID, str]) -> list[InjectedContact]:
    """One entry a person, by the surest of their mentions, in order of the text."""
    best: dict[UUID, Mention] = {}
    for mention in mentions:
        held = best.get(mention.person.id)
        if held is None or mention.confidence > held.confidence:
            best[mention.person.id] = mention
    return [
        InjectedContact(
            id=mention.person.id,
            name=mention.person.name,
            matched_by=mention.how,
            matched_text=mention.text,
            confidence=round(mention.confidence, 3),
            card=compact(known[mention.person.id])
            if mention.how == "conversation"
            else known[mention.person.id],
        )
        for mention in best.values()
    ]


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


def _note_access(end_user: EndUser, memories: Sequence[InjectedMemory], session_id: str) -> None:
    """Memories earn their persistence by being used (MIRA); the reply will show which ones
    it made use of."""
    if memories:
        Injected.objects.create(
            end_user=end_user, session_id=session_id, memory_ids=[memory.id for memory in memories]
        )
        with atomic():
            # What somebody writes to at this moment is left out: nobody waits for a count, and
            # two that wait for each other would be a deadlock.
            free = Memory.objects.filter(pk__in=[memory.id for memory in memories])
            free = free.select_for_update(skip_locked=True, no_key=True, of=("self",))
            Memory.objects.filter(pk__in=free.values("pk")).update(
                access_count=F("access_count") + 1,
                last_accessed_at=timezone.now(),
                last_accessed_day=end_user.activity_days,
            )
