"""The deterministic provider: small models learned from the corpus, and rules; no network.

A new quote ends facts of stored memories, and nothing else: a fact ends another fact of the same
person and key if the key has one value at a time, and a taste ends the opposite taste; words that
say that a fact's value is over (a job, a home) end this fact.
"""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TypeVar
from uuid import UUID

from accounts.reasons import Reason
from memories.fact_conflicts import contradictions, opposites
from memories.providers.offline.profile_patches import consolidate
from memories.providers.offline.reading.reader import extract
from memories.types import (
    ConflictCase,
    Extraction,
    ExtractionRequest,
    ProfilePatch,
    ProfileRequest,
    Reply,
    Resolution,
    Resolutions,
    StoredFact,
    StoredMemory,
    Usage,
    Verdict,
)
from understanding.statements.endings import is_over
from understanding.text import letters

A = TypeVar("A")
T = TypeVar("T")


class OfflineProvider:
    """A LanguageProvider that asks no server and uses no tokens."""

    name = "offline"
    reads_memories = False
    model = "learned-1"

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        return _timed(extract, request)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Resolutions]:
        return _timed(lambda cases: {case.key: _resolve(case) for case in cases}, cases)

    def consolidate(self, requests: Sequence[ProfileRequest]) -> Reply[Mapping[UUID, ProfilePatch]]:
        return _timed(lambda asked: {one.person.id: consolidate(one) for one in asked}, requests)


def _timed(answer: Callable[[A], T], asked: A) -> Reply[T]:
    started = perf_counter()
    return Reply(answer(asked), Usage(0, 0, (perf_counter() - started) * 1000))


_TASTE_CHANGED = {"likes": "now_dislikes", "interests": "now_dislikes", "dislikes": "now_likes"}


def _resolve(case: ConflictCase) -> list[Resolution]:
    """Returns DUPLICATE, or SUPERSEDES with the facts that end, or [] for a new memory."""
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
    """Whether the new memory has the same letters, no other facts and no other people."""
    has_other_people = new.people and memory.people and new.people.isdisjoint(memory.people)
    has_same_letters = letters(new.content) == letters(memory.content)
    return has_same_letters and not has_other_people and set(new.facts) <= set(memory.current)


def _ended_facts(new: StoredMemory, memory: StoredMemory) -> Mapping[StoredFact, Reason]:
    """Returns the facts of a memory that the new one contradicts or says are over, with reasons."""
    reasons: dict[StoredFact, Reason] = {}
    for fact, old in contradictions(new.facts, new.said_at, memory.current):
        if fact.key == old.key and not fact.over(new.said_at):
            reasons[old] = Reason(
                "value_changed", attribute=fact.key, new=fact.value, old=old.value
            )
        elif old.key in opposites(fact.key):
            reasons[old] = Reason(_TASTE_CHANGED[old.key], new=fact.value)
        else:
            reasons[old] = Reason("left_place", company=old.value)
    for old in memory.current:
        about = frozenset() if old.person is None else frozenset((old.person,))
        if new.people == about and is_over(new.content, old.key, old.value):
            reasons.setdefault(old, Reason("value_over", attribute=old.key, old=old.value))
    return reasons
