"""Heads of sentences: what a sentence does, and whether it is worth a memory."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score

from memories.providers.offline import judge
from memories.providers.offline.reading.reader import KEEP
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
Models = Mapping[str, Mapping[str, LogisticRegression]]


def train(*, write: bool) -> None:
    data = by_author.authors("sentences")
    writers = by_author.by_writer(by_author.nobody())
    every = [case for cases in (*data.values(), *writers.values()) for case in cases]
    features = judge.features([case["text"] for case in every])
    vectors = dict(zip(map(id, every), features, strict=True))

    def fit(authors: Authors, names: Collection[str] = tuple(HEADS)) -> Models:
        cases = [case for name in sorted(authors) for case in authors[name]]
        of_authors = [case for case in cases if "writer" not in case]
        return {
            "heads": {name: _fitted(of_authors, HEADS[name], vectors) for name in names},
            "heads_of_nobody": {
                name: _fitted([case for case in cases if _of_nobody(case)], HEADS[name], vectors)
                for name in judge.OF_NOBODY
                if name in names
            },
        }

    figures: dict[str, Mapping[str, float | None]] = {}
    of_nobody: dict[str, Mapping[str, float | None]] = {}
    said, truth = [], []
    taught = {name: cases for name, cases in writers.items() if name not in by_author.UNREAD}
    for author, models in by_author.held_out({**data, **taught}, fit):
        cases = data.get(author) or taught[author]
        (figures if author in data else of_nobody)[author] = _scored(models, cases, vectors)
        if author in data:
            said += [row[1] for row in _predicted(models, "keep", cases, vectors)]
            truth += [HEADS["keep"](case) for case in cases]
    print(by_author.table(dict(sorted(figures.items()))))
    print("keep, on authors not seen:")
    print(by_author.reliability(said, truth))
    for least in (0.9, 0.95):
        print(f"  recall where {least:.0%} is right: {_recall_at(said, truth, least):.3f}")
    models = fit({**data, **taught})
    of_nobody |= {name: _scored(models, writers[name], vectors) for name in by_author.UNREAD}
    print("messages that speak of nobody:")
    print(by_author.table(dict(sorted(of_nobody.items()))))
    print("act right after 5, 10, 20 authors:", by_author.learning_curve(
        data,
        lambda authors: fit(authors, ["act"]),
        lambda models, cases: _right(models, "act", cases, vectors),
    ))  # fmt: skip
    if write:
        weights = {
            group: {name: _weights(model) for name, model in heads.items()}
            for group, heads in models.items()
        }
        source = "python -m tools train sentence_heads"
        by_author.write(FILE, ["sentences", by_author.NOBODY], source, weights)


def _of_nobody(case: Case) -> bool:
    """Whether a case speaks of nobody but the user."""
    spans = [span for span in case.get("spans", ()) if span["kind"] != "trap"]
    return not spans and set(case["about"]) <= {"user"}


def _fitted(
    cases: Sequence[Case], gold: Callable[[Case], Any], vectors: Mapping[int, np.ndarray]
) -> LogisticRegression:
    said = [case for case in cases if gold(case) is not None]
    model = LogisticRegression(C=C, max_iter=2000)
    return model.fit(np.array([vectors[id(case)] for case in said]), [gold(c) for c in said])


def _predicted(
    models: Models, name: str, cases: Sequence[Case], vectors: Mapping[int, np.ndarray]
) -> np.ndarray:
    """A row of probabilities a case, as the product judges it that finds whom it speaks of."""
    rows = np.array([vectors[id(case)] for case in cases])
    probabilities: np.ndarray = models["heads"][name].predict_proba(rows)
    alone = np.array([_of_nobody(case) for case in cases]) & ~judge.speaks_of_somebody(rows)
    if name in judge.OF_NOBODY and alone.any():
        model = models["heads_of_nobody"][name]
        probabilities[alone] = 0
        classes = np.searchsorted(models["heads"][name].classes_, model.classes_)
        probabilities[np.ix_(alone, classes)] = model.predict_proba(rows[alone])
    return probabilities


def _right(
    models: Models, name: str, cases: Sequence[Case], vectors: Mapping[int, np.ndarray]
) -> float:
    """The share of the cases that say anything which the model gets right."""
    labelled = [case for case in cases if HEADS[name](case) is not None]
    likeliest = _predicted(models, name, labelled, vectors).argmax(axis=1)
    classes = models["heads"][name].classes_[likeliest]
    return float(
        np.mean([c == HEADS[name](case) for c, case in zip(classes, labelled, strict=True)])
    )


def _scored(
    models: Models, cases: Sequence[Case], vectors: Mapping[int, np.ndarray]
) -> dict[str, float | None]:
    likeliest = _predicted(models, "act", cases, vectors).argmax(axis=1)
    acts = models["heads"]["act"].classes_[likeliest]
    keep = _predicted(models, "keep", cases, vectors)[:, 1]
    gold = np.array([HEADS["keep"](case) for case in cases])
    return {
        "act F1": f1_score([c["act"] for c in cases], acts, average="macro"),
        "keep AUC": roc_auc_score(gold, keep),
        "kept, worth it": float((keep[gold] >= KEEP).mean()),
        "kept, not": float((keep[~gold] >= KEEP).mean()),
        **{name: _right(models, name, cases, vectors) for name in HEADS},
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
