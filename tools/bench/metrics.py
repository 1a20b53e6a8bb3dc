"""Pure: the measures that the benchmarks share."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


def ratio(part: float, whole: float) -> float:
    """``part / whole`` to four places; 0 where there is nothing."""
    return round(part / whole, 4) if whole else 0.0


def f1(hits: float, expected: float, given: float) -> float:
    """The harmonic mean of precision and recall: 2·hits / (expected + given)."""
    return ratio(2 * hits, expected + given)


@dataclass(frozen=True, slots=True)
class SetCase:
    """One case of a task that asks for a set of keys."""

    tag: str
    expected: frozenset[Hashable]
    given: frozenset[Hashable]


def score_sets(cases: Sequence[SetCase]) -> dict[str, Any]:
    """Over (case, key) pairs: precision, recall, F1; ``exact`` is the share of cases whose
    set is right; the same for each tag under ``by_tag``."""
    tags: dict[str, list[SetCase]] = defaultdict(list)
    for case in cases:
        tags[case.tag].append(case)
    return _figures(cases) | {"by_tag": {tag: _figures(tags[tag]) for tag in sorted(tags)}}


def _figures(cases: Iterable[SetCase]) -> dict[str, Any]:
    cases = list(cases)
    hits = sum(len(case.expected & case.given) for case in cases)
    expected = sum(len(case.expected) for case in cases)
    given = sum(len(case.given) for case in cases)
    return {
        "cases": len(cases),
        "exact": ratio(sum(case.expected == case.given for case in cases), len(cases)),
        "precision": ratio(hits, given),
        "recall": ratio(hits, expected),
        "f1": f1(hits, expected, given),
    }
