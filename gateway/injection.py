"""What a chat gets from memory, and what it stores there.

What is added to a user message is stored and added again, character by character, whenever a client
sends that message again: so a conversation only grows at its end, and the prompt caches of models
stay valid. Only the newest message gets anything new, and only what the conversation lacks."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from accounts import placement
from accounts.cells import atomic
from accounts.models import EndUser
from accounts.scope import app_scope, user_scope
from contacts.lookup import HISTORY
from gateway import chains
from gateway.chains import Chat, Place
from gateway.chat_messages import Turn
from gateway.models import Upstream
from memories import queue
from memories.context import build, pace
from memories.context.render import Block
from memories.context.request import ContextRequest
from memories.context.types import Trace
from memories.context.usage import note_use
from memories.models import GatewayTurn, Message
from memories.pipeline import buffer
from memories.types import CONTACT


@dataclass(frozen=True, slots=True)
class Prepared:
    """``blocks`` are the texts to add, by the index of the message; ``fresh`` is the one that is
    new and to be stored, None if nothing new was looked for. ``known`` is the id of the end user
    whose memory was read, with their ``forgetting_until`` at that time."""

    place: Place
    blocks: Mapping[int, str] = field(default_factory=dict)
    fresh: str | None = None
    people: tuple[UUID, ...] = ()
    traced: Trace | None = None
    known: tuple[int, datetime | None] | None = None

    def holds_for(self, end_user: EndUser) -> bool:
        """Whether the user is the same, and nothing was forgotten since it was read."""
        return self.known == (end_user.pk, end_user.forgetting_until)


def prepare(chat: Chat, search_until: float) -> Prepared:
    """Returns the blocks to add to the messages of a request, and its session. After ``search_until``
    (by ``time.perf_counter``) only cards and linked memories are added. Reads only."""
    with _located(chat) as (end_user, place):
        return _prepared(chat, end_user, place, search_until) if end_user else Prepared(place)


@contextmanager
def _located(chat: Chat) -> Iterator[tuple[EndUser | None, Place]]:
    """Yields the end user of a chat, None on first sight, and its place, within the user's scope."""
    with placement.entered(chat.app, chat.external_id, writes=False):
        with app_scope(chat.app.pk):
            end_user = chains.known_user(chat)
        if end_user is None:
            yield None, chains.place_of(chat, None)
            return
        with user_scope(end_user):
            yield end_user, chains.place_of(chat, end_user)


def _prepared(chat: Chat, end_user: EndUser, place: Place, search_until: float) -> Prepared:
    """Returns the stored blocks of earlier turns, and that of the last turn: stored, or a new one."""
    turns = chat.talk.turns
    known = (end_user.pk, end_user.forgetting_until)
    if not turns:
        return Prepared(place, known=known)
    # A chat that was copied goes on with what was added before it was.
    turn_by_chain = {
        row.chain_id: row
        for row in sorted(place.rows, key=lambda r: r.session_id == place.session_id)
    }
    stored = turn_by_chain.get(place.chain[-1])
    stored = stored if stored is not None and stored.session_id == place.session_id else None
    speaker = chains.speaker_of(chat, end_user, turns[-1])
    # Somebody else gets nothing that was looked for to answer the user.
    visible = [not speaker or chains.speaker_of(chat, end_user, turn) == speaker for turn in turns]
    turn_by_chain = {
        chain_id: turn_by_chain[chain_id]
        for chain_id, is_visible in zip(place.chain, visible, strict=True)
        if is_visible and chain_id in turn_by_chain
    }
    blocks = {
        turn.place: turn_by_chain[chain_id].injected
        for turn, chain_id in zip(turns[:-1], place.chain, strict=False)
        if chain_id in turn_by_chain and turn_by_chain[chain_id].injected
    }
    people = {pk for turn in turn_by_chain.values() for pk in turn.contact_ids if turn.injected}
    fresh, traced = None, None
    if stored is not None and (stored.injected or chat.talk.goes_on):
        block = stored.injected
    elif chat.talk.goes_on or not turns[-1].text.strip():
        block = ""
    else:
        traced = _trace(chat, end_user, place.session_id, search_until, speaker)
        new_block = traced.block
        if new_block and chat.placement == Upstream.Placement.TAIL:
            new_block = without_carried(new_block, blocks.values())
        fresh = block = str(new_block or "")
        people |= {contact.id for contact in traced.injection.contacts} if block else set()
    if chat.placement == Upstream.Placement.SYSTEM:
        blocks = {}
    if block:
        blocks[turns[-1].place] = block
    return Prepared(place, blocks, fresh, tuple(sorted(people)) if blocks else (), traced, known)


def _trace(
    chat: Chat, end_user: EndUser, session_id: str, search_until: float, speaker: str | None
) -> Trace:
    turns, most = chat.talk.turns, Message.MAX_CONTENT
    message = turns[-1].text[:most]
    if speaker:
        return build.trace_for_speaker(end_user, speaker, ContextRequest(message))
    left_ms = max(1, round((search_until - time.perf_counter()) * 1000))  # 0 would be no limit
    history = [
        (CONTACT if chains.speaker_of(chat, end_user, turn) else turn.role, turn.text[:most])
        for turn in turns[:-1]
        if turn.text.strip()
    ]
    return build.measured_trace(
        end_user,
        ContextRequest(
            message,
            session_id=session_id,
            history=history[-HISTORY:],
            resolve_budget_ms=min(pace.BUDGET_MS, left_ms),
            deadline_ms=left_ms,
            heal=True,
        ),
    )


def without_carried(block: Block, carried: Iterable[str]) -> Block:
    """Returns ``block`` without the cards and lines that are in ``carried`` texts. A card with one
    new line is added again as a whole."""
    carried_lines = {line for text in carried for line in text.split("\n")}

    def fresh(entries: Iterable[str]) -> tuple[str, ...]:
        return tuple(one for one in entries if not carried_lines.issuperset(one.split("\n")))

    sections = [replace(one, entries=fresh(one.entries)) for one in block.sections]
    return replace(block, sections=tuple(one for one in sections if one.entries))


def note_message(chat: Chat, prepared: Prepared | None) -> tuple[int, str]:
    """Stores the last user message and what was added to it; creates the end user if needed.
    ``prepared`` is None if memory was not read in time: then nothing was added. Returns the ids of
    the end user and of the session."""
    if prepared is None:
        with _located(chat) as (_, place):
            prepared = Prepared(place)
    *_, last = chat.talk.turns
    session_id = prepared.place.session_id
    with placement.entered(chat.app, chat.external_id), app_scope(chat.app.pk), atomic():
        unsaved = EndUser(app=chat.app, external_id=chat.external_id)
        chain_id = chains.chain_ids(unsaved, chat.talk.turns)[-1]
        speaker = chains.speaker_of(chat, chains.known_user(chat), last) if last.speaker else None
        incoming = _incoming("user", last.text, chain_id, session_id, chat.began, speaker)
        received = buffer.receive(chat.app, chat.external_id, incoming)
        end_user = received.end_user
        with user_scope(end_user):
            _store_turn(end_user, chain_id, prepared)
        if received.extraction_due:
            queue.enqueue("extract", end_user.pk)
    if prepared.traced is not None and prepared.fresh:
        note_use(end_user, prepared.traced, session_id)
    return end_user.pk, session_id


def _store_turn(end_user: EndUser, chain_id: str, prepared: Prepared) -> None:
    """Stores the turn with what was added, or without it if something was forgotten since then."""
    fresh = (prepared.fresh or "") if prepared.holds_for(end_user) else ""
    row = GatewayTurn(
        end_user=end_user,
        session_id=prepared.place.session_id,
        chain_id=chain_id,
        injected=fresh,
        contact_ids=list(prepared.people) if fresh else [],
    )
    if not fresh:
        GatewayTurn.objects.bulk_create([row], ignore_conflicts=True)
        return
    GatewayTurn.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["end_user", "chain_id", "session_id"],
        update_fields=["injected", "contact_ids"],
    )


def note_answer(chat: Chat, end_user_id: int, session_id: str, text: str) -> None:
    """Stores the assistant's answer, unless the user was erased meanwhile."""
    with placement.entered(chat.app, chat.external_id), app_scope(chat.app.pk), atomic():
        end_user = EndUser.objects.filter(pk=end_user_id).first()
        if end_user is None:
            return
        turns = chat.talk.turns
        chain_id = chains.chain_ids(end_user, [*turns, Turn(len(turns), "assistant", text)])[-1]
        incoming = _incoming("assistant", text, chain_id, session_id, chat.began)
        received = buffer.receive(chat.app, chat.external_id, incoming)
        if received.extraction_due:
            queue.enqueue("extract", end_user.pk)


def _incoming(
    role: str, text: str, chain_id: str, session_id: str, at: datetime, speaker: str | None = None
) -> list[buffer.Incoming]:
    """Returns the message to store, none without text. A turn of a session always has the same id."""
    if not text.strip():
        return []
    key = hashlib.sha256(f"{session_id}\n{chain_id}".encode()).hexdigest()
    content = text[: Message.MAX_CONTENT]
    return [buffer.Incoming(role, content, f"gw:{key}", at, session_id, speaker=speaker)]
