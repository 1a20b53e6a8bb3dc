"""Whom each message is about, as extraction understood it: it read the whole conversation, so the
pronouns of the next messages find these people first."""

from collections.abc import Iterable
from uuid import UUID

from accounts.models import EndUser
from memories.models import Message
from memories.types import Draft

# Of one message. More are a list of names, in which no pronoun finds anybody.
MOST = 6


def note(end_user: EndUser, drafts: Iterable[Draft]) -> None:
    """Writes down with each message whom the memories that rest on it are about: the message that
    says it, not those that only explain it. One statement to read them and one to write. The
    caller holds the end user's lock."""
    about: dict[int, dict[UUID, None]] = {}
    for draft in drafts:
        turns = draft.extracted.turn_ids
        if turns and draft.people:
            about.setdefault(max(turns), {}).update(dict.fromkeys(sorted(draft.people)))
    rows = list(Message.objects.of(end_user).filter(pk__in=about).only("understood"))
    for row in rows:
        row.understood = list(about[row.pk])[:MOST]
    Message.objects.bulk_update(rows, ["understood"])
