"""Whom one pointing word means: a log-linear model over those spoken of and nobody.

Its features are those of mention-ranking models (Denis and Baldridge 2008; Durrett and Klein 2013):
recency and its kin, agreement, and for the whole sentence its words. Grammatical and thematic
roles added nothing on authors that were held out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from accounts.reasons import Reason
from understanding import roles
from understanding.coreference.anaphors import Anaphor, Group, Turn
from understanding.coreference.discourse import Focus, Referent, Said
from understanding.learned import Logistic, log_odds, model, sigmoid
from understanding.lexicon.rules import patterns
from understanding.text import HAN

lex = patterns(__file__)
_FIRST_PERSON = patterns("first_person")

Features = dict[str, float]
# More often than this says no more: long conversations are not what was learned from.
_OFTEN = 3


def agrees(asked: str, gender: str) -> bool:
    """Whether a word of gender ``asked`` can mean one of ``gender``; empty: either."""
    return not asked or not gender or asked == gender


@dataclass(frozen=True, slots=True)
class Scene:
    """What is the same for all whom ``anaphor`` may mean: the turn it is in, the turn before,
    those it may mean by gender and number, the latest first, and the features of the sentence."""

    anaphor: Anaphor
    turn: Turn
    focus: Focus
    before: Said | None
    candidates: Sequence[Referent]
    sentence: Features


def of_candidate(one: Referent, scene: Scene) -> Features:
    """The features of the anaphor meaning ``one``."""
    a = scene.anaphor
    found: Features = {"bias": 1.0, one.kind: 1.0, **_gender(a, one)}
    if one.last.turn < 0:
        return {**found, "named ahead": 1.0}
    found |= _recency(one, scene)
    found |= _rank(one, scene)
    found["often"] = math.log(min(one.count, _OFTEN))
    found["topic"] = float(one.first_turn < one.last.turn)
    found["first of turn"] = float(scene.focus.said[one.last.turn].keys[0] == one.key)
    found["by pronoun"] = float(one.last.pointed)
    if one.last.turn == scene.focus.turn:
        found |= _clauses_back(one, scene)
    if a.group == "noun":
        found |= _noun(one, scene)
    elif a.group == "several":
        found |= _together(one, scene)
    return found


def _clauses_back(one: Referent, scene: Scene) -> Features:
    """How far before the anaphor the turn spoke of ``one``, and whether of nobody else: a word for whose
    something is may mean the subject of its own clause (Tash brought her kids), another rarely does."""
    a, here = scene.anaphor, scene.focus.turn
    people = [other for other in scene.candidates if other.person and other.last.turn == here]
    back = scene.turn.clause(a.start) - one.last.clause
    place = {0: "same clause", 1: "clause before"}.get(
        back, "clauses before" if back > 0 else "ahead"
    )
    alone = people == [one] and a.number == 1
    return {
        place: 1.0,
        f"{place}, whose": float(a.case == "whose"),
        "only one here": float(alone),
        "only one here, whose": float(alone and a.case == "whose"),
    }


def _gender(a: Anaphor, one: Referent) -> Features:
    if a.they:
        return {"they of known gender": float(one.gender in ("female", "male"))}
    if not a.gender:
        return {}
    return {"gender agrees" if one.gender else "gender unknown": 1.0}


def _recency(one: Referent, scene: Scene) -> Features:
    """How long ago ``one`` was spoken of. Only to a pronoun is an earlier session evidence of its
    own: who wrote a conversation down with the one before it mostly went on about somebody, while
    a session that begins with a noun, or with no subject, may as well be about the weather."""
    focus, last = scene.focus, one.last
    since = focus.said[last.turn + 1 :]
    back = sum(said.speaker == "user" for said in since)
    found = {("this turn", "last turn", "turn before that", "further")[min(back, 3)]: 1.0}
    if scene.anaphor.group == "personal":
        found["last session"] = float(focus.is_earlier(one))
    before = scene.before
    if before is not None and before.speaker == "assistant" and one.key in before.keys:
        found["in reply"] = 1.0
        if lex.question.search(before.text):
            found["asked about"] = 1.0
            found["asked about and no"] = float(bool(lex.no.match(scene.turn.text)))
    return found


def _rank(one: Referent, scene: Scene) -> Features:
    people = [other for other in scene.candidates if other.person]
    beside = [other for other in people if other.last.turn == one.last.turn]
    latest = bool(people) and people[0].last.turn == one.last.turn
    return {
        "of the latest turn": float(latest),
        "alone in the latest turn": float(latest and beside == [one]),
        f"latest {one.kind}": float(scene.candidates[0] is one),
        f"behind a {scene.candidates[0].kind}": float(scene.candidates[0] is not one),
        "latest contact": float(people[:1] == [one]),
        "rank": math.log1p(scene.candidates.index(one)),
        "only contact": float(people == [one]),
    }


def _noun(one: Referent, scene: Scene) -> Features:
    """Whether what a phrase says of somebody is so of ``one``."""
    a, found = scene.anaphor, Features()
    if a.form in ("former", "latter", "other"):
        people = [other for other in scene.candidates if other.person]
        together = [other for other in people if other.last.turn == people[0].last.turn]
        if len(together) > 1 and one in together:
            found[f"{a.form}: {min(together.index(one), 2)}"] = 1.0
    if one.person is None or not a.word:
        return found
    if roles.is_called(one.person, a.word):
        found["called so"] = 1.0
    elif roles.is_role(a.word):
        found["called otherwise"] = 1.0
    asked, known = roles.noun_age(a.text.lower()), roles.person_age(one.person)
    if asked and known:
        found["age agrees" if asked == known else "age contradicts"] = 1.0
    return found


def _together(one: Referent, scene: Scene) -> Features:
    """Whether others were brought up with ``one``, and how many there are."""
    a = scene.anaphor
    people = [other for other in scene.candidates if other.person]
    turns = [other.last.turn for other in people]
    beside = [
        other
        for other in people
        if (other.last.turn, other.last.clause) == (one.last.turn, one.last.clause)
    ]
    latest = next((turn for turn in turns if turns.count(turn) > 1), None)
    return {
        "two": float(a.number == 2),
        "they": float(a.they),
        "they, alone": float(a.they and len(people) == 1),
        "alone": float(len(people) == 1),
        "of two": float(len(people) == 2),
        "beside another": float(len(beside) > 1),
        "with another in turn": float(turns.count(one.last.turn) > 1),
        "latest set": float(one.last.turn == latest),
    }


def of_nobody(scene: Scene) -> Features:
    """The features of the anaphor meaning nobody who was spoken of."""
    a, before = scene.anaphor, scene.before
    found: Features = {"bias": 1.0, a.form: 1.0, "quoted": float(a.quoted)}
    found["names somebody"] = float(bool(scene.turn.names))
    found["no contacts"] = float(not any(one.person for one in scene.candidates))
    if before is None:
        found["first turn"] = 1.0
    elif before.speaker == "user":
        found["after user"] = 1.0
    else:
        asks = bool(lex.question.search(before.text))
        third = bool(before.keys) or bool(lex.third_person.search(before.text))
        found["after question"] = float(asks)
        found["after question about others"] = float(asks and third)
        found["after question about you"] = float(asks and bool(lex.you.search(before.text)))
        found["after somebody"] = float(third)
    return found


def of_sentence(turn: Turn, anaphors: Sequence[Anaphor]) -> Features:
    """What the words of a sentence say of whether it leaves out whom it is about."""
    text = turn.text
    found: Features = {"bias": 1.0, "Chinese": float(bool(HAN.search(text)))}
    found |= {f"has {one.group}": 1.0 for one in anaphors}
    found["question"] = float(bool(lex.question.search(text)))
    found["you"] = float(bool(lex.you.search(text)))
    found["first person"] = float(bool(_FIRST_PERSON.spoken.search(text)))
    return found | {f"word {word.text}": 1.0 for word in turn.words}


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
        empty = self.nobody[group].log_odds(of_nobody(scene))
        if group == "unspoken":
            empty += self.sentence.log_odds(scene.sentence)
        weights = self.candidate[group]
        odds = [weights.log_odds(of_candidate(one, scene)) for one in scene.candidates]
        return shares(odds, empty, apart=group == "several")

    def confidence(self, likely: float) -> float:
        """The calibrated probability for a score of the model: that the person is the one who is meant."""
        slope, offset = self.calibration
        return sigmoid(slope * log_odds(likely) + offset)

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
        found = of_candidate(one, scene)
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
