"""Whom a conversation is about: those meant in its last turns, until it moves on.

The attention of the centering theory (Grosz, Joshi and Weinstein 1995), kept as a small stack:
a turn that speaks of somebody of the talk adds to it, one that speaks of others alone begins anew,
and whoever is not meant again fades with the turns.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from accounts.reasons import Reason
from understanding.certainty import MEANT
from understanding.types import Mention

# So many people at most stay in the talk.
MOST = 3
# What each message without them leaves of the confidence.
_DECAY = 0.8

_Talk = dict[UUID, tuple[int, Mention]]


def staying(
    turns: Sequence[Sequence[Mention]], message: Sequence[Mention], reach: int
) -> list[Mention]:
    """Who is still talked of in a message that does not mean them, the latest first.

    ``turns`` are the mentions of each of the user's turns before it, oldest first; ``reach`` is
    how many messages somebody stays for after the turn that meant them last. Nobody stays when
    the message means others alone.
    """
    talk: _Talk = {}
    for place, mentions in enumerate(turns):
        talk = _after(talk, place, mentions)
    meant = {mention.person.id for mention in message}
    if meant and not meant & talk.keys():
        return []
    back = [(len(turns) - at, mention) for pk, (at, mention) in talk.items() if pk not in meant]
    back = [(turns_ago, mention) for turns_ago, mention in back if turns_ago <= reach]
    return [_kept(mention, turns_ago) for turns_ago, mention in sorted(back, key=_nearest)[:MOST]]


def _after(talk: _Talk, place: int, mentions: Sequence[Mention]) -> _Talk:
    sure = {m.person.id: (place, m) for m in mentions if m.confidence >= MEANT}
    return talk | sure if talk.keys() & sure.keys() or not sure else sure


def _nearest(one: tuple[int, Mention]) -> tuple[int, float]:
    return one[0], -one[1].confidence


def _kept(mention: Mention, turns_ago: int) -> Mention:
    return replace(
        mention,
        start=0,
        end=0,
        how="conversation",
        confidence=mention.confidence * _DECAY**turns_ago,
        reason=Reason("meant_turns_ago", turns=turns_ago),
    )
