"""What was said around a memory: the turns next to those it rests on, in one conversation.

"Yes, last week!" is found by the words of the question that it answers.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta

from memories.types import Turn

# A pause after which people talk about something else (the usual cut of web sessions:
# Catledge and Pitkow 1995 measured 25.5 minutes; 30 has become the custom).
PAUSE = timedelta(minutes=30)


def around(turns: Sequence[Turn], turn_ids: Collection[int]) -> list[str]:
    """The texts of the turns right before and right after ``turn_ids`` (``turns`` are in
    order), as far as they belong to the same conversation."""
    places = [place for place, turn in enumerate(turns) if turn.id in turn_ids]
    if not places:
        return []
    found = []
    for inner, outer in ((places[0], places[0] - 1), (places[-1], places[-1] + 1)):
        if 0 <= outer < len(turns) and _together(turns[inner], turns[outer]):
            found.append(turns[outer].content)
    return found


def _together(one: Turn, other: Turn) -> bool:
    return one.session_id == other.session_id and abs(one.said_at - other.said_at) <= PAUSE
