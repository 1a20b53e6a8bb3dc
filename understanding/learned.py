"""Models that were learned elsewhere (``python -m tools train``): the product only multiplies.

The weights stand in understanding/models, a JSON file a model. ``manifest.json`` says of each which
files of the corpus it was learned from and their hash, for which space of vectors its weights are
(null: it reads none), and its thresholds.
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
    """A logistic regression over named features; a feature that has no weight counts nothing."""

    bias: float
    weights: Mapping[str, float]

    def log_odds(self, features: Mapping[str, float]) -> float:
        weights = self.weights
        return self.bias + sum(weights.get(name, 0.0) * x for name, x in features.items())

    def probability(self, features: Mapping[str, float]) -> float:
        """In 0..1."""
        return sigmoid(self.log_odds(features))

    def parts(self, features: Mapping[str, float]) -> dict[str, float]:
        """What each feature adds to the log odds."""
        return {name: self.weights.get(name, 0.0) * x for name, x in features.items()}


def log_odds(probability: float, least: float = 1e-6) -> float:
    """Of a probability, kept so far off 0 and 1."""
    p = min(max(probability, least), 1 - least)
    return math.log(p / (1 - p))


def sigmoid(log_odds: float) -> float:
    """The probability of these log odds, also of very large ones."""
    if log_odds < 0:
        grown = math.exp(max(log_odds, -700.0))
        return grown / (1.0 + grown)
    return 1.0 / (1.0 + math.exp(-min(log_odds, 700.0)))


@cache
def model(name: str) -> Mapping[str, Any]:
    """The weights in ``name``.json, and the thresholds that the manifest has of it."""
    thresholds: Mapping[str, Any] = _read("manifest")[name]["thresholds"]
    return {**thresholds, **_read(name)}


@cache
def _read(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@cache
def logistic(name: str) -> Logistic:
    """The logistic regression in ``name``.json."""
    loaded = model(name)
    return Logistic(loaded["bias"], loaded["weights"])
