"""What a new quote ends of known memories: facts, and nothing else.

A fact ends another of the same key of the same person where a person has one value at a time, and
a taste ends the opposite taste for the same thing. All else is kept.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from accounts.reasons import Reason
from memories.fact_conflicts import contradicted, opposites
from memories.types import ConflictCase, Resolution, Resolutions, StoredFact, StoredMemory, Verdict
from understanding.text import letters

_TASTE_CHANGED = {"likes": "now_dislikes", "interests": "now_dislikes", "dislikes": "now_likes"}


def resolve(cases: Sequence[ConflictCase]) -> Resolutions:
    """The resolutions of every case, by its key."""
    return {case.key: _resolve(case) for case in cases}


def _resolve(case: ConflictCase) -> list[Resolution]:
    ended: dict[UUID, tuple[StoredFact, ...]] = {}
    reasons: list[Reason] = []
    for memory in case.existing:
        if _repeats(case.new, memory):
            return [Resolution(Verdict.DUPLICATE, (memory.id,), Reason("known_already"))]
        facts = _ended_facts(case.new, memory)
        if facts and case.new.said_at >= memory.said_at:
            ended[memory.id] = tuple(facts)
            reasons += facts.values()
    if not ended:
        return []
    first, *rest = dict.fromkeys(reasons)
    why = Reason("all_of", clauses=[first, *rest]) if rest else first
    return [Resolution(Verdict.SUPERSEDES, tuple(ended), why, ended)]


def _repeats(new: StoredMemory, memory: StoredMemory) -> bool:
    """Whether both have the same letters and may be about the same people."""
    others = new.people and memory.people and new.people.isdisjoint(memory.people)
    same = letters(new.content) == letters(memory.content)
    return same and not others and set(new.facts) <= set(memory.current)


def _ended_facts(new: StoredMemory, memory: StoredMemory) -> Mapping[StoredFact, Reason]:
    """The facts of a memory that the new one contradicts, with why."""
    reasons: dict[StoredFact, Reason] = {}
    for fact, old in contradicted(new.facts, new.said_at, memory.current):
        if fact.key == old.key and not fact.over(new.said_at):
            reasons[old] = Reason(
                "value_changed", attribute=fact.key, new=fact.value, old=old.value
            )
        elif old.key in opposites(fact.key):
            reasons[old] = Reason(_TASTE_CHANGED[old.key], new=fact.value)
        else:
            reasons[old] = Reason("left_place", company=old.value)
    return reasons
