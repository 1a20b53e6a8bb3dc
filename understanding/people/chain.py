"""A linear-chain conditional random field, applied: the probability of each segment of a
sequence (Lafferty, McCallum, Pereira 2001; Rabiner 1989 for the scaled passes)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# A token with this feature is in no segment.
OUTSIDE = "outside"
# A segment that begins with less is not followed.
_LEAST = 0.02


class Segment(NamedTuple):
    """Tokens [start, end) are one segment of this kind, with this probability."""

    start: int
    end: int
    kind: str
    probability: float


@dataclass(frozen=True, slots=True)
class Chain:
    """Labels are O, B-kind and I-kind (Ramshaw and Marcus 1995): ``steps`` holds the factor of
    each label after each other, 0 where one can't follow; ``first`` is 0 where none begins."""

    kinds: tuple[str, ...]
    first: Floats
    steps: Floats
    weights: Mapping[str, Floats]

    @classmethod
    def from_json(cls, model: Mapping[str, Any]) -> "Chain":
        """Of ``labels``, ``transitions`` from row to column, ``weights`` of features by label."""
        labels: list[str] = model["labels"]
        steps = np.exp(np.asarray(model["transitions"], dtype=float))
        for column, label in enumerate(labels):
            if label[0] == "I":
                steps[[row for row, one in enumerate(labels) if one[1:] != label[1:]], column] = 0
        order = _order(labels)
        return cls(
            kinds=tuple(labels[at][2:] for at in order[1::2]),
            first=np.array([float(labels[at][0] != "I") for at in order]),
            steps=steps[np.ix_(order, order)],
            weights={name: np.asarray(row)[order] for name, row in model["weights"].items()},
        )

    def segments(self, rows: Sequence[Sequence[str]], least: float) -> list[Segment]:
        """The segments that are as probable as ``least``, surest first. A row is the features of
        a token; those without a weight count nothing."""
        if not rows:
            return []
        factors = self._factors(rows)
        ahead, scale = self._forward(factors)
        back = self._backward(factors, scale)
        found: list[Segment] = []
        for at, kind in enumerate(self.kinds):
            begin, inside = 2 * at + 1, 2 * at + 2
            stay = factors[:, inside] / scale
            # How what follows, other than more of the segment, goes on from its B and its I.
            leave = np.ones((len(rows), 2))
            if len(rows) > 1:
                after = (factors[1:] * back[1:] / scale[1:, None]) * (
                    np.arange(len(self.first)) != inside
                )
                leave[:-1, 0] = after @ self.steps[begin]
                leave[:-1, 1] = after @ self.steps[inside]
            for start in np.flatnonzero(ahead[:, begin] * back[:, begin] > _LEAST):
                mass = float(ahead[start, begin])
                if (sure := mass * float(leave[start, 0])) >= least:
                    found.append(Segment(int(start), int(start) + 1, kind, sure))
                for end in range(start + 1, len(rows)):
                    mass *= float(
                        self.steps[begin if end == start + 1 else inside, inside] * stay[end]
                    )
                    if mass * float(back[end, inside]) < _LEAST:
                        break
                    if (sure := mass * float(leave[end, 1])) >= least:
                        found.append(Segment(int(start), end + 1, kind, sure))
        return sorted(found, key=lambda segment: -segment.probability)

    def _factors(self, rows: Sequence[Sequence[str]]) -> Floats:
        weights, none = self.weights, np.zeros(len(self.first))
        scores = np.array([sum((weights[f] for f in row if f in weights), none) for row in rows])
        factors: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
        factors[[OUTSIDE in row for row in rows], 1:] = 0
        return factors

    def _forward(self, factors: Floats) -> tuple[Floats, Floats]:
        """The scaled forward variables, and the scale of each place."""
        ahead, scale = np.empty_like(factors), np.empty(len(factors))
        now = self.first * factors[0]
        for at, factor in enumerate(factors):
            if at:
                now = (now @ self.steps) * factor
            scale[at] = now.sum()
            now = ahead[at] = now / scale[at]
        return ahead, scale

    def _backward(self, factors: Floats, scale: Floats) -> Floats:
        """The backward variables with the same scale: times the forward ones, a marginal."""
        back = np.ones_like(factors)
        for at in range(len(factors) - 2, -1, -1):
            back[at] = self.steps @ (factors[at + 1] * back[at + 1]) / scale[at + 1]
        return back


def _order(labels: Sequence[str]) -> list[int]:
    """The places of O, then of B and I of each kind."""
    kinds = sorted({label[2:] for label in labels} - {""})
    return [labels.index(f) for f in ("O", *(f"{m}-{kind}" for kind in kinds for m in "BI"))]
