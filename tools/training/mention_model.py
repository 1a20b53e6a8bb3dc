"""Learns how likely a hit is a mention (understanding/people/mentions.py): logistic regression
over the evidence, calibrated on authors held out (Platt 1999)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from tools.bench.datasets import people_of
from tools.bench.metrics import SetCase, score_sets
from tools.training import by_author
from tools.training.by_author import Case
from understanding.learned import MODELS, Logistic
from understanding.names import name_key
from understanding.people.evidence import GUESSED, Evidence, Features
from understanding.people.mentions import decide, entries_of, hits_of
from understanding.people.spans import Hit
from understanding.roles import roles_of
from understanding.types import Person

# Stronger and weaker penalties (0.1 to 3) gave less on held-out authors, or calibrated worse.
INVERSE_PENALTY = 1.0
TO = MODELS / "mention_model.json"


# What a hit of each file weighs. Half the messages of ``mentions`` are traps, far more than people
# type; ``sentences`` are as they come in a chat, so that these set the prior. Chats say nothing
# against a hit and count little.
WEIGHTS = {"mentions": 1.0, "sentences": 0.5, "extraction": 0.25}
WHOLE = ("name", "alias")
NAMING = ("name", "nickname", "title")


@dataclass(frozen=True, slots=True)
class Read:
    """A message with its hits, the features of each, and whether it means the person there;
    ``keys`` are of the contacts of a case of ``mentions``."""

    file: str
    case: Case
    hits: Sequence[Hit]
    features: Sequence[Features]
    truths: Sequence[bool]
    keys: Sequence[str] = ()


Readings = Mapping[str, list[Read]]


def hits_with_features(
    text: str, people: Iterable[Person]
) -> Iterator[tuple[Hit, tuple[int, int], Features]]:
    """Each hit, where it stands in the text as given, and its features."""
    for offset, reading, found in hits_of(text, entries_of(people)):
        evidence = Evidence(reading, found)
        for hit in found:
            start, end = reading.original(hit.start, hit.end)
            yield hit, (start + offset, end + offset), evidence.of(hit)


def read_mentions(case: Case) -> Read:
    people = people_of(case)
    key_of = {person.id: key for key, person in people.items()}
    found = list(hits_with_features(case["message"], people.values()))
    keys = [key_of[hit.person.id] for hit, _, _ in found]
    truths = [key in case["expect"] for key in keys]
    evidence = [one for _, _, one in found]
    return Read("mentions", case, [hit for hit, _, _ in found], evidence, truths, keys)


def circle_of(cases: Iterable[Case]) -> list[Person]:
    """The people of one author's life: every contact of any of their cases of ``mentions``,
    those of one name as one."""
    circle: dict[str, Person] = {}
    for case in cases:
        for person in people_of(case).values():
            known = circle.setdefault(name_key(person.name), person)
            aliases = tuple(dict.fromkeys((*known.aliases, *person.aliases)))
            circle[name_key(person.name)] = replace(known, aliases=aliases)
    return list(circle.values())


def places(case: Case, *kinds: str) -> dict[tuple[int, int], str]:
    """Where the spans of these kinds stand in the text of a sentence, and their words."""
    found = {}
    for span in case["spans"]:
        if span["kind"] in kinds:
            start = -1
            for _ in range(span["nth"] + 1):
                start = case["text"].index(span["text"], start + 1)
            found[start, start + len(span["text"])] = span["text"]
    return found


def read_sentence(case: Case, circle: Sequence[Person]) -> Read:
    """What an author's circle, and whoever else the sentence names, is to a sentence. Left out
    is what the spans don't say: whose role a role is, and who of several is meant."""
    named, roles = places(case, *NAMING), places(case, "role")
    answered = {at for _, at, _ in hits_with_features(case["text"], circle)}
    others = [
        Person(uuid5(NAMESPACE_URL, text), text)
        for text in dict.fromkeys(text for at, text in named.items() if at not in answered)
    ]
    found = list(hits_with_features(case["text"], [*circle, *others]))
    rows = []
    for hit, at, features in found:
        if hit.role or hit.kind == "role phrase" or any(overlap(at, role) for role in roles):
            continue
        if not any(overlap(at, name) for name in named):
            rows.append((hit, features, False))
        elif at in named:
            there = {one.person.id: one for one, place, _ in found if place == at}
            sure = [one for one in there.values() if whole(one)]
            if len(sure) == 1 or (len(there) == 1 and hit.kind not in GUESSED):
                rows.append((hit, features, hit in sure or len(there) == 1))
    evidence, truths = [one for _, one, _ in rows], [truth for _, _, truth in rows]
    return Read("sentences", case, [hit for hit, _, _ in rows], evidence, truths)


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def whole(hit: Hit) -> bool:
    return hit.kind in WHOLE and not hit.form


def read_chat(case: Case) -> Iterator[Read]:
    """The user's messages with the whole names of those whom the chat tells of."""
    people = [
        Person(uuid5(NAMESPACE_URL, one["name"]), one["name"], tuple(one["aliases"]))
        for one in case["gold"]["contacts"]
        if not roles_of(one["name"])
    ]
    for message in case["messages"]:
        if message["role"] == "user":
            found = hits_with_features(message["text"], people)
            rows = [(hit, features) for hit, _, features in found if whole(hit) and not hit.role]
            evidence = [one for _, one in rows]
            yield Read("extraction", case, [hit for hit, _ in rows], evidence, [True] * len(rows))


def read(author: str) -> list[Read]:
    """Everything of one author."""
    files = {name: by_author.cases(by_author.CORPUS / author / f"{name}.jsonl") for name in WEIGHTS}
    circle = circle_of(files["mentions"])
    out = [read_mentions(case) for case in files["mentions"]]
    out += [read_sentence(case, circle) for case in files["sentences"]]
    return out + [row for case in files["extraction"] for row in read_chat(case)]


def fit(data: Readings) -> Logistic:
    rows = [row for rows in data.values() for row in rows]
    features = [one for row in rows for one in row.features]
    truths = [one for row in rows for one in row.truths]
    weights = [WEIGHTS[row.file] for row in rows for _ in row.truths]
    vectorizer = DictVectorizer()
    inputs = vectorizer.fit_transform(features)
    learned = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000)
    learned.fit(inputs, truths, sample_weight=weights)
    names = vectorizer.get_feature_names_out()
    found = dict(zip(names, map(float, learned.coef_[0]), strict=True))
    return Logistic(float(learned.intercept_[0]), found)


def calibration(data: Readings) -> tuple[float, float]:
    """Slope and shift of log odds that make them right on authors held out."""
    odds: list[float] = []
    truths: list[bool] = []
    weights: list[float] = []
    for name, learned in by_author.held_out(data, fit):
        for row in data[name]:
            odds += [learned.log_odds(one) for one in row.features]
            truths += row.truths
            weights += [WEIGHTS[row.file]] * len(row.truths)
    line = LogisticRegression(C=1e6).fit(np.array(odds)[:, None], truths, sample_weight=weights)
    return float(line.coef_[0][0]), float(line.intercept_[0])


def calibrated(learned: Logistic, slope: float, shift: float) -> Logistic:
    weights = {name: round(weight * slope, 4) for name, weight in learned.weights.items()}
    return Logistic(round(learned.bias * slope + shift, 4), weights)


def chosen(learned: Logistic, row: Read) -> set[Hit]:
    """The hits of a message that are mentions."""
    probable = [learned.probability(one) for one in row.features]
    likely = decide(list(zip(row.hits, probable, strict=True)))
    return {hit for group in likely.values() for hit, _ in group}


def score(learned: Logistic, rows: Sequence[Read]) -> dict[str, float]:
    """Of ``mentions``: exact cases, and F1 over (case, contact) pairs."""
    sets = []
    for row in rows:
        if row.file == "mentions":
            meant = chosen(learned, row)
            given = {key for hit, key in zip(row.hits, row.keys, strict=True) if hit in meant}
            sets.append(SetCase(row.case["tag"], frozenset(row.case["expect"]), frozenset(given)))
    return score_sets(sets)


def score_whole(learned: Logistic, rows: Sequence[Read]) -> dict[str, float]:
    """Of ``sentences``: how many whole names are found, of those that are no words at all,
    and how many of all mentions found mean the person."""
    found, plain, right = [], [], []
    for row in rows:
        if row.file != "sentences":
            continue
        meant = chosen(learned, row)
        for hit, features, truth in zip(row.hits, row.features, row.truths, strict=True):
            if truth and whole(hit):
                found.append(hit in meant)
                if features.get("exact: no word"):
                    plain.append(hit in meant)
            if hit in meant:
                right.append(truth)
    return {
        "whole found": float(np.mean(found)),
        "no word: found": float(np.mean(plain)),
        "right": float(np.mean(right)),
    }


def train(*, write: bool) -> None:
    data = {
        folder.name: read(folder.name) for folder in sorted(by_author.CORPUS.glob("a[0-9][0-9]"))
    }
    line = calibration(data)
    unseen = {name: calibrated(one, *line) for name, one in by_author.held_out(data, fit)}

    kept = ("exact", "precision", "recall", "f1")
    figures = {}
    for name, rows in sorted(data.items()):
        scored = score(unseen[name], rows)
        figures[name] = {key: scored[key] for key in kept} | score_whole(unseen[name], rows)
    print(by_author.table(figures))
    for file in ("mentions", "sentences"):
        said: list[float] = []
        was: list[bool] = []
        for name, rows in data.items():
            for row in rows:
                if row.file == file:
                    said += [unseen[name].probability(one) for one in row.features]
                    was += row.truths
        print(file, by_author.reliability(said, was), sep="\n")
    curve = by_author.learning_curve(
        data, fit, lambda learned, rows: score(calibrated(learned, *line), rows)["f1"]
    )
    print("F1 after learning from so many authors", curve)
    if write:
        learned = calibrated(fit(data), *line)
        found = {"bias": learned.bias, "weights": dict(learned.weights)}
        by_author.write(TO, sorted(WEIGHTS), "python -m tools train mention_model --write", found)
