"""Are two records one person? Scored on the comparison that the suggestion job uses."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from tqdm import tqdm

from tools.bench.datasets import read_lines
from tools.bench.metrics import f1, ratio
from understanding.same_person.pair_scoring import Verdict, compare
from understanding.same_person.records import Record, record
from understanding.types import Person

# What an operator is asked about; an ambiguous pair is shown as undecided.
SUGGESTED: frozenset[Verdict] = frozenset({"certain", "likely"})

Judged = tuple[bool, Verdict]


def run(paths: Iterable[Path], progress: bool = True) -> dict[str, Any]:
    """Precision, recall, F1 of what is suggested, and the precision of what is called
    certain, over the pairs that their labels call decidable."""
    tags: dict[str, list[Judged]] = defaultdict(list)
    for case in tqdm(read_lines(paths), desc="aliases", disable=not progress):
        if case["confidence"] == "ambiguous":
            continue
        verdict = compare(described(case["a"]), described(case["b"])).verdict
        tags[case["tag"]].append((case["same"], verdict))
    everything = [judged for cases in tags.values() for judged in cases]
    by_tag = {tag: _figures(tags[tag]) for tag in sorted(tags)}
    return _figures(everything) | {"by_tag": by_tag}


def described(side: Mapping[str, Any]) -> Record:
    """The record that one side of a pair tells of."""
    relationship = side.get("relationship") or ""
    person = Person(uuid5(NAMESPACE_OID, side["name"]), side["name"], relationship=relationship)
    return record(person, {}, side["facts"])


def _figures(cases: Sequence[Judged]) -> dict[str, Any]:
    """A figure is None where there is nothing to measure it on."""
    given = [same for same, verdict in cases if verdict in SUGGESTED]
    certain = [same for same, verdict in cases if verdict == "certain"]
    expected = sum(same for same, _ in cases)
    right = sum(same == (verdict in SUGGESTED) for same, verdict in cases)
    return {
        "cases": len(cases),
        "right": ratio(right, len(cases)),
        "precision": ratio(sum(given), len(given)) if given else None,
        "recall": ratio(sum(given), expected) if expected else None,
        "f1": f1(sum(given), expected, len(given)) if expected or given else None,
        "certain_precision": ratio(sum(certain), len(certain)) if certain else None,
        "certain": len(certain),
    }
