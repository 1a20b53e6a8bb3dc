"""Finds the conversation that a request continues: each message is known by a hash of itself and of
all before it."""

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

# A first message that comes again so soon is the same chat, tried again; later it is a new one.
RETRIED = timedelta(minutes=10)


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
class Place:
    """The place of a request in its conversation: ``chain`` has an id of each turn, ``rows`` are the
    known ones of these."""

    session_id: str
    chain: Sequence[str] = ()
    rows: Sequence[GatewayTurn] = ()


def known_user(chat: Chat) -> EndUser | None:
    """The end user of a chat, None on first sight. Within ``app_scope``."""
    end_user = EndUser.objects.filter(app=chat.app, external_id=chat.external_id).first()
    if end_user is not None:
        end_user.app = chat.app
    return end_user


def place_of(chat: Chat, end_user: EndUser | None) -> Place:
    """The place of a chat, of a known user within their scope."""
    if end_user is None:
        return Place(chat.session or f"gw-{uuid.uuid4().hex}")
    chain = chain_ids(end_user, chat.talk.turns)
    known = GatewayTurn.objects.of(end_user).filter(chain_id__in=set(chain))
    rows = list(known.order_by("created_at")) if chain else []
    session_id = chat.session or _session(chain, rows, chat.talk)
    return Place(session_id or f"gw-{uuid.uuid4().hex}", chain, rows)


def chain_ids(end_user: EndUser, turns: Iterable[Turn]) -> list[str]:
    """The id of each turn: a hash of it and of all before it, keyed by this installation."""
    ids, before = [], ""
    for turn in turns:
        by = f"{turn.role} {turn.speaker}" if turn.speaker else turn.role
        before = hash_of(end_user, f"{before}\n{by}\n{normalised(turn.text)}")
        ids.append(before)
    return ids


def speaker_of(chat: Chat, end_user: EndUser | None, turn: Turn) -> str | None:
    """The writer of a turn, if somebody else than the end user; None for the user's own name, and for
    no name."""
    own = [chat.external_id, *(end_user.names if end_user else ())]
    if not turn.speaker or normalise(turn.speaker) in map(normalise, own):
        return None
    try:
        return store.clean_name(turn.speaker)
    except store.InvalidContact:
        return None


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
