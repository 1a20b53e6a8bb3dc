"""Finds the conversation that a request continues: each message is identified by a hash of itself
and all messages before it."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils import timezone

from accounts.models import App, EndUser
from contacts import store
from gateway.chat_messages import Conversation, Turn, normalised
from memories.erasure.name_hashes import hash_of
from memories.models import GatewayTurn
from understanding.text import normalise

# A first message that comes again within this time is a retry of the same chat; later, a new chat.
RETRIED = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat of an app's end user, who need not exist yet; ``session`` is the client's own, if any."""

    app: App
    external_id: str
    session: str
    talk: Conversation
    placement: str
    began: datetime = field(default_factory=timezone.now)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a request in its conversation: ``chain`` has the id of each turn, ``rows`` are
    the stored turns among these."""

    session_id: str
    chain: Sequence[str] = ()
    rows: Sequence[GatewayTurn] = ()


def known_user(chat: Chat) -> EndUser | None:
    """Returns the end user of a chat; None if there is none yet. Call it within ``app_scope``."""
    end_user = EndUser.objects.filter(app=chat.app, external_id=chat.external_id).first()
    if end_user is not None:
        end_user.app = chat.app
    return end_user


def place_of(chat: Chat, end_user: EndUser | None) -> Place:
    """Returns the place of a chat; for a known user, call it within their scope."""
    if end_user is None:
        return Place(chat.session or f"gw-{uuid.uuid4().hex}")
    chain = chain_ids(end_user, chat.talk.turns)
    stored = GatewayTurn.objects.of(end_user).filter(chain_id__in=set(chain))
    rows = list(stored.order_by("created_at")) if chain else []
    session_id = chat.session or _session(chain, rows, chat.talk)
    return Place(session_id or f"gw-{uuid.uuid4().hex}", chain, rows)


def chain_ids(end_user: EndUser, turns: Iterable[Turn]) -> list[str]:
    """Returns the id of each turn: a hash of it and all turns before it, keyed by this installation."""
    ids, before = [], ""
    for turn in turns:
        writer = f"{turn.role} {turn.speaker}" if turn.speaker else turn.role
        before = hash_of(end_user, f"{before}\n{writer}\n{normalised(turn.text)}")
        ids.append(before)
    return ids


def speaker_of(chat: Chat, end_user: EndUser | None, turn: Turn) -> str | None:
    """Returns the writer of a turn if it is somebody other than the end user; None for the user's
    own names, and for no valid name."""
    own_names = [chat.external_id, *(end_user.names if end_user else ())]
    if not turn.speaker or normalise(turn.speaker) in map(normalise, own_names):
        return None
    try:
        return store.clean_name(turn.speaker)
    except store.InvalidContact:
        return None


def _session(chain: Sequence[str], rows: Sequence[GatewayTurn], talk: Conversation) -> str:
    """Returns the session of the longest known part of the conversation; "" if the chat begins here."""
    row_by_id = {row.chain_id: row for row in rows}
    row = next((row_by_id[one] for one in reversed(chain) if one in row_by_id), None)
    if row is None:
        return ""
    is_first = len(chain) == 1 and not talk.goes_on
    if is_first and row.created_at < timezone.now() - RETRIED:
        return ""
    return row.session_id
