"""What was said around a memory: the turns next to those it rests on, in one conversation.

"Yes, last week!" is found by the words of the question that it answers.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta

from memories.types import CONTACT, Turn
from understanding.statements.own_words import without_injected
from understanding.statements.secrets import holds_phone, holds_secret
from understanding.text import middle_cut

# A pause after which people talk about something else (the usual cut of web sessions:
# Catledge and Pitkow 1995 measured 25.5 minutes; 30 has become the custom).
PAUSE = timedelta(minutes=30)
# Characters of such a turn that are read: a pasted page is not what a memory is about.
LONGEST = 500
# Who speaks in a conversation; instructions and the replies of tools are no part of it.
_ROLES = frozenset(("user", "assistant", CONTACT))


def around(turns: Sequence[Turn], turn_ids: Collection[int]) -> list[str]:
    """The texts of the turns right before and right after ``turn_ids`` (``turns`` are in
    order), as far as they belong to the same conversation. Never what was injected, and no
    turn that holds a secret or a telephone number."""
    places = [place for place, turn in enumerate(turns) if turn.id in turn_ids]
    if not places:
        return []
    found = []
    for inner, outer in ((places[0], places[0] - 1), (places[-1], places[-1] + 1)):
        if 0 <= outer < len(turns) and _together(turns[inner], turns[outer]):
            found.append(middle_cut(without_injected(turns[outer].content), LONGEST))
    return [
        text for text in found if text.strip() and not holds_secret(text) and not holds_phone(text)
    ]


def _together(one: Turn, other: Turn) -> bool:
    same = one.session_id == other.session_id and other.role in _ROLES
    return same and abs(one.said_at - other.said_at) <= PAUSE
