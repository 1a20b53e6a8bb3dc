"""Whether a sentence asks to forget something, and how much, learned from the corpus and from
plain wordings; both without a look at who wrote it.

A message that asks has several sentences and no mark at the one that does: the likeliest by the
round of learning before is taken.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from tools.bench import forgetting as bench
from tools.training import by_author
from understanding.learned import MODELS
from understanding.requests import forget_reading
from understanding.sentences import sentences
from understanding.statements.own_words import excerpt

WORDINGS = "tools/training/forget_wordings.tsv"
FILES = ("extraction", "forgetting", "mentions", "pronouns", "sentences", WORDINGS)
TARGET = MODELS / "forget_reading.json"
# Inverse strengths of L2 and the number of rounds, chosen by cross-validation.
C_ASKS, C_SCOPE, ROUNDS = 0.3, 0.3, 3
# How much a sentence counts: requests are rare, and look-alikes rarer than ordinary talk.
WEIGHTS = {"forgetting": 4.0, "wordings": 2.5}
ASKING = 4.0
SCOPE_WEIGHTS = {"wordings": 0.5}  # most name a person, and are alike
LEAST = 4  # sentences that show a piece of evidence

Evidence = dict[str, float]


@dataclass(frozen=True, slots=True)
class Message:
    """The evidence of each sentence that could ask; whether the message asks, and its scope
    where the corpus says so."""

    source: str
    text: str
    asks: bool
    scope: str | None
    units: tuple[tuple[Evidence, Evidence], ...]


@dataclass(frozen=True, slots=True)
class Learned:
    """The weights as the product holds them."""

    asks: Mapping[str, float]
    scope: Mapping[str, Mapping[str, float]]

    def likeliest(self, message: Message) -> tuple[float, str]:
        """How likely the message asks, and the scope of the sentence that does."""
        best = max(message.units, key=lambda unit: _score(self.asks, unit[0]), default=None)
        if best is None:
            return 0.0, "named"
        both = best[0] | best[1]
        scope = max(self.scope, key=lambda name: _score(self.scope[name], both))
        return float(1 / (1 + np.exp(-_score(self.asks, best[0])))), scope


def train(*, write: bool) -> None:
    data = _data()
    judged = {
        name: [(message, *learned.likeliest(message)) for message in data[name]]
        for name, learned in _held_out(data)
    }
    everything = [one for each in judged.values() for one in each]
    for source in ("forgetting", "sentences", "wordings", "talk"):
        print(source, _figures([one for one in everything if one[0].source == source]))
    told = [one for one in everything if one[0].scope]
    print("scope right:", np.mean([message.scope == scope for message, _, scope in told]))
    asked = [(p, message.asks) for message, p, _ in everything if message.source != "talk"]
    print(by_author.reliability(*map(list, zip(*asked, strict=True))))
    if not write:
        print("What is forgotten:", json.dumps(_acting(data), indent=1))
    else:
        found = _fit(data)
        learned = {"asks": found.asks, "scope": found.scope}
        by_author.write(TARGET, FILES, "python -m tools train forget_model", learned)


def _acting(data: Mapping[str, list[Message]]) -> dict[str, Any]:
    """The figures of the bench, each author with weights of the others."""
    learned = {name: one for name, one in _held_out(data) if not name.startswith("plain")}

    def use(path: Path) -> None:
        of_others = learned[path.parent.name]
        forget_reading.weights = lambda: {"asks": of_others.asks, "scope": of_others.scope}
        forget_reading.read.cache_clear()

    files = [by_author.CORPUS / name / "forgetting.jsonl" for name in learned]
    return bench.figures(bench.outcomes(files, progress=False, before=use))


def _data() -> dict[str, list[Message]]:
    data: dict[str, list[Message]] = {}
    for case in _cases():
        name, source, text, asks, scope = case
        units = tuple(
            unit
            for sentence in sentences(excerpt(text))
            if (unit := forget_reading.evidence_of(sentence.whole))[0]
        )
        # Users of the chats ask to keep nothing here and there, and no gold says where.
        if source == "talk" and any(
            {"nokeep", "erase", "unsaid"} & unit[0].keys() for unit in units
        ):
            source = "unsure"
        data.setdefault(name, []).append(Message(source, text, asks, scope, units))
    return data


def _cases() -> Iterator[tuple[str, str, str, bool, str | None]]:
    scopes = {"all": "everything", "last": "last"}
    for name, rows in by_author.authors("forgetting").items():
        for row in rows:
            scope = scopes.get(row["about"], "named") if row["asks"] else None
            yield name, "forgetting", row["text"], row["asks"], scope
    for name, rows in by_author.authors("sentences").items():
        yield from ((name, "sentences", r["text"], r["act"] == "forget", None) for r in rows)
    for file in ("mentions", "pronouns"):
        for name, rows in by_author.authors(file).items():
            yield from ((name, "talk", row["message"], False, None) for row in rows)
    for name, rows in by_author.authors("extraction").items():
        said = (m["text"] for row in rows for m in row["messages"] if m["role"] == "user")
        yield from ((name, "talk", text, False, None) for text in said)
    for line in (by_author.ROOT / WORDINGS).read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, asks, scope, text = line.split("\t")
            yield name, "wordings", text, asks == "1", None if scope == "-" else scope


def _held_out(data: Mapping[str, list[Message]]) -> Iterator[tuple[str, Learned]]:
    """Each author and group of wordings with weights of the others."""
    groups = sorted(name for name in data if name.startswith("plain"))
    for number, fold in enumerate(by_author.folds()):
        held = (*fold, *groups[number : number + 1])
        learned = _fit({name: rows for name, rows in data.items() if name not in held})
        yield from ((name, learned) for name in held)


def _fit(data: Mapping[str, list[Message]]) -> Learned:
    messages = [
        message for name in sorted(data) for message in data[name] if message.source != "unsure"
    ]
    chosen = [[*message.units] for message in messages]
    asks: Mapping[str, float] = {}
    for _ in range(ROUNDS):
        rows = [
            (unit[0], message.asks, _weight(message))
            for message, units in zip(messages, chosen, strict=True)
            for unit in units
        ]
        evidence, labels, counts = map(list, zip(*rows, strict=True))
        asks = _logistic(evidence, labels, counts, C_ASKS)["True"]
        best = partial(max, key=lambda unit, asks=asks: _score(asks, unit[0]))
        chosen = [
            [best(message.units)] if message.asks and message.units else [*message.units]
            for message in messages
        ]
    scoped = [
        (units[0][0] | units[0][1], message.scope, SCOPE_WEIGHTS.get(message.source, 1.0))
        for message, units in zip(messages, chosen, strict=True)
        if message.scope and units
    ]
    evidence, labels, counts = map(list, zip(*scoped, strict=True))
    return Learned(asks, _logistic(evidence, labels, counts, C_SCOPE))


def _weight(message: Message) -> float:
    return WEIGHTS.get(message.source, ASKING if message.asks else 1.0)


def _logistic(
    evidence: Sequence[Evidence], classes: Sequence[Any], weights: Sequence[float], c: float
) -> dict[str, dict[str, float]]:
    """The weights of each class, the bias as that of the empty name; of two, of the second."""
    vectorizer = DictVectorizer()
    values = csr_matrix(vectorizer.fit_transform(evidence))
    seen = np.asarray((values != 0).sum(0)).ravel() >= min(LEAST, len(evidence))
    names = np.array(vectorizer.feature_names_)[seen]
    fitted = LogisticRegression(C=c, max_iter=1000).fit(
        values[:, seen], np.array(classes), sample_weight=weights
    )
    made = [str(one) for one in fitted.classes_][-len(fitted.coef_) :]
    return {
        one: {"": round(float(bias), 3)}
        | {name: round(float(w), 3) for name, w in zip(names, row, strict=True) if abs(w) >= 0.005}
        for one, bias, row in zip(made, fitted.intercept_, fitted.coef_, strict=True)
    }


def _score(weights: Mapping[str, float], evidence: Evidence) -> float:
    return weights[""] + sum(weights.get(name, 0.0) * value for name, value in evidence.items())


def _figures(judged: Sequence[tuple[Message, float, str]]) -> str:
    """Recall and false alarms from each threshold."""
    lines = []
    for least in (forget_reading.UNSURE, 0.35, forget_reading.ACT, 0.55, 0.65):
        asked = [p >= least for message, p, _ in judged if message.asks]
        alarms = [p >= least for message, p, _ in judged if not message.asks]
        recall = np.mean(asked) if asked else float("nan")
        lines.append(f"{least}: recall {recall:.3f}, alarms {np.mean(alarms):.4f} ({sum(alarms)})")
    return "; ".join(lines)
