"""Memories that say the same in other words don't crowd out the rest.

Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) with the overlap of tokens
as similarity; only near-repetitions give way, so that facts of one kind stay together.
"""

from collections.abc import Hashable, Mapping, Set
from typing import TypeVar

# The share of common tokens from which two memories say much the same, and the part of its
# score that a full repetition loses. Measured: 0.6 to 0.7, and anything near a half.
ALIKE = 0.65
LOSS = 0.5

T = TypeVar("T", bound=Hashable)


def spread(scores: Mapping[T, float], tokens: Mapping[T, Set[str]], limit: int) -> dict[T, float]:
    """The first ``limit`` of ``scores`` (given best first), in a new order, with the scores
    lowered of those that repeat one before them. Nothing is left out for repeating."""
    left = dict(scores)
    chosen: dict[T, float] = {}
    while left and len(chosen) < limit:
        best = max(left, key=left.__getitem__)
        chosen[best] = left.pop(best)
        for other in left:
            overlap = _overlap(tokens[best], tokens[other])
            if overlap >= ALIKE:
                left[other] = min(left[other], scores[other] * (1 - LOSS * overlap))
    return chosen


def _overlap(one: Set[str], other: Set[str]) -> float:
    """Jaccard's index."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0
