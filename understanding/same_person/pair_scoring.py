"""Whether two people as recorded are one: signs for and against, weighed to a verdict.

A logistic regression over the signs of :mod:`understanding.same_person`, learned from the pairs of the
corpus (``python -m tools train pair_model``): the score is the probability that a suggestion to
merge is right.
"""

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal

from accounts.reasons import Reason
from understanding.learned import logistic, model, sigmoid
from understanding.same_person import features
from understanding.same_person.features import Sign
from understanding.same_person.name_similarity import PLAINLY_DIFFERENT, STRENGTH
from understanding.same_person.records import Record

__all__ = ["Comparison", "Evidence", "Record", "compare"]

Verdict = Literal["certain", "likely", "ambiguous", "none"]

# What the corpus can't show, or too rarely to learn from. Somebody said that the two are two, or
# their names are plainly different, which only a statement outweighs; that they are one (7 of 7
# pairs of the corpus are), which with one more sign for it is certain; or named the one beside the
# other (2 of 9 are). A birthday that differs says as much. Of r + 1 who are equally likely to be
# the one, each has that share of the odds, by the logarithm.
SETTLED: Mapping[str, float] = {
    "together": -9.0,
    "stated_apart": -9.0,
    **dict.fromkeys(PLAINLY_DIFFERENT, -9.0),
    "attribute_other": -3.0,
    "stated_name": 3.0,
    "named_beside": -3.0,
    "rivals": -1.0,
}
# Names that are no reason to ask by themselves, and what has to speak for one person beside them:
# something that is known of both, a role that one person at a time has or, of who has only a role
# for a name, any role.
_KNOWN = frozenset({"words", "role_told", "name_told", "stated_name"})
_NEEDS: Mapping[str, Set[str]] = {
    "homophone": _KNOWN,
    **dict.fromkeys(("other_name", "other_byname", "other_script"), _KNOWN | {"bond_alone"}),
    "unnamed": _KNOWN | features.SHARED_ROLE,
}
# Below the second not one in three is worth a question.
LIKELY, AMBIGUOUS = 0.5, 0.35
NOTHING_KNOWN: Mapping[str, float] = {}


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


def codes() -> frozenset[str]:
    """Of every sign that a comparison may show."""
    weighed = {name.split(", ")[0] for name in logistic("pair_model").weights}
    return frozenset({*weighed, *STRENGTH, *SETTLED})


def certain_from() -> float:
    """The score from which on 98 in 100 pairs of authors never trained on are one person."""
    return float(model("pair_model")["certain"])


def compare(
    first: Record,
    second: Record,
    *,
    together: bool = False,
    rarity: Mapping[str, float] = NOTHING_KNOWN,
    crowd: Mapping[str, float] = NOTHING_KNOWN,
) -> Comparison:
    """Weighs two records. ``together``: something shows them side by side as two people.
    ``rarity`` says how much a word tells among all people of the user, ``crowd`` how much a
    relationship (0..1)."""
    found = features.signs(first, second, rarity, crowd)
    return _judged([*found, Sign("together")] if together else found)


def among_rivals(comparison: Comparison, rivals: int) -> Comparison:
    """The same comparison when one of the two might be ``rivals`` others as well: only one
    of them can be right, unless a statement tells which."""
    if rivals < 1 or any(e.sign.code == "stated_name" for e in comparison.evidence):
        return comparison
    sign = Sign("rivals", math.log(rivals + 1), {"count": rivals})
    return _judged([*(e.sign for e in comparison.evidence), sign])


def _judged(found: list[Sign]) -> Comparison:
    learned = logistic("pair_model")
    evidence = [Evidence(sign, _weight(sign)) for sign in found]
    score = sigmoid(learned.bias + sum(e.weight for e in evidence))
    evidence.sort(key=lambda e: -abs(e.weight))
    return Comparison(score, _verdict(score, {e.sign.code for e in evidence}), tuple(evidence))


def _weight(sign: Sign) -> float:
    if sign.code in SETTLED:
        return SETTLED[sign.code] * sign.strength
    return sum(logistic("pair_model").parts(sign.features).values())


def worth_asking(codes: Set[str]) -> bool:
    """Whether more than the names speaks for one person, where names like these need that."""
    return not any(name in codes and not codes & needed for name, needed in _NEEDS.items())


def _verdict(score: float, codes: Set[str]) -> Verdict:
    """Chinese names of one sound are two names: such a pair is never certain without a
    statement."""
    if not worth_asking(codes):
        return "none"
    if score >= certain_from() and ("homophone" not in codes or "stated_name" in codes):
        return "certain"
    return "likely" if score >= LIKELY else "ambiguous" if score >= AMBIGUOUS else "none"
