"""Weighted reciprocal rank fusion of several rankings, and diversity of what it ranks first.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual
rank learning methods", SIGIR 2009: a document scores the sum of 1 / (k + rank), k = 60.
"""

from collections.abc import Hashable, Mapping, Sequence, Set
from typing import TypeVar

K = 60

T = TypeVar("T", bound=Hashable)


def fuse(arms: Sequence[tuple[float, Sequence[T]]]) -> dict[T, float]:
    """Each item's share, in 0..1, of what an item first in every arm would score.

    ``arms`` are pairs of a weight and the items that the arm finds, best first, each once. An item
    that an arm does not find gets nothing from it.
    """
    most = sum(weight for weight, _ in arms) / (K + 1)
    scores: dict[T, float] = {}
    for weight, ordered in arms:
        for rank, item in enumerate(ordered, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (K + rank)
    return {item: min(score / most, 1.0) for item, score in scores.items()} if most > 0 else {}


# The share of common tokens from which two memories say much the same, and the part of its
# score that a full repetition loses. Overlaps of 0.6 to 0.7 measured alike; a half was set.
ALIKE = 0.65
LOSS = 0.5
# So many of the best are spread, among each other: what many memories say of one person is much
# alike, and to somebody who asks for them all, a repetition is worth more than what somebody
# else's memory says.
SPREAD = 50


def spread(scores: Mapping[T, float], tokens: Mapping[T, Set[str]], limit: int) -> dict[T, float]:
    """The first ``limit`` of ``scores`` (given best first), in a new order, with the scores
    lowered of those that repeat one before them. Of the first ``SPREAD`` none falls behind what
    comes after these, so that whoever asks for as many gets them all.

    Greedy as maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), which likewise
    chooses among the best by relevance alone.
    """
    best_first = list(scores)
    # By place: each is looked up a hundred times, and Python hashes a UUID slowly.
    said = [tokens[item] for item in best_first[:SPREAD]]
    own = [scores[item] for item in best_first[:SPREAD]]
    left = dict(enumerate(own))
    chosen: dict[T, float] = {}
    while left and len(chosen) < limit:
        best = max(left, key=left.__getitem__)
        chosen[best_first[best]] = left.pop(best)
        for other in left:
            overlap = _overlap(said[best], said[other])
            if overlap >= ALIKE:
                left[other] = min(left[other], own[other] * (1 - LOSS * overlap))
    lowest = min(chosen.values(), default=0.0)
    return chosen | {other: min(scores[other], lowest) for other in best_first[SPREAD:limit]}


def _overlap(one: Set[str], other: Set[str]) -> float:
    """Jaccard's index."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
