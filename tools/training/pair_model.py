"""Are two records one person? Learns what each sign of ``contacts.resolution`` counts."""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from contacts.learned import Logistic
from contacts.resolution import features
from contacts.resolution.pair_scoring import LIKELY, NOTHING_KNOWN, SETTLED
from memories.bench.aliases import described
from memories.bench.metrics import f1
from tools.training import by_author
from tools.training.by_author import ROOT, Authors, Case

WEIGHTS = ROOT / "contacts" / "resolution" / "pair_model.json"
# Inverse strength of the L2 penalty: 0.3 to 2 do alike.
_C = 1.0
# Certain is what is right this often on authors that were held out.
CERTAIN = 0.98
_FEWEST = 100
# Two full names that differ are rare in the corpus, whose pairs are all worth a thought, and nearly
# all that a list of people holds: what differs there counts this often (a shift of the prior, which
# case weights correct: Elkan, "The foundations of cost-sensitive learning", IJCAI 2001).
_IN_A_LIST = 20


def train(*, write: bool) -> None:
    """Prints how the model does on authors that it was not shown, and the learning curve."""
    data = pairs()
    probabilities: dict[str, list[float]] = {}
    for name, learned in by_author.held_out(data, fit):
        probabilities[name] = judged(learned, data[name])
    truths = {name: [case["same"] for case in cases] for name, cases in data.items()}
    said = [p for name in data for p in probabilities[name]]
    was = [same for name in data for same in truths[name]]
    certain = threshold(said, was)
    print(by_author.table({n: figures(probabilities[n], truths[n], certain) for n in data}))
    pooled = figures(said, was, certain)
    print("pooled", {key: value and round(value, 4) for key, value in pooled.items()})
    print(f"certain from {certain}")
    print(by_author.reliability(said, was))
    print("f1 by authors learned from", by_author.learning_curve(data, fit, _f1))
    if write:
        learned = fit(data)
        weights = {name: round(x, 4) for name, x in sorted(learned.weights.items())}
        by_author.write(
            WEIGHTS,
            ["aliases"],
            "python -m tools train pair_model --write",
            {"certain": certain, "bias": round(learned.bias, 4), "weights": weights},
        )


def pairs() -> Authors:
    """The features of the pairs that are scored: those that careful people would decide."""
    return {
        name: [
            {"same": case["same"], "features": features_of(case)}
            for case in cases
            if case["confidence"] != "ambiguous"
        ]
        for name, cases in by_author.authors("aliases").items()
    }


def fit(data: Authors) -> Logistic:
    """The weights learned from some authors."""
    cases = [case for cases in data.values() for case in cases]
    table = DictVectorizer(sparse=False)
    matrix = table.fit_transform([case["features"] for case in cases])
    learned = LogisticRegression(C=_C, max_iter=2000)
    learned.fit(matrix, [case["same"] for case in cases], [_weight(case) for case in cases])
    names = table.get_feature_names_out()
    return Logistic(
        float(learned.intercept_[0]), dict(zip(names, map(float, learned.coef_[0]), strict=True))
    )


def _weight(case: Case) -> int:
    apart = features.FULL_NAMES & case["features"].keys()
    return _IN_A_LIST if apart and not case["same"] else 1


def features_of(case: Case) -> dict[str, float]:
    """The features of a pair, as the product weighs them."""
    found = features.signs(described(case["a"]), described(case["b"]), NOTHING_KNOWN, NOTHING_KNOWN)
    return {
        name: x for sign in found if sign.code not in SETTLED for name, x in sign.features.items()
    }


def judged(learned: Logistic, cases: Sequence[Case]) -> list[float]:
    return [learned.probability(case["features"]) for case in cases]


def threshold(said: Sequence[float], was: Sequence[bool]) -> float:
    """The lowest probability from which on, and from any higher one, ``CERTAIN`` are right."""
    order = np.argsort(-np.asarray(said), kind="stable")
    right = np.cumsum(np.asarray(was)[order]) / np.arange(1, len(order) + 1)
    below = [at for at in range(_FEWEST, len(order)) if right[at] < CERTAIN]
    last = (below[0] if below else len(order)) - 1
    # Rounded up, so that none below it is called certain.
    return float(np.ceil(np.asarray(said)[order[last]] * 1000) / 1000)


def figures(said: Sequence[float], was: Sequence[bool], certain: float) -> dict[str, float | None]:
    """What the bench says of a model's probabilities, and how much of the same is certain."""
    given = [same for p, same in zip(said, was, strict=True) if p >= LIKELY]
    sure = [same for p, same in zip(said, was, strict=True) if p >= certain]
    return {
        "f1": f1(sum(given), sum(was), len(given)),
        "precision": sum(given) / len(given) if given else None,
        "recall": sum(given) / sum(was),
        "certain right": sum(sure) / len(sure) if sure else None,
        "certain recall": sum(sure) / sum(was),
    }


def _f1(learned: Logistic, cases: list[Case]) -> float:
    return figures(judged(learned, cases), [case["same"] for case in cases], 1.0)["f1"] or 0.0
