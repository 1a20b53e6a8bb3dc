"""Weighted reciprocal rank fusion of several rankings, and diversity among the best results.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009: a document scores the sum of 1 / (k + rank), k = 60.
"""

from collections.abc import Hashable, Mapping, Sequence, Set
from typing import TypeVar

K = 60

T = TypeVar("T", bound=Hashable)


def fuse(arms: Sequence[tuple[float, Sequence[T]]]) -> dict[T, float]:
    """Returns each item's score in 0..1, where 1 is the score of an item that is first in every
    arm. ``arms`` are pairs of a weight and the items that the arm found, best first, each once; an
    item that an arm did not find gets nothing from it."""
    most = sum(weight for weight, _ in arms) / (K + 1)
    scores: dict[T, float] = {}
    for weight, ordered in arms:
        for rank, item in enumerate(ordered, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (K + rank)
    return {item: min(score / most, 1.0) for item, score in scores.items()} if most > 0 else {}


# The share of common tokens from which two memories state much the same, and the part of its score
# that a full repetition loses. Overlaps of 0.6 to 0.7 were measured as equally good; a half was set.
ALIKE = 0.65
LOSS = 0.5
# So many of the best are reordered, among each other: many memories about one person are much alike,
# and to somebody who asks for all of them, a repetition is worth more than a memory about somebody
# else.
SPREAD = 50


def spread(scores: Mapping[T, float], tokens: Mapping[T, Set[str]], limit: int) -> dict[T, float]:
    """Returns the first ``limit`` of ``scores`` (given best first) in a new order, with lower
    scores for those that repeat one before them. None of the first ``SPREAD`` falls below the items
    after these, so that whoever asks for as many gets them all. Greedy as maximal marginal
    relevance (Carbonell and Goldstein, SIGIR 1998), which also chooses among the best by relevance
    alone."""
    best_first = list(scores)
    # By place: each is looked up a hundred times, and Python hashes a UUID slowly.
    token_sets = [tokens[item] for item in best_first[:SPREAD]]
    own_scores = [scores[item] for item in best_first[:SPREAD]]
    remaining = dict(enumerate(own_scores))
    chosen: dict[T, float] = {}
    while remaining and len(chosen) < limit:
        best = max(remaining, key=remaining.__getitem__)
        chosen[best_first[best]] = remaining.pop(best)
        for other in remaining:
            overlap = _overlap(token_sets[best], token_sets[other])
            if overlap >= ALIKE:
                remaining[other] = min(remaining[other], own_scores[other] * (1 - LOSS * overlap))
    lowest = min(chosen.values(), default=0.0)
    return chosen | {other: min(scores[other], lowest) for other in best_first[SPREAD:limit]}


def _overlap(one: Set[str], other: Set[str]) -> float:
    """Returns Jaccard's index of two sets."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
