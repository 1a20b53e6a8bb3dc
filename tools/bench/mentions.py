"""Which contacts does a message name? Scored on the function that injection uses."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from memories.context.who import doubted
from tools.bench.datasets import people_of, read_lines
from tools.bench.metrics import SetCase, ratio, score_sets
from understanding.people.mentions import entries_of, find_mentions


def run(paths: Iterable[Path], progress: bool = True) -> dict[str, Any]:
    """Precision, recall, F1 over (case, contact) pairs and exact cases, overall and by tag; ``asked``
    is the share of cases about which a model would be asked."""
    cases, asked = [], 0
    for case in tqdm(read_lines(paths), desc="mentions", disable=not progress):
        people = people_of(case)
        keys = {person.id: key for key, person in people.items()}
        found = find_mentions(case["message"], entries_of(people.values()))
        asked += doubted(case["message"], found, {}) is not None
        given = frozenset(keys[mention.person.id] for mention in found)
        cases.append(SetCase(case["tag"], frozenset(case["expect"]), given))
    return score_sets(cases) | {"asked": ratio(asked, len(cases))}
