"""Reads and evaluates learned models; ``python -m tools train`` learns them.

The weights are in understanding/models, one JSON file per model. ``manifest.json`` states for each
the corpus files that it was learned from and their hash, the space of vectors that its weights are
for (null: none), and its thresholds.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MODELS = Path(__file__).with_name("models")


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression over named features; features without a weight are ignored."""

    bias: float
    weights: Mapping[str, float]

    def log_odds(self, features: Mapping[str, float]) -> float:
        weights = self.weights
        return self.bias + sum(weights.get(name, 0.0) * x for name, x in features.items())

    def probability(self, features: Mapping[str, float]) -> float:
        """In 0..1."""
        return sigmoid(self.log_odds(features))

    def parts(self, features: Mapping[str, float]) -> dict[str, float]:
        """Returns what each feature adds to the log odds."""
        return {name: self.weights.get(name, 0.0) * x for name, x in features.items()}


def log_odds(probability: float, least: float = 1e-6) -> float:
    """Returns the log odds of a probability, which is first kept ``least`` off 0 and 1."""
    p = min(max(probability, least), 1 - least)
    return math.log(p / (1 - p))


def sigmoid(log_odds: float) -> float:
    """Returns the probability of these log odds, however large they are."""
    if log_odds < 0:
        odds = math.exp(max(log_odds, -700.0))
        return odds / (1.0 + odds)
    return 1.0 / (1.0 + math.exp(-min(log_odds, 700.0)))


@cache
def model(name: str) -> Mapping[str, Any]:
    """Returns the weights in ``name``.json and the thresholds in the manifest."""
    thresholds: Mapping[str, Any] = _read("manifest")[name]["thresholds"]
    return {**thresholds, **_read(name)}


@cache
def _read(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@cache
def logistic(name: str) -> Logistic:
    """Returns the logistic regression in ``name``.json."""
    loaded = model(name)
    return Logistic(loaded["bias"], loaded["weights"])
