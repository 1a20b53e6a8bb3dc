"""Pairs of records that may be one person, as JSON for a model, and its verdicts."""

from collections.abc import Mapping, Sequence
from typing import Any

from memories.providers.openai.consolidation import MAX_REASON
from memories.providers.openai.extraction import MAX_VALUE, to_json
from memories.providers.openai.schemas import PairsOut
from memories.types import Judgement, PairCase
from understanding.same_person.records import Record
from understanding.text import clean

MAX_NAMES, MAX_ATTRIBUTES, MAX_FACTS = 8, 12, 6


class PairPrompt:
    """Pairs with their short ids: what is sent, and how the answer is read."""

    def __init__(self, cases: Sequence[PairCase]) -> None:
        self._cases = {f"c{number}": case for number, case in enumerate(cases, 1)}

    def as_json(self) -> str:
        """The pairs as the model sees them."""
        return to_json(
            {
                "cases": [
                    {
                        "case": short,
                        "first": record_as_json(case.first),
                        "second": record_as_json(case.second),
                    }
                    for short, case in self._cases.items()
                ]
            }
        )

    def read(self, out: PairsOut) -> Mapping[int, Judgement]:
        """The verdicts by the cases' keys, the first for each; a pair that the model left out, or
        that was not shown, has none."""
        found: dict[int, Judgement] = {}
        for item in out.verdicts:
            case = self._cases.get(item.case)
            if case is not None:
                judgement = Judgement(item.verdict, clean(item.reason, MAX_REASON))
                found.setdefault(case.key, judgement)
        return found


def record_as_json(record: Record) -> dict[str, Any]:
    """A person as a model sees them, without what is unknown."""
    attributes = {
        key: [clean(value, MAX_VALUE) for value in values[:3]]
        for key, values in list(record.attributes.items())[:MAX_ATTRIBUTES]
    }
    shown = {
        "names": [clean(name, MAX_VALUE) for name in record.names[:MAX_NAMES]],
        "relationship": clean(record.relationship, MAX_VALUE),
        "gender": record.gender,
        "attributes": attributes,
        "facts": list(record.facts[:MAX_FACTS]),
    }
    return {key: value for key, value in shown.items() if value}
