"""Cases of memories that may be related, as JSON for a model, and the relations it found."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from memories.providers.openai.consolidation import MAX_REASON, memory_as_json
from memories.providers.openai.extraction import to_json
from memories.providers.openai.schemas import FoundRelationsOut
from memories.types import FoundRelation, RelationCase, StoredMemory
from understanding.text import clean


class RelationPrompt:
    """Cases with their short ids: what is sent, and how the answer is read."""

    def __init__(self, cases: Sequence[RelationCase]) -> None:
        self._cases = {f"c{number}": case for number, case in enumerate(cases, 1)}
        shown = {memory.id for case in cases for memory in (case.memory, *case.others)}
        self._memories = {f"m{number}": pk for number, pk in enumerate(sorted(shown), 1)}
        self._short = {pk: short for short, pk in self._memories.items()}

    def as_json(self) -> str:
        """The cases as the model sees them."""
        return to_json(
            {
                "cases": [
                    {
                        "case": short,
                        "memory": self._shown(case.memory),
                        "others": [self._shown(other) for other in case.others],
                    }
                    for short, case in self._cases.items()
                ]
            }
        )

    def _shown(self, memory: StoredMemory) -> dict[str, Any]:
        return {"id": self._short[memory.id], **memory_as_json(memory)}

    def read(self, out: FoundRelationsOut) -> list[FoundRelation]:
        """The relations between a case's memory and another of its memories, the surest for
        each two; whatever else is named is left out."""
        found: dict[frozenset[UUID], FoundRelation] = {}
        for item in out.relations:
            case = self._cases.get(item.case)
            source, target = self._memories.get(item.source), self._memories.get(item.target)
            if case is None or source is None or target is None or item.kind == "none":
                continue
            ends = {source, target}
            if case.memory.id not in ends or not ends - {case.memory.id} <= _ids(case.others):
                continue
            reason = clean(item.reason, MAX_REASON)
            held = found.get(frozenset(ends))
            if len(ends) == 2 and (held is None or held.confidence < item.confidence):
                found[frozenset(ends)] = FoundRelation(
                    item.kind, source, target, item.confidence, reason
                )
        return list(found.values())


def _ids(memories: Iterable[StoredMemory]) -> set[UUID]:
    return {memory.id for memory in memories}
