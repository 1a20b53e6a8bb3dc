"""Whom a clause is about."""

import re
from collections.abc import Sequence

from memories.providers.offline.reading.circle import PersonDraft
from memories.providers.offline.reading.entity_linking import Spot
from understanding import segmentation
from understanding.lexicon.rules import patterns, sets
from understanding.roles import groups, terms
from understanding.segmentation import tagged
from understanding.text import HAN

RE = patterns(__file__)
_WORDS = sets(__file__, "words")
LONGEST_LEAD = 40  # characters before an English subject


def subject_of(text: str, spots: Sequence[Spot]) -> tuple[PersonDraft | None, bool]:
    """Whom the words are about, and whether they say so: the first place that no verb or
    preposition stands before, and that does not only say whose the next one is."""
    for spot in spots:
        if owns_next(text, spot, spots):
            continue
        if spot.how == "user" and _owns_word(text, spot):
            return None, False
        if _leads(text[: spot.start]):
            return spot.who, True
        return None, False
    return None, False


def owns_next(text: str, spot: Spot, spots: Sequence[Spot]) -> bool:
    """Whether a place only says whose the person right behind it is."""
    if spot.how != "user":
        return any(
            other.who not in (None, spot.who) and RE.of_gap.fullmatch(text[spot.end : other.start])
            for other in spots
            if other.start >= spot.end
        )
    return any(
        other.who is not None
        and other.start >= spot.end
        and RE.own_gap.fullmatch(text[spot.end : other.start])
        and (spot.text.lower() in ("my", "our") or HAN.search(spot.text))
        for other in spots
    )


def _owns_word(text: str, spot: Spot) -> bool:
    """Whether the user is only the one whose something is that nobody was seen in: my sub, 我爸妈."""
    if HAN.search(spot.text):
        behind = re.match("[\u3400-\u9fff]+", text[spot.end :])
        first = segmentation.cut(behind[0])[0].text if behind else ""
        return first == "的" or bool(terms().get(first) or groups().get(first))
    return spot.text.lower() in ("my", "our")


def is_users_own(text: str, spot: Spot) -> bool:
    """Whether it is said that a role is the user's: my son, 我家儿子."""
    return bool(RE.users_own.search(text[: spot.start]))


def _leads(before: str) -> bool:
    """Whether what stands before somebody leaves them the subject: no verb or preposition of
    Chinese, in English only words that open a sentence."""
    if not before.strip():
        return True
    if HAN.search(before):
        flags = [flag for word, flag in tagged(before.strip()) if word.strip()]
        return not any(flag[0] in "vp" for flag in flags)
    return len(before) <= LONGEST_LEAD and _only_leads(before.lower().split())


def _only_leads(before: Sequence[str]) -> bool:
    """Whether English words are of those that stand before a subject (and then, on Monday)."""
    at = 0
    while at < len(before):
        word = before[at].strip(" ,:“”\"'(")
        opens = word in _WORDS["openers"] and at + 1 < len(before)
        if not (opens or word in _WORDS["leads"] or word.endswith("ly")):
            return False
        at += 2 if opens else 1
    return True
