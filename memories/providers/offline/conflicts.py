"""How a new quote stands to known memories: what it ends of them are facts, and nothing else.

A fact ends another of the same key of the same person, of which only one holds at a time, and a
taste the opposite taste for the same. All else is kept: what a sentence takes back or changes is
for a reader to say.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from accounts.reasons import Reason
from memories.fact_conflicts import contradicted, opposites
from memories.types import ConflictCase, Resolution, Resolutions, StoredFact, StoredMemory, Verdict
from understanding.text import letters

_TURNED = {"likes": "now_dislikes", "interests": "now_dislikes", "dislikes": "now_likes"}


def resolve(cases: Sequence[ConflictCase]) -> Resolutions:
    """The resolutions of every case, by its key."""
    return {case.key: _resolve(case) for case in cases}


def _resolve(case: ConflictCase) -> list[Resolution]:
    ended: dict[UUID, tuple[StoredFact, ...]] = {}
    reasons: list[Reason] = []
    for memory in case.existing:
        if _repeats(case, memory):
            return [Resolution(Verdict.DUPLICATE, (memory.id,), Reason("known_already"))]
        over = _over(case, memory)
        if over and case.said_at >= memory.said_at:
            ended[memory.id] = tuple(over)
            reasons += over.values()
    if not ended:
        return []
    first, *rest = dict.fromkeys(reasons)
    why = Reason("all_of", clauses=[first, *rest]) if rest else first
    return [Resolution(Verdict.SUPERSEDES, tuple(ended), why, ended)]


def _repeats(case: ConflictCase, memory: StoredMemory) -> bool:
    """Whether the same was said of the same people, but for signs."""
    others = case.people and memory.people and case.people.isdisjoint(memory.people)
    same = letters(case.content) == letters(memory.content)
    return same and not others and set(case.facts) <= set(memory.current)


def _over(case: ConflictCase, memory: StoredMemory) -> Mapping[StoredFact, Reason]:
    """The facts of a memory that no longer hold by those of the case, with why."""
    found: dict[StoredFact, Reason] = {}
    for new, old in contradicted(case.facts, case.said_at, memory.current):
        if new.key == old.key and not new.over(case.said_at):
            found[old] = Reason("value_changed", attribute=new.key, new=new.value, old=old.value)
        elif old.key in opposites(new.key):
            found[old] = Reason(_TURNED[old.key], new=new.value)
        else:
            found[old] = Reason("left_place", company=old.value)
    return found
