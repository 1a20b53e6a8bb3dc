"""The relations that facts alone prove between two memories; without a model none is read from
their words."""

from collections.abc import Iterator, Sequence

from accounts.reasons import Reason
from memories.fact_conflicts import same_value
from memories.types import FoundRelation, RelationCase, Relationship, StoredMemory
from understanding.attributes import is_single

# The precision of the rule on invented pairs.
CONFIDENCE = 0.85


def classify(cases: Sequence[RelationCase]) -> list[FoundRelation]:
    """The conflicts between each case's memory and the others, at most one a pair: both give
    somebody another value of an attribute that has one at a time."""
    return [
        relation
        for case in cases
        for other in case.others
        for relation in [*_conflicts(case.memory, other)][:1]
    ]


def _conflicts(one: StoredMemory, other: StoredMemory) -> Iterator[FoundRelation]:
    for a in one.current:
        for b in other.current:
            if a.over(one.said_at) or b.over(other.said_at):
                continue
            if a.key != b.key or a.person != b.person or not is_single(a.key):
                continue
            if not same_value(a.value, b.value):
                reason = Reason("two_values", attribute=a.key, one=a.value, other=b.value)
                yield FoundRelation(Relationship.CONFLICTS, one.id, other.id, CONFIDENCE, reason)
