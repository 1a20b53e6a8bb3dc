"""Chooses the antecedent of an anaphor: a log-linear model over people mentioned before, and
nobody.

Its features are those of mention-ranking models (Denis and Baldridge 2008; Durrett and Klein 2013):
recency and the like, agreement, and for the whole sentence its words. Grammatical and thematic
roles added nothing on held-out authors.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from accounts.reasons import Reason
from understanding import roles
from understanding.coreference.anaphors import Anaphor, Group, Turn
from understanding.coreference.discourse import Focus, PastTurn, Referent
from understanding.learned import Logistic, log_odds, model, sigmoid
from understanding.lexicon.rules import patterns
from understanding.text import HAN

lex = patterns(__file__)
_FIRST_PERSON = patterns("first_person")

Features = dict[str, float]
# Higher counts add nothing: the model was not learned from long conversations.
_MOST_COUNTED = 3


def agrees(asked: str, gender: str) -> bool:
    """Whether a word of gender ``asked`` can refer to a person of ``gender``; empty: either."""
    return not asked or not gender or asked == gender


@dataclass(frozen=True, slots=True)
class Scene:
    """What all candidates for ``anaphor`` share: its turn, the turn before, the candidates by
    gender and number, the latest first, and the features of the sentence."""

    anaphor: Anaphor
    turn: Turn
    focus: Focus
    before: PastTurn | None
    candidates: Sequence[Referent]
    sentence: Features


def of_candidate(one: Referent, scene: Scene) -> Features:
    """Returns the features of the anaphor referring to ``one``."""
    a = scene.anaphor
    features: Features = {"bias": 1.0, one.kind: 1.0, **_gender(a, one)}
    if one.last.turn < 0:
        return {**features, "named ahead": 1.0}
    features |= _recency(one, scene)
    features |= _rank(one, scene)
    features["often"] = math.log(min(one.count, _MOST_COUNTED))
    features["topic"] = float(one.first_turn < one.last.turn)
    features["first of turn"] = float(scene.focus.past_turns[one.last.turn].keys[0] == one.key)
    features["by pronoun"] = float(one.last.without_name)
    if one.last.turn == scene.focus.turn:
        features |= _clauses_back(one, scene)
    if a.group == "noun":
        features |= _noun_fit(one, scene)
    elif a.group == "several":
        features |= _plurality(one, scene)
    return features


def _clauses_back(one: Referent, scene: Scene) -> Features:
    """Returns the features of how many clauses before the anaphor the turn mentioned ``one``, and
    nobody else. A possessive may refer to the subject of its own clause (Tash brought her kids),
    another pronoun rarely does."""
    a, turn = scene.anaphor, scene.focus.turn
    people = [other for other in scene.candidates if other.person and other.last.turn == turn]
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
    """Returns the features of how long ago ``one`` was mentioned. Only for a pronoun is an earlier
    session a feature: authors who wrote a session after another mostly went on about somebody,
    while a session that begins with a noun, or without a subject, may be about the weather."""
    focus, last = scene.focus, one.last
    since = focus.past_turns[last.turn + 1 :]
    back = sum(turn.speaker == "user" for turn in since)
    features = {("this turn", "last turn", "turn before that", "further")[min(back, 3)]: 1.0}
    if scene.anaphor.group == "personal":
        features["last session"] = float(focus.is_earlier(one))
    before = scene.before
    if before is not None and before.speaker == "assistant" and one.key in before.keys:
        features["in reply"] = 1.0
        if lex.question.search(before.text):
            features["asked about"] = 1.0
            features["asked about and no"] = float(bool(lex.no.match(scene.turn.text)))
    return features


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


def _noun_fit(one: Referent, scene: Scene) -> Features:
    """Returns the features of how the noun phrase of the anaphor fits ``one``."""
    a, features = scene.anaphor, Features()
    if a.form in ("former", "latter", "other"):
        people = [other for other in scene.candidates if other.person]
        latest_people = [other for other in people if other.last.turn == people[0].last.turn]
        if len(latest_people) > 1 and one in latest_people:
            features[f"{a.form}: {min(latest_people.index(one), 2)}"] = 1.0
    if one.person is None or not a.word:
        return features
    if roles.is_called(one.person, a.word):
        features["called so"] = 1.0
    elif roles.is_role(a.word):
        features["called otherwise"] = 1.0
    asked, known = roles.noun_age(a.text.lower()), roles.person_age(one.person)
    if asked and known:
        features["age agrees" if asked == known else "age contradicts"] = 1.0
    return features


def _plurality(one: Referent, scene: Scene) -> Features:
    """Returns the features of who was mentioned with ``one``, and of how many people there are."""
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
    """Returns the features of the anaphor referring to nobody who was mentioned."""
    a, before = scene.anaphor, scene.before
    features: Features = {"bias": 1.0, a.form: 1.0, "quoted": float(a.quoted)}
    features["names somebody"] = float(bool(scene.turn.names))
    features["no contacts"] = float(not any(one.person for one in scene.candidates))
    if before is None:
        features["first turn"] = 1.0
    elif before.speaker == "user":
        features["after user"] = 1.0
    else:
        asks = bool(lex.question.search(before.text))
        third = bool(before.keys) or bool(lex.third_person.search(before.text))
        features["after question"] = float(asks)
        features["after question about others"] = float(asks and third)
        features["after question about you"] = float(asks and bool(lex.you.search(before.text)))
        features["after somebody"] = float(third)
    return features


def of_sentence(turn: Turn, anaphors: Sequence[Anaphor]) -> Features:
    """Returns the features of a sentence for and against a dropped subject that is a person."""
    text = turn.text
    features: Features = {"bias": 1.0, "Chinese": float(bool(HAN.search(text)))}
    features |= {f"has {one.group}": 1.0 for one in anaphors}
    features["question"] = float(bool(lex.question.search(text)))
    features["you"] = float(bool(lex.you.search(text)))
    features["first person"] = float(bool(_FIRST_PERSON.spoken.search(text)))
    return features | {f"word {word.text}": 1.0 for word in turn.words}


# The code of the reason that explains each feature.
REASON_BY_FEATURE = {
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
    """The people referred to, contacts or not, each with a probability: several for a plural, or if
    the model is ``undecided`` between them."""

    all: tuple[tuple[Referent, float], ...]
    reason: Reason
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class Antecedents:
    """Weights by group of the anaphor, for each candidate and for nobody. ``sentence`` are the
    weights of a text against a dropped subject; from ``nobody_from`` on it has none. ``least`` is
    the threshold of a group; above it a singular accepts all with 1/``rival`` of the best
    probability. ``calibration`` are slope and offset of the log odds (Platt 1999)."""

    candidate: Mapping[Group, Logistic]
    nobody: Mapping[Group, Logistic]
    sentence: Logistic
    nobody_from: float
    least: Mapping[Group, float]
    rival: float
    calibration: tuple[float, float] = (1.0, 0.0)

    def leaves_out(self, sentence: Features) -> bool:
        """Whether a text with these features may leave out the person it is about."""
        return self.sentence.log_odds(sentence) < self.nobody_from

    def probabilities(self, scene: Scene) -> list[float]:
        """Returns the probability of each candidate. A singular refers to one of them or nobody, so
        these share 1; for a plural each is independent."""
        group = scene.anaphor.group
        empty = self.nobody[group].log_odds(of_nobody(scene))
        if group == "unspoken":
            empty += self.sentence.log_odds(scene.sentence)
        weights = self.candidate[group]
        odds = [weights.log_odds(of_candidate(one, scene)) for one in scene.candidates]
        return shares(odds, empty, apart=group == "several")

    def confidence(self, likely: float) -> float:
        """Returns the calibrated probability, for a score of the model, that this is the person."""
        slope, offset = self.calibration
        return sigmoid(slope * log_odds(likely) + offset)

    def choose(self, scene: Scene) -> Choice | None:
        """Returns the antecedents of the anaphor; None if it refers to nobody mentioned before."""
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
        """Returns the reasons for the most probable person, the strongest first."""
        a = scene.anaphor
        one = max(chosen, key=lambda pair: pair[1])[0]
        if a.form in ("former", "latter"):
            return Reason(a.form)
        active = of_candidate(one, scene)
        parts = self.candidate[a.group].parts(active)
        codes = REASON_BY_FEATURE | {"gender agrees": a.gender}
        names = sorted((name for name in codes if active.get(name)), key=lambda name: -parts[name])
        reasons = [Reason("subject_omitted")] if a.form == "unspoken" else []
        reasons += [Reason(code) for code in dict.fromkeys(codes[name] for name in names)]
        if len(chosen) > 1 and a.number == 1:
            reasons.append(Reason("equally_likely", count=len(chosen)))
        return Reason("each_of", reasons=reasons)


def shares(odds: Sequence[float], empty: float, *, apart: bool) -> list[float]:
    """Returns the probabilities of candidates with these log odds against nobody, who has
    ``empty``: that it is one of them, or with ``apart`` each by itself."""
    if apart:
        return [sigmoid(one - empty) for one in odds]
    top = max([empty, *odds])
    parts = [math.exp(one - top) for one in odds]
    total = sum(parts) + math.exp(empty - top)
    return [part / total for part in parts]


@cache
def learned() -> Antecedents:
    """Returns the model as ``python -m tools train reference_model`` wrote it."""
    parameters = model("antecedents")
    return Antecedents(
        {group: Logistic(0.0, weights) for group, weights in parameters["candidate"].items()},
        {group: Logistic(0.0, weights) for group, weights in parameters["nobody"].items()},
        Logistic(0.0, parameters["sentence"]),
        parameters["nobody_from"],
        parameters["least"],
        parameters["rival"],
        tuple(parameters["calibration"]),
    )
