"""Whether what a predicate says of its value holds now: not denied, wished, nearly so or past."""

import re
from enum import Enum, auto

from contacts.lexicon.rules import patterns
from memories.text.negation import NOT_EN, NOT_ZH

RE = patterns(__file__, NOT_EN=NOT_EN, NOT_ZH=NOT_ZH)


class Standing(Enum):
    """How a matched predicate stands: it holds, it held once, or it is not so (not yet)."""

    HOLDS = auto()
    PAST = auto()
    NOT = auto()


# Under which key a value that held once is kept; of other keys it is dropped.
FORMER = {"company": "former_company", "location": "former_location"}

# Keys whose own patterns hold a negation (doesn't like, 不吃, never): only what stands before
# the whole predicate can deny them.
_NEGATIVE = frozenset({"dislikes", "habit"})
# What somebody did once stays true of them.
_LASTING = frozenset(
    "school education major hometown birthday zodiac nationality former_company former_location "
    "plan email height gender".split()
)
# What somebody means to do is no state of theirs yet.
_SETTLED = frozenset(
    "company job_title location school major education marital_status vehicle possession pet "
    "diet habit".split()
)
_UNMOVED = frozenset({"plan"})  # a plan is wished for by nature
_ROUGH = frozenset({"age", "habit"})  # "almost 40" is an age, "almost always" a habit


def english(key: str, text: str, match: re.Match[str]) -> Standing:
    """How the value ``v`` of ``match`` stands in its English clause, for attribute ``key``."""
    begin = _begin(RE.en_break, text, match.start())
    before, lead = text[begin : match.start()], text[begin : match.start("v")]
    said = before if key in _NEGATIVE else lead
    denied = RE.en_not.search(said)
    anymore = RE.en_anymore.search(text[match.end("v") :]) or re.search(
        r"\s(?:any ?more|any longer)$", match.group("v"), re.I
    )
    did = (
        key in FORMER
        and not denied
        and RE.en_did.match(match.group())
        and not RE.en_perfect.search(before)
    )
    if RE.en_once.search(said) or (denied and anymore) or did:
        return Standing.HOLDS if key in _LASTING and not denied else Standing.PAST
    if denied or (key in _SETTLED and RE.en_unreal.match(match.group("v"))):
        return Standing.NOT
    if key not in _ROUGH and RE.en_nearly.search(lead):
        return Standing.NOT
    if key not in _UNMOVED and RE.en_wish.search(said):
        return Standing.NOT
    if key in _SETTLED and RE.en_intends.search(said):
        return Standing.NOT
    return Standing.HOLDS


def chinese(key: str, text: str, match: re.Match[str]) -> Standing:
    """How the value ``v`` of ``match`` stands in its Chinese clause, for attribute ``key``."""
    begin = _begin(RE.zh_break, text, match.start())
    before, lead = text[begin : match.start()], text[begin : match.start("v")]
    denied = RE.zh_not.search(before) or (key not in _NEGATIVE and RE.zh_not.search(lead))
    ended = RE.zh_no_longer.search(lead) or RE.zh_anymore.match(text[match.end("v") :])
    if denied and ended and key not in _NEGATIVE:
        return Standing.PAST
    if denied or (key not in _NEGATIVE and RE.zh_not_in_value.search(match.group("v"))):
        return Standing.NOT
    if key in _SETTLED and key not in _NEGATIVE and RE.zh_unreal.match(match.group("v").strip()):
        return Standing.NOT
    if (
        key not in _LASTING
        and RE.zh_once.search(text, begin, match.start("v"))
        and not RE.zh_change.search(match.group())
    ):
        return Standing.PAST
    if key not in _UNMOVED and RE.zh_wish.search(before):
        return Standing.NOT
    if key in _SETTLED and RE.zh_intends.search(before):
        return Standing.NOT
    return Standing.HOLDS


def _begin(breaks: re.Pattern[str], text: str, end: int) -> int:
    """Where the part of the clause that the words at ``end`` belong to begins."""
    return max((m.end() for m in breaks.finditer(text) if m.end() <= end), default=0)
