"""Heads of sentences: what a sentence does, and whether it is worth a memory."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from memories.providers.offline import judge
from tools.training import by_author
from tools.training.by_author import Authors, Case
from understanding.learned import MODELS

FILE = MODELS / "heads.json"
# The penalty, chosen by the log loss on held-out authors.
C = 0.35

# What each head learns of a case: its class, or None where the case says nothing of it.
HEADS: Mapping[str, Callable[[Case], Any]] = {
    "act": lambda case: case["act"],
    "keep": lambda case: bool(case["type"]),
    "modality": lambda case: case["modality"],
    "type": lambda case: case["type"],
    "about_user": lambda case: "user" in case["about"] if case["type"] else None,
}
Models = Mapping[str, LogisticRegression]


def train(*, write: bool) -> None:
    data = by_author.authors("sentences")
    rows = {id(case): case for cases in data.values() for case in cases}
    made = judge.features([case["text"] for case in rows.values()])
    vectors = dict(zip(rows, made, strict=True))

    def fit(authors: Authors) -> Models:
        cases = [case for name in sorted(authors) for case in authors[name]]
        return {name: _fitted(cases, gold, vectors) for name, gold in HEADS.items()}

    figures, said, truth = {}, [], []
    for author, models in by_author.held_out(data, fit):
        figures[author] = _scored(models, data[author], vectors)
        said += [row[1] for row in _predicted(models["keep"], data[author], vectors)]
        truth += [HEADS["keep"](case) for case in data[author]]
    print(by_author.table(dict(sorted(figures.items()))))
    print("keep, on authors not seen:")
    print(by_author.reliability(said, truth))
    for least in (0.9, 0.95):
        print(f"  recall where {least:.0%} is right: {_recall_at(said, truth, least):.3f}")
    of_nobody = by_author.nobody()
    vectors |= zip(map(id, of_nobody), judge.features([c["text"] for c in of_nobody]), strict=True)
    print("messages that speak of nobody:", _scored(fit(data), of_nobody, vectors))
    print("act right after 5, 10, 20 authors:", by_author.learning_curve(
        data, lambda a: {"act": _fitted([c for n in sorted(a) for c in a[n]], HEADS["act"], vectors)},
        lambda m, cases: _right(m["act"], cases, HEADS["act"], vectors),
    ))  # fmt: skip
    if write:
        models = fit(data)
        heads = {name: _weights(model) for name, model in models.items()}
        source = "python -m tools train sentence_heads"
        by_author.write(FILE, ["sentences"], source, {"heads": heads})


def _fitted(
    cases: Sequence[Case], gold: Callable[[Case], Any], vectors: Mapping[int, np.ndarray]
) -> LogisticRegression:
    said = [case for case in cases if gold(case) is not None]
    model = LogisticRegression(C=C, max_iter=2000)
    return model.fit(np.array([vectors[id(case)] for case in said]), [gold(c) for c in said])


def _predicted(
    model: LogisticRegression, cases: Sequence[Case], vectors: Mapping[int, np.ndarray]
) -> np.ndarray:
    return model.predict_proba(np.array([vectors[id(case)] for case in cases]))


def _right(
    model: LogisticRegression,
    cases: Sequence[Case],
    gold: Callable[[Case], Any],
    vectors: Mapping[int, np.ndarray],
) -> float:
    """The share of the cases that say anything which the model gets right."""
    said = [case for case in cases if gold(case) is not None]
    found = model.predict(np.array([vectors[id(case)] for case in said]))
    return float(np.mean([one == gold(case) for one, case in zip(found, said, strict=True)]))


def _scored(
    models: Models, cases: Sequence[Case], vectors: Mapping[int, np.ndarray]
) -> dict[str, float | None]:
    found = models["act"].predict(np.array([vectors[id(case)] for case in cases]))
    keep = [row[1] for row in _predicted(models["keep"], cases, vectors)]
    return {
        "act": _right(models["act"], cases, HEADS["act"], vectors),
        "act F1": f1_score([c["act"] for c in cases], found, average="macro"),
        "keep AUC": roc_auc_score([HEADS["keep"](case) for case in cases], keep),
        **{
            name: _right(models[name], cases, HEADS[name], vectors)
            for name in ("keep", "modality", "type", "about_user")
        },
    }


def _recall_at(said: Sequence[float], truth: Sequence[bool], least: float) -> float:
    """The share of the true that is found at the lowest threshold with such a precision."""
    order = np.argsort(said)[::-1]
    right = np.asarray(truth)[order].cumsum()
    precise = right / np.arange(1, len(order) + 1) >= least
    return float(right[precise.nonzero()[0].max()] / right[-1]) if precise.any() else 0.0


def _weights(model: LogisticRegression) -> dict[str, Any]:
    """As a softmax over all classes; of two, the first has no weights."""
    weights, bias = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        weights, bias = np.vstack([0 * weights, weights]), np.array([0.0, bias[0]])
    return {
        "classes": [value if isinstance(value, str) else bool(value) for value in model.classes_],
        "bias": bias.round(3).tolist(),
        "weights": weights.round(3).tolist(),
    }
