"""Whether two records are one person: weighs the signs for and against into a score and a verdict.

A logistic regression over the signs of :mod:`understanding.same_person.features`, learned from the
pairs of the corpus (``python -m tools train pair_model``): the score is the probability that a
suggestion to merge is right."""

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

# Weights of signs that the corpus lacks, or has too rarely to learn from. Only a statement
# outweighs that two people are stated to be two or have plainly different names. A statement that
# they are one (7 of 7 pairs of the corpus are) with one more sign makes it certain. Of pairs in
# which a fact of one names the other, 2 of 9 are one; a different birthday says as much. Of r + 1
# who are equally likely each has that share of the odds, by the logarithm.
SETTLED: Mapping[str, float] = {
    "together": -9.0,
    "stated_apart": -9.0,
    **dict.fromkeys(PLAINLY_DIFFERENT, -9.0),
    "attribute_other": -3.0,
    "stated_name": 3.0,
    "named_beside": -3.0,
    "rivals": -1.0,
}
# Names that alone are no reason to ask, and the signs of which they need one: something known about
# both, a role of one person at a time or, if the name is only a role, any shared role.
_KNOWN = frozenset({"words", "role_told", "name_told", "stated_name"})
_NEEDS: Mapping[str, Set[str]] = {
    "homophone": _KNOWN,
    **dict.fromkeys(("other_name", "other_byname", "other_script"), _KNOWN | {"bond_alone"}),
    "unnamed": _KNOWN | features.SHARED_ROLE,
}
LIKELY, AMBIGUOUS = 0.5, 0.35  # below the second, less than one pair in three is worth a question
NOTHING_KNOWN: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sign with the weight that it adds to the score; a negative weight is against one person."""

    sign: Sign
    weight: float

    @property
    def as_json(self) -> dict[str, Any]:
        """The evidence as a suggestion stores it: a reason with its rounded weight."""
        reason = Reason(self.sign.code, **self.sign.params)
        return {**reason.as_json, "weight": round(self.weight, 2)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """``score`` is the probability that both are one person; the heaviest ``evidence`` is first."""

    score: float
    verdict: Verdict
    evidence: tuple[Evidence, ...]

    @property
    def statement(self) -> str:
        """The fact that states that both are one person, if the verdict is certain; else ""."""
        stated = (e.sign.params["fact"] for e in self.evidence if e.sign.code == "stated_name")
        return next(stated, "") if self.verdict == "certain" else ""


def codes() -> frozenset[str]:
    """Returns the code of every sign that a comparison may contain."""
    weighed = {name.split(", ")[0] for name in logistic("pair_model").weights}
    return frozenset({*weighed, *STRENGTH, *SETTLED})


def certain_from() -> float:
    """Returns the score from which 98 of 100 pairs of authors never trained on are one person."""
    return float(model("pair_model")["certain"])


def compare(
    first: Record,
    second: Record,
    *,
    together: bool = False,
    rarity: Mapping[str, float] = NOTHING_KNOWN,
    crowd: Mapping[str, float] = NOTHING_KNOWN,
) -> Comparison:
    """Compares two records. ``together``: something outside them shows that they are two people.
    ``rarity`` says how informative a word is among the user's people, ``crowd`` a relationship."""
    signs = features.signs(first, second, rarity, crowd)
    return _compared([*signs, Sign("together")] if together else signs)


def among_rivals(comparison: Comparison, rivals: int) -> Comparison:
    """Returns the comparison, less probable if one of the two may be ``rivals`` others as well:
    only one of them can be right, unless a statement tells which."""
    if rivals < 1 or any(e.sign.code == "stated_name" for e in comparison.evidence):
        return comparison
    sign = Sign("rivals", math.log(rivals + 1), {"count": rivals})
    return _compared([*(e.sign for e in comparison.evidence), sign])


def _compared(signs: list[Sign]) -> Comparison:
    """Weighs the signs and returns the comparison: score, verdict and evidence."""
    learned = logistic("pair_model")
    evidence = [Evidence(sign, _weight(sign)) for sign in signs]
    score = sigmoid(learned.bias + sum(e.weight for e in evidence))
    evidence.sort(key=lambda e: -abs(e.weight))
    return Comparison(score, _verdict(score, {e.sign.code for e in evidence}), tuple(evidence))


def _weight(sign: Sign) -> float:
    """The log odds that a sign adds: by hand (``SETTLED``) or learned, times its strength."""
    if sign.code in SETTLED:
        return SETTLED[sign.code] * sign.strength
    return sum(logistic("pair_model").parts(sign.features).values())


def worth_asking(codes: Set[str]) -> bool:
    """Whether the signs justify a question: names as in ``_NEEDS`` need one more sign."""
    return not any(name in codes and not codes & needed for name, needed in _NEEDS.items())


def _verdict(score: float, codes: Set[str]) -> Verdict:
    """The verdict on a score; homophones are never certainly one person without a statement."""
    if not worth_asking(codes):
        return "none"
    if score >= certain_from() and ("homophone" not in codes or "stated_name" in codes):
        return "certain"
    return "likely" if score >= LIKELY else "ambiguous" if score >= AMBIGUOUS else "none"
