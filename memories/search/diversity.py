"""Memories that say the same in other words don't crowd out the rest.

Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) with the overlap of tokens
as similarity; only near-repetitions give way, so that facts of one kind stay together.
"""

from collections.abc import Hashable, Mapping, Set
from typing import TypeVar

# The share of common tokens from which two memories say much the same, and the part of its
# score that a full repetition loses. Overlaps of 0.6 to 0.7 measured alike; a half was set.
ALIKE = 0.65
LOSS = 0.5
# So many places are spread; the cost grows with this times the number of memories.
SPREAD = 50

T = TypeVar("T", bound=Hashable)


def spread(scores: Mapping[T, float], tokens: Mapping[T, Set[str]], limit: int) -> dict[T, float]:
    """The first ``limit`` of ``scores`` (given best first), in a new order, with the scores
    lowered of those that repeat one before them. Nothing is left out for repeating."""
    left = dict(scores)
    chosen: dict[T, float] = {}
    while left and len(chosen) < min(limit, SPREAD):
        best = max(left, key=left.__getitem__)
        chosen[best] = left.pop(best)
        for other in left:
            overlap = _overlap(tokens[best], tokens[other])
            if overlap >= ALIKE:
                left[other] = min(left[other], scores[other] * (1 - LOSS * overlap))
    rest = sorted(left, key=left.__getitem__, reverse=True)[: limit - len(chosen)]
    return chosen | {other: left[other] for other in rest}


def _overlap(one: Set[str], other: Set[str]) -> float:
    """Jaccard's index."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
