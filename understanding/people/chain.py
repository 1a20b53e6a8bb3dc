"""Applies a linear-chain conditional random field: the probability of each segment of a sequence
(Lafferty, McCallum, Pereira 2001; Rabiner 1989 for the scaled passes)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# A token with this feature is in no segment.
OUTSIDE = "outside"
# A segment is not extended once its probability is less.
_THRESHOLD = 0.02


class Segment(NamedTuple):
    """Tokens [start, end) form one segment of this kind, with this probability."""

    start: int
    end: int
    kind: str
    probability: float


@dataclass(frozen=True, slots=True)
class Chain:
    """Labels are O, B-kind and I-kind (Ramshaw and Marcus 1995). ``steps[a, b]`` is the factor of
    label b after a, 0 if b can't follow; ``first`` is 0 for labels that can't be first."""

    kinds: tuple[str, ...]
    first: Floats
    steps: Floats
    weights: Mapping[str, Floats]

    @classmethod
    def from_json(cls, model: Mapping[str, Any]) -> "Chain":
        """Builds it from ``labels``, ``transitions`` (row to column) and feature ``weights``."""
        labels: list[str] = model["labels"]
        steps = np.exp(np.asarray(model["transitions"], dtype=float))
        for column, label in enumerate(labels):
            if label[0] == "I":
                steps[[row for row, one in enumerate(labels) if one[1:] != label[1:]], column] = 0
        order = _label_order(labels)
        return cls(
            kinds=tuple(labels[at][2:] for at in order[1::2]),
            first=np.array([float(labels[at][0] != "I") for at in order]),
            steps=steps[np.ix_(order, order)],
            weights={name: np.asarray(row)[order] for name, row in model["weights"].items()},
        )

    def segments(self, rows: Sequence[Sequence[str]], least: float) -> list[Segment]:
        """Returns the segments with a probability of at least ``least``, most probable first.
        ``rows`` are the features of each token; features without a weight are ignored."""
        if not rows:
            return []
        factors = self._factors(rows)
        forward, scale = self._forward(factors)
        backward = self._backward(factors, scale)
        results: list[Segment] = []
        for at, kind in enumerate(self.kinds):
            begin, inside = 2 * at + 1, 2 * at + 2
            stay = factors[:, inside] / scale
            # The mass of all continuations after its B and its I that do not extend the segment.
            leave = np.ones((len(rows), 2))
            if len(rows) > 1:
                after = (factors[1:] * backward[1:] / scale[1:, None]) * (
                    np.arange(len(self.first)) != inside
                )
                leave[:-1, 0] = after @ self.steps[begin]
                leave[:-1, 1] = after @ self.steps[inside]
            for start in np.flatnonzero(forward[:, begin] * backward[:, begin] > _THRESHOLD):
                mass = float(forward[start, begin])
                if (probability := mass * float(leave[start, 0])) >= least:
                    results.append(Segment(int(start), int(start) + 1, kind, probability))
                for end in range(start + 1, len(rows)):
                    mass *= float(
                        self.steps[begin if end == start + 1 else inside, inside] * stay[end]
                    )
                    if mass * float(backward[end, inside]) < _THRESHOLD:
                        break
                    if (probability := mass * float(leave[end, 1])) >= least:
                        results.append(Segment(int(start), end + 1, kind, probability))
        return sorted(results, key=lambda segment: -segment.probability)

    def _factors(self, rows: Sequence[Sequence[str]]) -> Floats:
        """Returns the factor of each label at each token, scaled to a maximum of 1."""
        weights, zeros = self.weights, np.zeros(len(self.first))
        scores = np.array([sum((weights[f] for f in row if f in weights), zeros) for row in rows])
        factors: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
        factors[[OUTSIDE in row for row in rows], 1:] = 0
        return factors

    def _forward(self, factors: Floats) -> tuple[Floats, Floats]:
        """Returns the scaled forward variables and the scale of each position."""
        forward, scale = np.empty_like(factors), np.empty(len(factors))
        current = self.first * factors[0]
        for at, factor in enumerate(factors):
            if at:
                current = (current @ self.steps) * factor
            scale[at] = current.sum()
            current = forward[at] = current / scale[at]
        return forward, scale

    def _backward(self, factors: Floats, scale: Floats) -> Floats:
        """Returns the backward variables with the same scale; times the forward ones, marginals."""
        backward = np.ones_like(factors)
        for at in range(len(factors) - 2, -1, -1):
            backward[at] = self.steps @ (factors[at + 1] * backward[at + 1]) / scale[at + 1]
        return backward


def _label_order(labels: Sequence[str]) -> list[int]:
    """Returns the indices of O, then of B and I of each kind."""
    kinds = sorted({label[2:] for label in labels} - {""})
    return [labels.index(f) for f in ("O", *(f"{m}-{kind}" for kind in kinds for m in "BI"))]
