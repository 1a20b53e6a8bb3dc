"""What a chat gets from memory, and what it leaves there.

What is added to a user message is kept and added again, character by character, whenever a client
sends that message again: so a conversation only ever grows at its end, and the prompt caches of
models hold. Only the newest message gets anything new, and of that only what the conversation
does not carry yet.
"""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from accounts.cells import atomic
from accounts.models import App, EndUser
from accounts.scope import app_scope, user_scope
from contacts.lookup import HISTORY
from gateway.chat_messages import Conversation, Turn, normalised
from gateway.models import Upstream
from memories import queue
from memories.api.messages import MAX_CONTENT
from memories.context import build
from memories.erasure.name_hashes import hash_of
from memories.models import GatewayTurn
from memories.pipeline import buffer

# A first message that comes again so soon is the same chat, tried again; later it is a new one.
RETRIED = timedelta(minutes=10)
_HEADING, _CARD = "## ", "### "


@dataclass(frozen=True, slots=True)
class Prepared:
    """``blocks`` are what is added, by the place of the message; ``fresh`` what the last one gets
    that is to be kept, None where nothing new was looked for. ``known`` is the end user that it
    was read of, with when they last had something forgotten."""

    session_id: str
    blocks: Mapping[int, str] = field(default_factory=dict)
    fresh: str | None = None
    people: tuple[UUID, ...] = ()
    traced: build.Trace | None = None
    known: tuple[int, datetime | None] | None = None


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat of an app's end user, in the client's own ``session`` where it names one; the user
    need not be known yet."""

    app: App
    external_id: str
    session: str
    talk: Conversation
    placement: str
    began: datetime = field(default_factory=timezone.now)


@dataclass(frozen=True, slots=True)
class Noted:
    """Of whom a message was stored, and in which session."""

    end_user_id: int
    session_id: str


def prepare(chat: Chat) -> Prepared:
    """What is to be added to the messages of a request, and the session that they are of. Reads
    only."""
    with app_scope(chat.app.pk):
        known = EndUser.objects.filter(app=chat.app, external_id=chat.external_id).first()
    if known is None:
        return Prepared(chat.session or _new_session())
    known.app = chat.app
    with user_scope(known):
        return _prepared(chat, known)


def _prepared(chat: Chat, end_user: EndUser) -> Prepared:
    turns = chat.talk.turns
    chain = chain_ids(end_user, turns)
    rows = list(
        GatewayTurn.objects.of(end_user).filter(chain_id__in=set(chain)).order_by("created_at")
    )
    session_id = chat.session or _session(chain, rows, chat.talk) or _new_session()
    # A chat that was copied goes on with what was added before it was.
    kept = {row.chain_id: row for row in sorted(rows, key=lambda r: r.session_id == session_id)}
    now = kept.get(chain[-1])
    now = now if now is not None and now.session_id == session_id else None
    blocks = {
        turn.place: kept[one].injected
        for turn, one in zip(turns[:-1], chain, strict=False)
        if one in kept and kept[one].injected
    }
    people = {pk for turn in kept.values() for pk in turn.contact_ids if turn.injected}
    fresh, traced = None, None
    if now is not None and (now.injected or chat.talk.goes_on):
        block = now.injected
    elif chat.talk.goes_on or not turns[-1].text.strip():
        block = ""
    else:
        traced = _trace(end_user, session_id, turns)
        block = traced.injection.system_prompt
        if chat.placement == Upstream.Placement.TAIL:
            block = unsaid(block, blocks.values())
        fresh = block
        people |= {contact.id for contact in traced.injection.contacts} if block else set()
    if chat.placement == Upstream.Placement.SYSTEM:
        blocks = {}
    if block:
        blocks[turns[-1].place] = block
    return Prepared(
        session_id,
        blocks,
        fresh,
        tuple(sorted(people)) if blocks else (),
        traced,
        (end_user.pk, end_user.forgetting_until),
    )


def _trace(end_user: EndUser, session_id: str, turns: Sequence[Turn]) -> build.Trace:
    history = [(turn.role, turn.text[:MAX_CONTENT]) for turn in turns[:-1] if turn.text.strip()]
    return build.trace(
        end_user,
        turns[-1].text[:MAX_CONTENT],
        session_id=session_id,
        history=history[-HISTORY:],
        heal=True,
    )


def chain_ids(end_user: EndUser, turns: Iterable[Turn]) -> list[str]:
    """Of each turn a hash of it and of all before it, that only this installation can make."""
    ids, before = [], ""
    for turn in turns:
        before = hash_of(end_user, f"{before}\n{turn.role}\n{normalised(turn.text)}")
        ids.append(before)
    return ids


def _session(chain: Sequence[str], rows: Sequence[GatewayTurn], talk: Conversation) -> str:
    """The session of the longest part of the conversation that is known; "" where none is."""
    latest = {row.chain_id: row for row in rows}
    found = next((latest[one] for one in reversed(chain) if one in latest), None)
    if found is None:
        return ""
    begins = len(chain) == 1 and not talk.goes_on
    if begins and found.created_at < timezone.now() - RETRIED:
        return ""
    return found.session_id


def _new_session() -> str:
    return f"gw-{uuid.uuid4().hex}"


def unsaid(block: str, carried: Iterable[str]) -> str:
    """``block`` without the cards and lines that stand in blocks of before; "" where nothing is
    left. A card of which one line is new is told again as a whole."""
    held = {line for told in carried for line in told.split("\n")}
    if not block:
        return ""
    opening, note, *lines, closing = block.split("\n")
    kept, heading = list[str](), ""
    for entry in _entries(lines):
        if entry[0].startswith(_HEADING):
            heading = entry[0]
        elif not held.issuperset(entry):
            kept += [heading, *entry] if heading else entry
            heading = ""
    return "\n".join([opening, note, *kept, closing]) if kept else ""


def _entries(lines: Iterable[str]) -> list[list[str]]:
    """Lines as they belong together: a card is one entry."""
    entries: list[list[str]] = []
    for line in lines:
        of_card = bool(entries) and entries[-1][0].startswith(_CARD)
        if of_card and not line.startswith((_HEADING, _CARD)):
            entries[-1].append(line)
        else:
            entries.append([line])
    return entries


def note_message(chat: Chat, prepared: Prepared | None) -> Noted:
    """Stores the last user message and what was added to it; the end user is made on
    first sight. ``prepared`` is None where memory came too late: then nothing was added."""
    if prepared is None:
        prepared = Prepared(chat.session or _session_of(chat))
    *_, last = chat.talk.turns
    with app_scope(chat.app.pk), atomic():
        maker = EndUser(app=chat.app, external_id=chat.external_id)
        chain_id = chain_ids(maker, chat.talk.turns)[-1]
        incoming = _incoming("user", last.text, chain_id, prepared.session_id, chat.began)
        received = buffer.receive(chat.app, chat.external_id, incoming)
        end_user = received.end_user
        with user_scope(end_user):
            _keep(end_user, chain_id, prepared)
        if received.extraction_due:
            queue.enqueue("extract", end_user.pk)
    if prepared.traced is not None and prepared.fresh:
        build.note(end_user, prepared.traced, prepared.session_id)
    return Noted(end_user.pk, prepared.session_id)


def _keep(end_user: EndUser, chain_id: str, prepared: Prepared) -> None:
    """Keeps what was added, unless something was forgotten since it was read."""
    same = prepared.known == (end_user.pk, end_user.forgetting_until)
    fresh = (prepared.fresh or "") if same else ""
    row = GatewayTurn(
        end_user=end_user,
        session_id=prepared.session_id,
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


def _session_of(chat: Chat) -> str:
    """The session of a chat for which memory came too late."""
    with app_scope(chat.app.pk):
        known = EndUser.objects.filter(app=chat.app, external_id=chat.external_id).first()
    if known is None:
        return _new_session()
    with user_scope(known):
        chain = chain_ids(known, chat.talk.turns)
        rows = GatewayTurn.objects.of(known).filter(chain_id__in=set(chain)).order_by("created_at")
        return _session(chain, list(rows), chat.talk) or _new_session()


def note_answer(chat: Chat, noted: Noted, text: str) -> None:
    """Stores what the assistant answered, unless its user was erased meanwhile."""
    with app_scope(chat.app.pk), atomic():
        end_user = EndUser.objects.filter(pk=noted.end_user_id).first()
        if end_user is None:
            return
        answer = Turn(len(chat.talk.turns), "assistant", text)
        chain_id = chain_ids(end_user, [*chat.talk.turns, answer])[-1]
        incoming = _incoming("assistant", text, chain_id, noted.session_id, chat.began)
        received = buffer.receive(chat.app, chat.external_id, incoming)
        if received.extraction_due:
            queue.enqueue("extract", end_user.pk)


def _incoming(
    role: str, text: str, chain_id: str, session_id: str, at: datetime
) -> list[buffer.Incoming]:
    """A message to store, none where nothing is said in it. The same turn of the same session has
    the same id, however often it is sent."""
    if not text.strip():
        return []
    key = hashlib.sha256(f"{session_id}\n{chain_id}".encode()).hexdigest()
    return [buffer.Incoming(role, text[:MAX_CONTENT], f"gw:{key}", at, session_id)]
