"""Learns how likely a hit is a mention (contacts/matching/disambiguation.py): logistic regression
over the evidence, calibrated on authors held out (Platt 1999)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from contacts.learned import Logistic
from contacts.matching import disambiguation
from contacts.matching.disambiguation import decide
from contacts.matching.evidence import Evidence, Features
from contacts.matching.mentions import entries_of, hits_of
from contacts.matching.spans import Hit
from memories.bench.datasets import people_of
from memories.bench.metrics import SetCase, score_sets
from tools.training import by_author
from tools.training.by_author import Authors, Case

# Stronger and weaker penalties (0.1 to 3) gave less on held-out authors, or calibrated worse.
INVERSE_PENALTY = 1.0
# Of a case of mentions and of an ordinary sentence, which is easy.
ORDINARY = "ordinary"
WEIGHTS = (1.0, 0.15)
TO = Path(disambiguation.__file__).with_name("mention_model.json")


@dataclass(frozen=True, slots=True)
class Read:
    """A case with its hits, the contact and the features of each, and whether it is expected."""

    case: Case
    hits: Sequence[Hit]
    keys: Sequence[str]
    features: Sequence[Features]

    @property
    def truths(self) -> list[bool]:
        return [key in self.case["expect"] for key in self.keys]


def read(case: Case) -> Read:
    people = people_of(case)
    key_of = {person.id: key for key, person in people.items()}
    hits: list[Hit] = []
    features: list[Features] = []
    for _, reading, found in hits_of(case["message"], entries_of(people.values())):
        evidence = Evidence(reading, found)
        hits += found
        features += map(evidence.of, found)
    return Read(case, hits, [key_of[hit.person.id] for hit in hits], features)


def ordinary(sentence: Case) -> Case | None:
    """A sentence of the corpus as a case, its named people as contacts, and as others what only
    looks like a name. The cases of mentions are traps for a third; alone they would say that a
    name is less likely a person than it is."""
    names: dict[str, set[str]] = {}
    for number, span in enumerate(sentence["spans"]):
        if span["kind"] == "name":
            names.setdefault(span["key"], set()).add(span["text"])
        elif span["kind"] == "trap":
            names[f"trap {number}"] = {span["text"]}
    if not names:
        return None
    contacts = [
        {"key": key, "name": one, "aliases": sorted(called - {one})}
        for key, called in names.items()
        for one in [max(sorted(called), key=len)]
    ]
    return {
        "id": sentence["id"],
        "tag": ORDINARY,
        "message": sentence["text"],
        "contacts": contacts,
        "expect": [key for key in names if not key.startswith("trap")],
    }


def fit(data: Authors) -> Logistic:
    """``data`` with the reading of each case beside it, as ``train`` makes it."""
    rows = [case["read"] for cases in data.values() for case in cases]
    features = [one for row in rows for one in row.features]
    truths = [one for row in rows for one in row.truths]
    weights_of = [WEIGHTS[row.case["tag"] == ORDINARY] for row in rows for _ in row.features]
    vectorizer = DictVectorizer()
    inputs = vectorizer.fit_transform(features)
    learned = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000).fit(inputs, truths, weights_of)
    names = vectorizer.get_feature_names_out()
    weights = dict(zip(names, map(float, learned.coef_[0]), strict=True))
    return Logistic(float(learned.intercept_[0]), weights)


def calibration(data: Authors) -> tuple[float, float]:
    """Slope and shift of log odds that make them right on authors held out."""
    odds, truths = [], []
    for name, learned in by_author.held_out(data, fit):
        for case in data[name]:
            odds += [learned.log_odds(one) for one in case["read"].features]
            truths += case["read"].truths
    line = LogisticRegression(C=1e6).fit(np.array(odds)[:, None], truths)
    return float(line.coef_[0][0]), float(line.intercept_[0])


def calibrated(learned: Logistic, slope: float, shift: float) -> Logistic:
    weights = {name: round(weight * slope, 4) for name, weight in learned.weights.items()}
    return Logistic(round(learned.bias * slope + shift, 4), weights)


def score(learned: Logistic, cases: Sequence[Case]) -> dict[str, float]:
    """Exact cases and F1 over (case, contact) pairs."""
    sets = []
    for case in cases:
        row = case["read"]
        probable = [learned.probability(one) for one in row.features]
        likely = decide(list(zip(row.hits, probable, strict=True)))
        chosen = {hit for group in likely.values() for hit, _ in group}
        given = {key for hit, key in zip(row.hits, row.keys, strict=True) if hit in chosen}
        sets.append(SetCase(case["tag"], frozenset(case["expect"]), frozenset(given)))
    return score_sets(sets)


def train(*, write: bool) -> None:
    data = by_author.authors("mentions")
    for name, sentences in by_author.authors("sentences").items():
        data[name] += [case for sentence in sentences if (case := ordinary(sentence))]
    data = {name: [case | {"read": read(case)} for case in cases] for name, cases in data.items()}
    line = calibration(data)
    unseen = {name: calibrated(one, *line) for name, one in by_author.held_out(data, fit)}

    kept = ("exact", "precision", "recall", "f1")
    for plain in (False, True):
        figures = {
            name: score(unseen[name], [c for c in data[name] if (c["tag"] == ORDINARY) is plain])
            for name in sorted(data)
        }
        print("ordinary sentences" if plain else "cases of mentions")
        print(by_author.table({name: {k: one[k] for k in kept} for name, one in figures.items()}))
    said, was = [], []
    for name, cases in data.items():
        for case in cases:
            said += [unseen[name].probability(one) for one in case["read"].features]
            was += case["read"].truths
    print(by_author.reliability(said, was))
    curve = by_author.learning_curve(
        data, fit, lambda learned, cases: score(calibrated(learned, *line), cases)["f1"]
    )
    print("F1 after learning from so many authors", curve)
    if write:
        learned = calibrated(fit(data), *line)
        found = {"bias": learned.bias, "weights": dict(learned.weights)}
        by_author.write(
            TO, ["mentions", "sentences"], "python -m tools train mention_model --write", found
        )
