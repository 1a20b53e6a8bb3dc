"""How a new memory stands to the ones most like it: by learned odds, and by facts of which only one
can hold. What is likely enough ends the old one; what only may have ended, or can't be true
beside it, is kept and shown for review, since a wrong "no longer true" is worse than none."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self
from uuid import UUID

import numpy as np

from accounts.reasons import Reason
from contacts import learned
from contacts.text import letters
from memories import faithfulness
from memories.fact_conflicts import contradicted, opposites
from memories.providers.embeddings import LocalEmbedder
from memories.providers.offline.change_features import Told, Vector, features
from memories.types import ConflictCase, Resolution, Resolutions, StoredFact, StoredMemory, Verdict

# Shown for review: 0.94 of these cases of authors never seen had ended, in part or whole, or
# contradicted each other (python -m tools train change_model). Nothing is outdated by odds alone:
# of what they call nearly certain a third still holds.
DOUBTFUL = 0.7
# Facts that exclude each other, by hand, since the corpus has ten such pairs: less likely to have
# ended than this, one was misread; likelier to contradict each other than this, nobody knows.
HARDLY, UNDECIDED = 0.005, 0.5
SAME, ALIKE = 0.5, 0.25
_TURNED = {"likes": "now_dislikes", "interests": "now_dislikes", "dislikes": "now_likes"}


@dataclass(frozen=True, slots=True)
class Odds:
    """Probabilities: ``ended``, that the old statement is over, in part or whole; ``same``, that
    the new one repeats it; ``excluded``, that both can't be true and neither is known to be the
    right one."""

    ended: float
    same: float
    excluded: float


@dataclass(frozen=True, slots=True)
class ChangeModel:
    """Weights of a softmax over ``relations``: of the features by name, of the new vector, the old
    one and their product."""

    relations: Sequence[str]
    bias: Vector
    features: Mapping[str, Vector]
    vectors: Vector  # relations × (new, product, old)

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Self:
        """The model as ``change_model.json`` holds it."""
        array = {name: np.asarray(found[name]) for name in ("bias", "new", "product", "old")}
        return cls(
            relations=found["relations"],
            bias=array["bias"],
            features={name: np.asarray(row) for name, row in found["features"].items()},
            vectors=np.hstack([array["new"], array["product"], array["old"]]),
        )

    def odds(self, new: Told, old: Told) -> Odds:
        """How ``new``, told later, stands to ``old``."""
        evidence = features(new, old)
        both = np.concatenate([new.vector, new.vector * old.vector, old.vector])
        scores = self.bias + self.vectors @ both
        scores = scores + sum(self.features[name] * value for name, value in evidence.items())
        grown = np.exp(scores - scores.max())
        of = dict(zip(self.relations, (grown / grown.sum()).tolist(), strict=True))
        return Odds(of["supersedes"] + of["partly"], of["same"], of["conflicts"])


@cache
def _model() -> ChangeModel:
    return ChangeModel.read(learned.model(__file__, "change_model"))


def resolve(cases: Sequence[ConflictCase]) -> Resolutions:
    """The resolutions of every case, by its key."""
    vectors = _vectors(cases)
    return {case.key: _resolve(case, vectors) for case in cases}


def _vectors(cases: Sequence[ConflictCase]) -> Mapping[str, Vector]:
    """The vectors of all contents in the local model; those that came without one are embedded."""
    told: list[ConflictCase | StoredMemory] = [*cases]
    told += [memory for case in cases for memory in case.existing]
    found = {one.content: np.asarray(one.vector) for one in told if len(one.vector)}
    left = sorted({one.content for one in told} - found.keys())
    made = LocalEmbedder().embed_passages(left) if left else []
    return found | {text: np.asarray(vector) for text, vector in zip(left, made, strict=True)}


def _told(one: ConflictCase | StoredMemory, vectors: Mapping[str, Vector]) -> Told:
    people: set[Hashable] = {*one.people, *(fact.person for fact in one.facts)}
    return Told(one.content, one.said_at, frozenset(people or {None}), vectors[one.content])


def _resolve(case: ConflictCase, vectors: Mapping[str, Vector]) -> list[Resolution]:
    replaced: dict[UUID, Reason] = {}
    doubtful: dict[UUID, Reason] = {}
    more: dict[UUID, Reason] = {}
    for memory in case.existing:
        if _strangers(case, memory):
            continue
        new, old = _told(case, vectors), _told(memory, vectors)
        odds = _model().odds(new, old)
        if _repeats(case, memory, odds):
            return [Resolution(Verdict.DUPLICATE, (memory.id,), Reason("known_already"))]
        against = _excluded(case, memory)
        later = case.said_at >= memory.said_at
        if later and against and _is_over(odds, against):
            replaced[memory.id] = against
        elif against:
            doubtful[memory.id] = against
        elif new.people & old.people and in_doubt(odds):
            ended = later and odds.ended > odds.excluded
            doubtful[memory.id] = Reason("may_have_ended" if ended else "cannot_both_be")
        elif _same_slot(case, memory) or odds.same >= ALIKE:
            more[memory.id] = Reason("same_matter")
    return [
        Resolution(verdict, tuple(found), _together(found.values()))
        for verdict, found in (
            (Verdict.SUPERSEDES, replaced),
            (Verdict.CONFLICTS, doubtful),
            (Verdict.COMPLEMENTS, more),
        )
        if found
    ]


def _is_over(odds: Odds, against: Reason) -> bool:
    """Whether the old one gives way without a person's word. Of facts that exclude each other the
    later holds, and only these end; but not where somebody's word stands against another's, nor,
    tastes apart, where it is next to impossible that anything ended: one was misread."""
    told = against.code in _TURNED.values() or odds.ended >= HARDLY
    return told and odds.excluded < UNDECIDED


def in_doubt(odds: Odds) -> bool:
    """Whether a person should look at the two."""
    return odds.ended + odds.excluded >= DOUBTFUL


def _together(reasons: Iterable[Reason]) -> Reason:
    """Each of the reasons once."""
    first, *rest = dict.fromkeys(reasons)
    return Reason("all_of", clauses=[first, *rest]) if rest else first


def _strangers(case: ConflictCase, memory: StoredMemory) -> bool:
    """Facts or people on both sides and not one person in common."""
    for new, old in (
        ({fact.person for fact in case.facts}, {fact.person for fact in memory.current}),
        (case.people, memory.people),
    ):
        if new and old and not new & old:
            return True
    return False


def _repeats(case: ConflictCase, memory: StoredMemory, odds: Odds) -> bool:
    """Whether the new one says nothing that the old one does not."""
    if letters(case.content) == letters(memory.content):
        return True
    return (
        odds.same >= SAME
        and _values(case.facts) <= _values(memory.current)
        and faithfulness.numbers(case.content) == faithfulness.numbers(memory.content)
    )


def _values(facts: Sequence[StoredFact]) -> set[tuple[UUID | None, str, str]]:
    return {(fact.person, fact.key, letters(fact.value)) for fact in facts}


def _excluded(case: ConflictCase, memory: StoredMemory) -> Reason | None:
    """The first fact of ``memory`` that can't hold beside the new ones, in words."""
    for new, old in contradicted(case.facts, case.said_at, memory.current):
        if old.key in opposites(new.key):
            return Reason(_TURNED[old.key], new=new.value)
        if new.key != old.key or new.over(case.said_at):
            return Reason("left_place", company=old.value)
        return Reason("value_changed", attribute=new.key, new=new.value, old=old.value)
    return None


def _same_slot(case: ConflictCase, memory: StoredMemory) -> bool:
    slots = {(fact.person, fact.key) for fact in case.facts}
    return any((fact.person, fact.key) in slots for fact in memory.current)
