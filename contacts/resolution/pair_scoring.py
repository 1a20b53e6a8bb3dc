"""Whether two people as recorded are one: signs for and against, weighed to a verdict.

A logistic model over the signs of :mod:`contacts.resolution`: the score is the probability
that a suggestion to merge is right.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from accounts.reasons import Reason
from contacts.lexicon import table
from contacts.resolution import features
from contacts.resolution.features import Sign
from contacts.resolution.records import Record
from contacts.resolution.vector_similarity import UNKNOWN, Background

__all__ = ["Comparison", "Evidence", "Record", "compare"]

Verdict = Literal["certain", "likely", "ambiguous", "none"]

WEIGHTS: Mapping[str, float] = table("record_signs")
CERTAIN, LIKELY, AMBIGUOUS = 0.95, 0.5, 0.25
# Below this names and ties alone rule the two out; what is known of them isn't read.
_HOPELESS = -4.5
# Certainty wants more than a good score: something that both records say of the person, and
# nothing of weight against it.
_SUBSTANCE = frozenset(
    "words attribute_same stated_name stated_alike bond_alone same_role_word".split()
)
_ENOUGH, _COUNTER = 1.5, -1.0
_NO_RARITY: Mapping[str, float] = {}
# These alone may be certain, however little is known of one of the two.
_SAYS_ENOUGH = frozenset("stated_name stated_alike bond_alone".split())


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sign with what it counted; a negative weight speaks against."""

    sign: Sign
    weight: float

    @property
    def as_json(self) -> dict[str, Any]:
        """How a suggestion keeps it: as a reason, with its weight."""
        reason = Reason(self.sign.code, **self.sign.params)
        return {**reason.as_json, "weight": round(self.weight, 2)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """``score`` is the probability that both are one person; ``evidence`` what speaks most
    first."""

    score: float
    verdict: Verdict
    evidence: tuple[Evidence, ...]

    @property
    def statement(self) -> str:
        """The fact that says so, where the verdict is certain and rests on one; else ""."""
        stated = (e.sign.params["fact"] for e in self.evidence if e.sign.code == "stated_name")
        return next(stated, "") if self.verdict == "certain" else ""


def compare(
    first: Record,
    second: Record,
    *,
    together: bool = False,
    background: Background = UNKNOWN,
    rarity: Mapping[str, float] = _NO_RARITY,
) -> Comparison:
    """Weighs two records. ``together``: something shows them side by side as two people.
    ``rarity`` says how much a word tells among all people of the user."""
    found = features.who(first, second)
    if together:
        found.append(Sign("together"))
    if _log_odds(found) > _HOPELESS:
        found += features.what(first, second, background, rarity)
    return _judged(found)


def among_rivals(comparison: Comparison, rivals: int) -> Comparison:
    """The same comparison when one of the two might be ``rivals`` others as well: only one
    of them can be right, unless a statement tells which."""
    if rivals < 1 or any(e.sign.code == "stated_name" for e in comparison.evidence):
        return comparison
    sign = Sign("rivals", math.log(rivals + 1), {"count": rivals})
    return _judged([*(e.sign for e in comparison.evidence), sign])


def _judged(found: list[Sign]) -> Comparison:
    evidence = [Evidence(sign, WEIGHTS[sign.code] * sign.strength) for sign in found]
    score = 1 / (1 + math.exp(-_log_odds(found)))
    evidence.sort(key=lambda e: -abs(e.weight))
    return Comparison(score, _verdict(score, evidence), tuple(evidence))


def _log_odds(found: list[Sign]) -> float:
    return sum(WEIGHTS[sign.code] * sign.strength for sign in found)


def _verdict(score: float, evidence: list[Evidence]) -> Verdict:
    codes = {e.sign.code for e in evidence}
    if score < AMBIGUOUS:
        return "none"
    unclear = "little_known" in codes and not codes & _SAYS_ENOUGH
    if score < LIKELY or unclear:
        return "ambiguous"
    countered = any(e.weight <= _COUNTER for e in evidence)
    substance = sum(e.weight for e in evidence if e.sign.code in _SUBSTANCE)
    if score >= CERTAIN and substance >= _ENOUGH and not countered:
        return "certain"
    return "likely"
