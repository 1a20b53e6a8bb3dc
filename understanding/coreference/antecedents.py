"""Whom one pointing word means: a log-linear model over those spoken of and nobody."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from accounts.reasons import Reason
from understanding.coreference import antecedent_evidence as evidence
from understanding.coreference.anaphors import Group
from understanding.coreference.antecedent_evidence import Features, Scene
from understanding.coreference.discourse import Referent
from understanding.learned import Logistic, model, sigmoid

# What feature is said of somebody as which reason.
SAID = {
    "this turn": "spoken_of_last",
    "last turn": "spoken_of_last",
    "turn before that": "spoken_of_last",
    "further": "still_topic",
    "last session": "last_session",
    "named ahead": "named_after",
    "gender unknown": "gender_unknown",
    "asked about": "answers_about_them",
    "they, alone": "singular_they",
    "beside another": "named_together",
    "latest set": "both_last",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """Those meant, contacts or not, each with how likely; more than one when plural or
    ``undecided`` between them."""

    all: tuple[tuple[Referent, float], ...]
    reason: Reason
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class Antecedents:
    """Weights by the group of the anaphor: of its meaning one candidate, and of its meaning
    nobody. ``sentence`` are the weights of what a text alone says of leaving nobody out;
    above ``nobody_from`` it does not. ``least`` is from what probability somebody is meant, by
    group, and with them who is less than ``rival`` times as unlikely; ``calibration`` are slope and
    offset of the log odds with which that is said (Platt 1999)."""

    candidate: Mapping[Group, Logistic]
    nobody: Mapping[Group, Logistic]
    sentence: Logistic
    nobody_from: float
    least: Mapping[Group, float]
    rival: float
    calibration: tuple[float, float] = (1.0, 0.0)

    def leaves_out(self, sentence: Features) -> bool:
        """Whether a text with these features may leave out whom it is about."""
        return self.sentence.log_odds(sentence) < self.nobody_from

    def probabilities(self, scene: Scene) -> list[float]:
        """How likely each of the candidates is meant. A singular means one of them or nobody,
        so that these share 1; a plural means each for itself."""
        group = scene.anaphor.group
        empty = self.nobody[group].log_odds(evidence.of_nobody(scene))
        if group == "unspoken":
            empty += self.sentence.log_odds(scene.sentence)
        weights = self.candidate[group]
        odds = [weights.log_odds(evidence.of_candidate(one, scene)) for one in scene.candidates]
        return shares(odds, empty, apart=group == "several")

    def confidence(self, likely: float) -> float:
        """How sure it is that somebody is meant whom a word means so likely."""
        likely = min(max(likely, 1e-6), 1.0 - 1e-6)
        slope, offset = self.calibration
        return sigmoid(slope * math.log(likely / (1.0 - likely)) + offset)

    def choose(self, scene: Scene) -> Choice | None:
        """Whom the anaphor means; None for nobody who was spoken of."""
        likely = self.probabilities(scene)
        group = scene.anaphor.group
        least = self.least[group]
        if group != "several" and (top := max(likely, default=0.0)) >= least:
            least = top / self.rival
        chosen = [(one, p) for one, p in zip(scene.candidates, likely, strict=True) if p >= least]
        if not chosen:
            return None
        undecided = len(chosen) > 1 and scene.anaphor.number == 1
        return Choice(tuple(chosen), self._reason(chosen, scene), undecided)

    def _reason(self, chosen: Sequence[tuple[Referent, float]], scene: Scene) -> Reason:
        """What speaks most for the likeliest."""
        a = scene.anaphor
        one = max(chosen, key=lambda pair: pair[1])[0]
        if a.form in ("former", "latter"):
            return Reason(a.form)
        found = evidence.of_candidate(one, scene)
        parts = self.candidate[a.group].parts(found)
        codes = SAID | {"gender agrees": a.gender}
        said = sorted((name for name in codes if found.get(name)), key=lambda name: -parts[name])
        reasons = [Reason("subject_omitted")] if a.form == "unspoken" else []
        reasons += [Reason(code) for code in dict.fromkeys(codes[name] for name in said)]
        if len(chosen) > 1 and a.number == 1:
            reasons.append(Reason("equally_likely", count=len(chosen)))
        return Reason("each_of", reasons=reasons)


def shares(odds: Sequence[float], empty: float, *, apart: bool) -> list[float]:
    """The probabilities of candidates with these log odds against nobody, who has ``empty``:
    of one of them, or ``apart`` of each."""
    if apart:
        return [sigmoid(one - empty) for one in odds]
    top = max([empty, *odds])
    parts = [math.exp(one - top) for one in odds]
    total = sum(parts) + math.exp(empty - top)
    return [part / total for part in parts]


@cache
def learned() -> Antecedents:
    """The model as ``python -m tools train reference_model`` wrote it."""
    found = model("antecedents")
    return Antecedents(
        {group: Logistic(0.0, weights) for group, weights in found["candidate"].items()},
        {group: Logistic(0.0, weights) for group, weights in found["nobody"].items()},
        Logistic(0.0, found["sentence"]),
        found["nobody_from"],
        found["least"],
        found["rival"],
        tuple(found["calibration"]),
    )
