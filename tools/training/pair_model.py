"""Are two records one person? Learns what each sign of ``understanding.same_person`` counts."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from tools.bench.aliases import described
from tools.bench.metrics import f1
from tools.training import by_author, circles
from tools.training.by_author import Authors, Case
from understanding.learned import MODELS, Logistic, sigmoid
from understanding.same_person import features
from understanding.same_person.features import Sign
from understanding.same_person.pair_scoring import LIKELY, NOTHING_KNOWN, SETTLED, worth_asking

WEIGHTS = MODELS / "pair_model.json"
# Inverse strength of the L2 penalty: 0.3 to 2 do alike.
_C = 1.0
# Certain is what is right this often on authors that were held out.
CERTAIN = 0.98
_FEWEST = 100
# The pairs of ``aliases`` are all worth a thought, and half of them are one person. Of a user's
# people nearly all pairs are two, and who is met twice is mostly met under another form of the name:
# the pairs of each circle are learned from as well, each counting this much, by whether it is one
# person (case weights shift the prior: Elkan, "The foundations of cost-sensitive learning", IJCAI
# 2001). One person under two names: of .03, .06, .1 and .3 the least that finds as many.
_OF_CIRCLES = {False: 0.1, True: 0.06}
# People of a circle who are met a second time under another name, for the precision among all pairs.
MET_TWICE = 0.1
# Evidence that leaves nothing to weigh.
_APART = -9.0


def train(*, write: bool) -> None:
    """Prints how the model does on authors that it was not shown, and the learning curve."""
    data, people = pairs(), of_circles()
    probabilities: dict[str, list[float]] = {}
    asked: Counter[bool] = Counter()
    for name, learned in by_author.held_out(with_circles(data, people), fit):
        probabilities[name] = judged(learned, data[name])
        for case, p in zip(people[name], judged(learned, people[name]), strict=True):
            asked[case["same"]] += p >= LIKELY
    truths = {name: [case["same"] for case in cases] for name, cases in data.items()}
    said = [p for name in data for p in probabilities[name]]
    was = [same for name in data for same in truths[name]]
    certain = threshold(said, was)
    print(by_author.table({n: figures(probabilities[n], truths[n], certain) for n in data}))
    pooled = figures(said, was, certain)
    print("pooled", {key: value and round(value, 4) for key, value in pooled.items()})
    print(f"certain from {certain}")
    size = sum(len(circle.records) for circle in circles.circles().values())
    known = Counter(case["same"] for cases in people.values() for case in cases)
    recall = asked[True] / known[True]
    twice = size * MET_TWICE * recall
    print(
        f"in circles, of {known[True]} pairs of names of one person {asked[True]} are suggested "
        f"({recall:.3f}), of {known[False]} pairs of different people {asked[False]}: "
        f"precision {twice / (twice + asked[False]):.3f} where {MET_TWICE:.0%} are met twice"
    )
    print(by_author.reliability(said, was))
    print("f1 by authors learned from", by_author.learning_curve(data, fit, _f1))
    if write:
        learned = fit(with_circles(data, people))
        weights = {name: round(x, 4) for name, x in sorted(learned.weights.items())}
        by_author.write(
            WEIGHTS,
            ["aliases", *circles.FILES],
            "python -m tools train pair_model --write",
            {"certain": certain, "bias": round(learned.bias, 4), "weights": weights},
        )


def pairs() -> Authors:
    """The features of the pairs that are scored: those that careful people would decide."""
    return {
        name: [
            {"same": case["same"], **_row(_signs_of(case))}
            for case in cases
            if case["confidence"] != "ambiguous"
        ]
        for name, cases in by_author.authors("aliases").items()
    }


def of_circles() -> Authors:
    """The features of the pairs in each author's circle: different people, and one person twice."""
    return {
        name: [
            {"same": same, "weight": _OF_CIRCLES[same], **_row(signs)}
            for same, pairs_of in ((False, circle.apart), (True, circle.twice))
            for signs in pairs_of
        ]
        for name, circle in circles.circles().items()
    }


def with_circles(data: Authors, people: Authors) -> Authors:
    """Both sorts of pairs of each author."""
    return {name: [*cases, *people[name]] for name, cases in data.items()}


def fit(data: Authors) -> Logistic:
    """The weights learned from some authors."""
    cases = [case for cases in data.values() for case in cases if case["settled"] > _APART]
    table = DictVectorizer(sparse=False)
    matrix = table.fit_transform([case["features"] for case in cases])
    learned = LogisticRegression(C=_C, max_iter=2000)
    learned.fit(
        matrix, [case["same"] for case in cases], [case.get("weight", 1.0) for case in cases]
    )
    names = table.get_feature_names_out()
    return Logistic(
        float(learned.intercept_[0]), dict(zip(names, map(float, learned.coef_[0]), strict=True))
    )


def _signs_of(case: Case) -> list[Sign]:
    return features.signs(described(case["a"]), described(case["b"]), NOTHING_KNOWN, NOTHING_KNOWN)


def _row(signs: Sequence[Sign]) -> Case:
    """What is learned from a pair, and what the signs add that are weighed by hand."""
    return {
        "features": {
            name: x
            for sign in signs
            if sign.code not in SETTLED
            for name, x in sign.features.items()
        },
        "asked": worth_asking({sign.code for sign in signs}),
        "settled": sum(SETTLED.get(sign.code, 0.0) * sign.strength for sign in signs),
    }


def judged(learned: Logistic, cases: Sequence[Case]) -> list[float]:
    return [
        case["asked"] * sigmoid(learned.log_odds(case["features"]) + case["settled"])
        for case in cases
    ]


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
