"""Ranks of several searches become one order: weighted reciprocal rank fusion.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual
rank learning methods", SIGIR 2009: a document scores the sum of 1 / (k + rank), k = 60.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

K = 60

T = TypeVar("T", bound=Hashable)


def ranks(ordered: Sequence[T]) -> dict[T, int]:
    """The rank of each item, from 1; of an item that comes twice, the better one."""
    found: dict[T, int] = {}
    for rank, item in enumerate(ordered, start=1):
        found.setdefault(item, rank)
    return found


def fuse(arms: Sequence[tuple[float, Mapping[T, int]]]) -> dict[T, float]:
    """Each item's share, in 0..1, of what an item first in every arm would score.

    ``arms`` are pairs of a weight and the ranks (from 1) that the arm gives. An item that an
    arm does not rank gets nothing from it.
    """
    most = sum(weight for weight, _ in arms) / (K + 1)
    scores: dict[T, float] = {}
    for weight, ranked in arms:
        for item, rank in ranked.items():
            scores[item] = scores.get(item, 0.0) + weight / (K + rank)
    return {item: min(score / most, 1.0) for item, score in scores.items()} if most > 0 else {}
