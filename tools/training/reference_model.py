"""Whom pronouns, dropped subjects and role words mean: the weights of understanding/coreference.

The corpus says whom a message means, not which of its words does. So each word's probabilities
of meaning somebody are put together, 1 - Π(1 - p), and the likelihood of what is said of the whole
message is maximised: noisy-or multiple-instance learning (Viola, Platt and Zhang 2006, Multiple
instance boosting for object detection). A feature has one weight for all groups of anaphors and
one for its own group, so that groups with few examples lean on the others (Daumé 2007,
Frustratingly easy domain adaptation).

Six kinds of examples: the cases of pronouns.jsonl; the messages of chats that a memory about one
person was plainly taken from (distant supervision, Mintz et al. 2009); the same with another chat
before them, since users go from one person to the next without saying so; sentences whose pronouns
mean whom they name; the same behind a sentence that names others, in one message; and sentences
that are about nobody, for that is what most messages are. The last three are put behind somebody
else's conversation.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from tools.bench.datasets import people_of
from tools.bench.metrics import SetCase, score_sets
from tools.training import by_author
from tools.training.by_author import Case, place_of
from understanding.coreference import antecedents as evidence
from understanding.coreference.anaphors import Group, find_anaphors, read_turn
from understanding.coreference.antecedents import Antecedents, Features, Scene
from understanding.coreference.discourse import Relation, stated_relations
from understanding.coreference.resolve import HISTORY_CHARACTERS, MESSAGE_CHARACTERS, Conversation
from understanding.learned import MODELS, Logistic, sigmoid
from understanding.people.mentions import entries_of, find_mentions
from understanding.types import Entry, How, Mention, Person, Utterance

FILE = MODELS / "antecedents.json"
SOURCES = ("pronouns", "extraction", "sentences")
SOURCE = "Learned by tools/training/reference_model.py."
GROUPS: tuple[Group, ...] = ("personal", "several", "noun", "unspoken")
# How much an example of each kind counts. With the cases of pronouns.jsonl alone, which are mostly
# about others than the message names, .75 of them are exact and .22 within a sentence; so weighed
# .73 and .86. Without those behind another chat .60 of these are right, with them .65.
WEIGHT = {
    "pronouns": 1.0,
    "extraction": 1.0,
    "behind": 0.5,
    "sentences": 0.5,
    "within": 0.75,
    "joined": 0.1,
}
# So many turns of another chat are put before one.
BEHIND = 6
# L2 of the weights that all groups share, and of each group's own.
SHARED, OWN = 1.0, 4.0
# A word is evidence when so many authors use it.
FEWEST_AUTHORS = 4
# A message was taken into a memory when it shares this part of its words with it, two at least.
TAKEN = 0.3
# From what probability somebody is meant, and how much likelier the likeliest of several may be.
# Chosen on held-out authors, where precision falls faster than recall grows; of a subject left out
# 0.46 finds .003 more cases exactly, but means somebody in .09 instead of .06 of what is about nobody.
LEAST: Mapping[Group, float] = {"personal": 0.33, "several": 0.45, "noun": 0.35, "unspoken": 0.62}
RIVAL = 1.35


@dataclass(frozen=True, slots=True)
class Example:
    """A message to be read after ``history``: ``meant`` are those it means without a name, of
    those who are not ``named`` in it."""

    kind: str
    message: Utterance
    history: Sequence[Utterance]
    last_session: Sequence[Utterance]
    relations: Sequence[Relation]
    meant: frozenset[Any]
    named: frozenset[Any]
    tag: str = ""

    def talk(self, model: Antecedents) -> Conversation:
        """The conversation as far as it goes before the message."""
        talk = Conversation(self.relations, model)
        talk.read_session(self.last_session, HISTORY_CHARACTERS)
        talk.read_session(self.history, HISTORY_CHARACTERS)
        return talk


def utterance(role: str, text: str, entries: Sequence[Entry]) -> Utterance:
    return Utterance(role, text, tuple(find_mentions(text, entries)))


def of_pronouns(case: Case) -> Example:
    people = people_of(case)
    entries = entries_of(people.values())

    def turns(name: str) -> list[Utterance]:
        return [utterance(turn["role"], turn["text"], entries) for turn in case.get(name) or ()]

    named = frozenset(people[key].id for key in case.get("named") or () if key in people)
    return Example(
        "pronouns",
        utterance("user", case["message"], entries),
        turns("history"),
        turns("last_session"),
        stated_relations(list(people.values())),
        frozenset(people[key].id for key in case["expect"]) - named,
        named,
        case["tag"],
    )


def of_chat(case: Case) -> Iterator[Example]:
    """The messages of a chat that one memory, and so one person, was plainly taken from."""
    gold = case["gold"]
    people = people_of(
        {"id": case["id"], "contacts": [{"key": one["name"], **one} for one in gold["contacts"]]}
    )
    entries = entries_of(people.values())
    memories = [(words_of(one["content"]), one["person"]) for one in gold["memories"]]
    turns = [utterance(one["role"], one["text"], entries) for one in case["messages"]]
    relations = stated_relations(list(people.values()))
    for place, turn in enumerate(turns):
        if turn.role != "user":
            continue
        named = frozenset(mention.person.id for mention in turn.mentions)
        read = read_turn(Utterance("user", turn.text), HISTORY_CHARACTERS)
        for person in taken_into(words_of(turn.text), memories):
            # One about the user may still point at others.
            if person is None and not find_anaphors(read):
                meant = frozenset[Any]()
            elif person in people and people[person].id not in named:
                meant = frozenset([people[person].id])
            else:
                continue
            yield Example("extraction", turn, turns[:place], (), relations, meant, named)


def of_chats(chats: Sequence[Case]) -> Iterator[Example]:
    """The examples of each chat of an author, and each of them again behind the end of another of
    the chats, in which nobody has the same name."""
    examples_of = {chat["id"]: list(of_chat(chat)) for chat in chats}
    last = [own[-1] for own in examples_of.values() if own]
    ends = [[*example.history, example.message][-BEHIND:] for example in last]
    for chat in chats:
        names = {one["name"] for one in chat["gold"]["contacts"]}
        others = [end for end in ends if names_in(end) and not names_in(end) & names]
        for example in examples_of[chat["id"]]:
            yield example
            if others:
                before = Random(chat["id"] + example.message.text).choice(others)  # noqa: S311
                yield replace(example, kind="behind", history=[*before, *example.history])


def names_in(turns: Iterable[Utterance]) -> set[str]:
    return {mention.person.name for turn in turns for mention in turn.mentions}


def words_of(text: str) -> frozenset[str]:
    turn = read_turn(Utterance("user", text), HISTORY_CHARACTERS)
    return frozenset(word.text for word in turn.words)


def taken_into(
    words: frozenset[str], memories: Sequence[tuple[frozenset[str], str | None]]
) -> list[str | None]:
    """The person of the memory that shares most with these words, None for the user, if no
    other person's comes near."""
    shared = [(len(words & theirs) / (len(words) or 1), person) for theirs, person in memories]
    part, person = max(shared, default=(0.0, None), key=lambda pair: pair[0])
    rivals = any(p > 0.7 * part for p, other in shared if other != person)
    return [person] if part >= TAKEN and part * len(words) >= 2 and not rivals else []


def of_sentences(sentences: Iterable[Case], cases: Sequence[Example]) -> Iterator[Example]:
    """Sentences about the user or nobody, and those whose pronouns mean whom they name, each
    behind a conversation of the same author."""
    talked = [one for one in cases if any(turn.mentions for turn in one.history)]
    sentences = list(sentences)
    naming = [utterance for case in sentences if (utterance := naming_others(case))]
    for case in sentences:
        before = Random(case["id"]).choice(talked)  # noqa: S311
        about_nobody = not case["spans"] and set(case["about"]) <= {"user"}
        mentions, pointed = spans_of(case)
        if about_nobody or (pointed and pointed <= {m.person.id for m in mentions}):
            example = replace(
                before,
                kind="sentences" if about_nobody else "within",
                message=Utterance("user", case["text"], tuple(mentions)),
                relations=(),
                meant=frozenset(pointed),
                named=frozenset(),
                tag=case["act"],
            )
            yield example
            ahead = Random(case["text"]).choice(naming) if naming else None  # noqa: S311
            if ahead and pointed and not names_in([ahead]) & names_in([example.message]):
                yield replace(example, kind="joined", message=joined(ahead, example.message))


def naming_others(case: Case) -> Utterance | None:
    """A sentence that names people, who are others than those of any other sentence, and has no
    pronouns; None for any other."""
    mentions, pointed = spans_of(case)
    if pointed or not mentions or find_anaphors(read_turn(Utterance("user", case["text"]), 600)):
        return None
    others = [
        replace(m, person=replace(m.person, id=uuid5(NAMESPACE_OID, f"{case['id']} {m.person.id}")))
        for m in mentions
    ]
    return Utterance("user", case["text"], tuple(others))


def joined(ahead: Utterance, message: Utterance) -> Utterance:
    """Two sentences of a user as one message."""
    text = ahead.text.rstrip(" .。，,") + (". " if message.text.isascii() else "，")
    moved = [replace(m, start=m.start + len(text), end=m.end + len(text)) for m in message.mentions]
    return Utterance("user", text + message.text, (*ahead.mentions, *moved))


GENDERS = {"she": "female", "her": "female", "hers": "female", "她": "female"} | {
    "he": "male", "him": "male", "his": "male", "他": "male"
}  # fmt: skip


def spans_of(case: Case) -> tuple[list[Mention], set[UUID]]:
    """Whom a sentence names, and those whom its pronouns mean."""
    words: dict[str, list[Case]] = defaultdict(list)
    for span in case["spans"]:
        if span["kind"] != "trap":
            words[span["key"]].append(span)
    mentions = []
    for key, own in words.items():
        called = {span["kind"]: span["text"] for span in reversed(own)}
        role = called.get("role", "")
        name = called.get("name") or called.get("nickname") or called.get("title") or role
        said = {GENDERS.get(span["text"].lower(), "") for span in own if span["kind"] == "pronoun"}
        # Of half of them the gender is known beforehand, as of people in life.
        known = Random(case["id"] + key).random() < 0.5  # noqa: S311
        gender = said.pop() if known and len(said) == 1 else ""
        person = Person(uuid5(NAMESPACE_OID, key), name, (), role, gender)
        for span in own:
            if span["kind"] != "pronoun":
                start, end = place_of(case["text"], span)
                how: How = "kinship" if span["kind"] == "role" else "name"
                mentions.append(Mention(person, start, end, span["text"], how, 1.0))
    pointed = {span["key"] for span in case["spans"] if span["kind"] == "pronoun"}
    mentions.sort(key=lambda mention: mention.start)
    return mentions, {uuid5(NAMESPACE_OID, key) for key in pointed}


def examples(folder: Path) -> list[Example]:
    """All examples of an author."""
    cases = [of_pronouns(case) for case in by_author.cases(folder / "pronouns.jsonl")]
    told = of_chats(by_author.cases(folder / "extraction.jsonl"))
    sentences = by_author.cases(folder / "sentences.jsonl")
    return [*cases, *told, *of_sentences(sentences, cases)]


@dataclass(frozen=True, slots=True)
class Seen:
    """One anaphor of a message: the features of its meaning nobody, of the sentence when it is
    unspoken, and of each candidate."""

    group: Group
    nobody: Features
    sentence: Features
    candidates: list[tuple[Any, Features]]


@dataclass(frozen=True, slots=True)
class Observing(Antecedents):
    """A model that keeps what it is asked."""

    seen: list[Seen] = field(default_factory=list)

    def probabilities(self, scene: Scene) -> list[float]:
        group = scene.anaphor.group
        people = [one.person.id if one.person else None for one in scene.candidates]
        features = [evidence.of_candidate(one, scene) for one in scene.candidates]
        sentence = scene.sentence if group == "unspoken" else {}
        of = list(zip(people, features, strict=True))
        self.seen.append(Seen(group, evidence.of_nobody(scene), sentence, of))
        return Antecedents.probabilities(self, scene)


def observe(example: Example, model: Antecedents) -> list[Seen]:
    """What a model sees of the message of an example, if it looks for the unspoken everywhere."""
    observing = Observing(
        model.candidate, model.nobody, model.sentence, float("inf"), model.least, model.rival
    )
    talk = example.talk(observing)
    observing.seen.clear()
    talk.read(example.message, MESSAGE_CHARACTERS)
    return list(observing.seen)


Row = tuple[Example, list[Seen]]
Key = tuple[str, str, str]


class Problem:
    """The examples as a matrix: a row for nobody and one for each candidate of each anaphor."""

    def __init__(self, rows: Mapping[str, Sequence[Row]]) -> None:
        self.columns: dict[Key, int] = {}
        self.words = vocabulary(rows)
        cells: list[tuple[int, int, float]] = []
        starts: list[int] = []
        several: list[bool] = []
        outcomes: dict[tuple[int, Any], list[int]] = defaultdict(list)
        every = [row for own in rows.values() for row in own]
        size = 0
        for number, (example, seen) in enumerate(every):
            for one in seen:
                starts.append(size)
                cells += self._cells(size, one.group, "nobody", one.nobody)
                cells += self._cells(size, one.group, "sentence", one.sentence)
                for place, (key, features) in enumerate(one.candidates, start=1):
                    cells += self._cells(size + place, one.group, "candidate", features)
                    if key is not None and key not in example.named:
                        outcomes[number, key].append(size + place)
                size += 1 + len(one.candidates)
                several += [one.group == "several"] * (1 + len(one.candidates))
        at, column, value = zip(*cells, strict=True)
        self.matrix = csr_matrix((value, (at, column)), shape=(size, len(self.columns)))
        self.starts = np.array(starts)
        self.of = np.repeat(np.arange(len(starts)), np.diff([*starts, size]))
        self.several = np.array(several)
        self.is_nobody = np.zeros(size, dtype=bool)
        self.is_nobody[self.starts] = True
        self.row = np.array([row for found in outcomes.values() for row in found])
        self.outcome = np.repeat(np.arange(len(outcomes)), [len(x) for x in outcomes.values()])
        self.meant = np.array([key in every[number][0].meant for number, key in outcomes], float)
        self.weight = np.array([WEIGHT[every[number][0].kind] for number, _ in outcomes])
        self.penalty = np.array([SHARED if group == "*" else OWN for group, _, _ in self.columns])

    def _cells(
        self, row: int, group: str, kind: str, features: Features
    ) -> Iterator[tuple[int, int, float]]:
        for name, x in features.items():
            if x and (not name.startswith("word ") or name in self.words):
                for which in ("*", group):
                    yield row, self.columns.setdefault((which, kind, name), len(self.columns)), x

    def probabilities(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        odds = self.matrix @ weights
        parts = np.exp(odds - np.maximum.reduceat(odds, self.starts)[self.of])
        shared = parts / np.add.reduceat(parts, self.starts)[self.of]
        against = np.clip(odds[self.starts][self.of] - odds, -500, 500)
        return np.clip(np.where(self.several, 1 / (1 + np.exp(against)), shared), 1e-9, 1 - 1e-9)

    def loss(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The negative log-likelihood of who is meant, penalised, and its gradient."""
        p = self.probabilities(weights)
        missed = np.exp(np.bincount(self.outcome, np.log1p(-p[self.row])))
        missed = np.clip(missed, 1e-9, 1 - 1e-9)
        likely = np.where(self.meant == 1, np.log1p(-missed), np.log(missed))
        slope = self.weight * np.where(self.meant == 1, 1 / (1 - missed), -1 / missed)
        by_p = np.zeros(len(p))
        by_p[self.row] = (-slope * missed)[self.outcome] / (1 - p[self.row])
        flow = p * by_p
        total = np.add.reduceat(flow, self.starts)[self.of]
        by_odds = np.where(self.several, flow * (1 - p), flow - p * total)
        apart = np.where(self.several & ~self.is_nobody, by_odds, 0.0)
        against = np.add.reduceat(apart, self.starts)[self.of]
        by_odds = np.where(self.several & self.is_nobody, -against, by_odds)
        value = -(self.weight * likely).sum() + (self.penalty * weights**2).sum() / 2
        return float(value), self.matrix.T @ by_odds + self.penalty * weights

    def solve(self) -> Antecedents:
        begun = np.zeros(len(self.columns))
        found = minimize(self.loss, begun, jac=True, method="L-BFGS-B", options={"maxiter": 300})
        parts: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for (which, kind, name), weight in zip(self.columns, found.x.tolist(), strict=True):
            for group in GROUPS if which == "*" else (which,):
                parts[kind, group][name] += weight
        return antecedents_of(
            {group: Logistic(0.0, parts["candidate", group]) for group in GROUPS},
            {group: Logistic(0.0, parts["nobody", group]) for group in GROUPS},
            Logistic(0.0, parts["sentence", "unspoken"]),
        )


def antecedents_of(
    candidate: Mapping[Group, Logistic],
    nobody: Mapping[Group, Logistic],
    sentence: Logistic,
    nobody_from: float = float("inf"),
) -> Antecedents:
    return Antecedents(candidate, nobody, sentence, nobody_from, LEAST, RIVAL)


def vocabulary(rows: Mapping[str, Sequence[Row]]) -> frozenset[str]:
    """The words of sentences that enough authors use."""
    users: dict[str, set[str]] = defaultdict(set)
    for author, own in rows.items():
        for name in {name for _, seen in own for one in seen for name in one.sentence}:
            users[name].add(author)
    return frozenset(name for name, authors in users.items() if len(authors) >= FEWEST_AUTHORS)


def rows(folder: Path) -> list[Row]:
    """What a model that takes all for equally likely sees of an author's examples: in what came
    before a message, a pronoun means the only one who fits or nobody."""
    flat = {group: Logistic(0.0, {}) for group in GROUPS}
    model = antecedents_of(flat, flat, Logistic(0.0, {}))
    return [(one, observe(one, model)) for one in examples(folder)]


def fit(data: Mapping[str, Sequence[Row]]) -> Antecedents:
    model = Problem(data).solve()
    return replace(model, nobody_from=_nobody_from(data, model))


def _nobody_from(data: Mapping[str, Sequence[Row]], model: Antecedents) -> float:
    """What a sentence says at most where somebody unspoken is meant, in 95 of 100 cases."""
    said = [
        model.sentence.log_odds(one.sentence)
        for own in data.values()
        for example, seen in own
        for one in seen
        if one.sentence and not example.meant.isdisjoint(key for key, _ in one.candidates)
    ]
    return round(float(np.quantile(said, 0.95)), 3)


def meant(example: Example, model: Antecedents) -> dict[Any, float]:
    """Whom a model takes to be meant, and how surely."""
    found = example.talk(model).read(example.message, MESSAGE_CHARACTERS)
    sure: dict[Any, float] = {}
    for mention in found:
        if mention.person.id not in example.named:
            sure[mention.person.id] = max(sure.get(mention.person.id, 0.0), mention.confidence)
    return sure


def figures(own: Sequence[Row], model: Antecedents) -> dict[str, float | None]:
    """Of the pronouns' cases as the bench says it; how often all are right who are meant within a
    sentence, by a message of a chat, and by one behind another chat; how often somebody is meant by
    a sentence about nobody."""
    found = [(one, frozenset(meant(one, model))) for one, _ in own]
    cases = [SetCase(one.tag, one.meant, who) for one, who in found if one.kind == "pronouns"]
    others = [bool(who) for one, who in found if one.kind == "sentences"]
    within = [one.meant == who for one, who in found if one.kind == "within"]
    joined = [one.meant == who for one, who in found if one.kind == "joined"]
    chats = [one.meant == who for one, who in found if one.kind == "extraction"]
    behind = [one.meant == who for one, who in found if one.kind == "behind"]
    scored = score_sets(cases)
    names = ("exact", "precision", "recall", "f1")
    return {name: scored[name] for name in names} | {
        "within": float(np.mean(within)),
        "joined": float(np.mean(joined)) if joined else None,
        "chats": float(np.mean(chats)),
        "behind": float(np.mean(behind)) if behind else None,
        "somebody": float(np.mean(others)),
    }


def calibrated(said: Sequence[float], was: Sequence[bool]) -> tuple[float, float]:
    """Slope and offset of the log odds that fit these outcomes (Platt 1999)."""
    odds = np.log(np.asarray(said) / (1 - np.asarray(said)))
    found = LogisticRegression(C=1e6).fit(odds[:, None], was)
    return round(float(found.coef_[0][0]), 3), round(float(found.intercept_[0]), 3)


def train(*, write: bool) -> None:
    folders = sorted(by_author.CORPUS.glob("a[0-9][0-9]"))
    data = {folder.name: rows(folder) for folder in folders}
    table: dict[str, dict[str, float | None]] = {}
    said: list[float] = []
    was: list[bool] = []
    for name, model in by_author.held_out(data, fit):
        table[name] = figures(data[name], model)
        for one, _ in data[name]:
            for key, sure in meant(one, model).items() if one.kind == "pronouns" else ():
                said.append(min(sure, 0.99))
                was.append(key in one.meant)
    print(by_author.table(table))
    calibration = calibrated(said, was)
    told = [sigmoid(calibration[0] * math.log(p / (1 - p)) + calibration[1]) for p in said]
    print("\nconfidence of those said to be meant, as the model has it and calibrated")
    print(by_author.reliability(said, was))
    print(by_author.reliability(told, was))
    print("\nexact after so many authors")
    print(by_author.learning_curve(data, fit, lambda model, own: figures(own, model)["exact"] or 0))
    if write:
        model = replace(fit(data), calibration=calibration)
        by_author.write(FILE, SOURCES, SOURCE, stored(model))


def stored(model: Antecedents) -> dict[str, Any]:
    """The model as the product reads it."""

    def weights(logistic: Logistic) -> dict[str, float]:
        found = {name: round(x, 3) for name, x in sorted(logistic.weights.items())}
        return {name: x for name, x in found.items() if x}

    return {
        "candidate": {group: weights(one) for group, one in model.candidate.items()},
        "nobody": {group: weights(one) for group, one in model.nobody.items()},
        "sentence": weights(model.sentence),
        "nobody_from": model.nobody_from,
        "least": dict(model.least),
        "rival": model.rival,
        "calibration": list(model.calibration),
    }
