"""The turns before a message, as the client gave them and as they are stored."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from accounts.models import EndUser
from contacts import lookup
from memories.models import Message
from memories.search.neighbour_turns import PAUSE
from memories.types import CONTACT
from understanding.statements.client_text import without_client_text
from understanding.statements.own_words import without_injected


def turns_of(
    end_user: EndUser, session_id: str, history: Sequence[tuple[str, str]]
) -> lookup.Turns:
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
