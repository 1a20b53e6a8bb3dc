"""T2, one person or two: are two records the same person?

Only for systems that can say so: ``same(first, second) → bool``, records as ``{"name",
"relationship", "facts"}``.
"""

from collections.abc import Sequence
from typing import Any

from benchmark import corpus
from benchmark.system import offers


def run(system: Any, authors: Sequence[str]) -> dict[str, Any] | None:
    """Precision, recall and F1 of yes, over the pairs that a careful person can decide."""
    if not offers(system, "same"):
        return None
    right = said = there = pairs = 0
    for author in authors:
        for case in corpus.cases(author, "aliases"):
            if case["confidence"] == "ambiguous":
                continue
            yes = bool(system.same(case["a"], case["b"]))
            pairs += 1
            said += yes
            there += case["same"]
            right += yes and case["same"]
    precision, recall = right / max(said, 1), right / max(there, 1)
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"pairs": pairs, "precision": precision, "recall": recall, "f1": f1}
