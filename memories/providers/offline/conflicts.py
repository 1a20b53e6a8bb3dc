"""How a new memory stands to the ones most like it, decided on facts before words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from uuid import UUID

from accounts.reasons import Reason
from contacts.attributes import is_single
from contacts.text import letters
from memories.fact_conflicts import contradicted, opposites
from memories.providers.thresholds import Calibration
from memories.types import ConflictCase, MemoryType, Resolution, StoredFact, StoredMemory, Verdict

SAME_WORDS = 0.85  # SequenceMatcher ratio over normalised text
_TURNED = {"likes": "now_dislikes", "interests": "now_dislikes", "dislikes": "now_likes"}
_MOVED = re.compile(
    r"改到|改成|改为|改期|推迟|延期|提前到|挪到|取消|\b(?:moved to|pushed|postponed|rescheduled|brought forward|cancel+ed|called off)\b",
    re.I,
)
_DATE = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?: \d\d:\d\d)?|\d{4}年\d{1,2}月(?:\d{1,2}日)?|\d{1,2}月\d{1,2}[日号]"
)


def resolve(cases: Sequence[ConflictCase], levels: Calibration) -> Mapping[str, Resolution]:
    """A resolution for every case, by its key."""
    return {case.key: _resolve(case, levels) for case in cases}


def _resolve(case: ConflictCase, levels: Calibration) -> Resolution:
    replaced: dict[UUID, Reason] = {}
    more: dict[UUID, Reason] = {}
    for memory in case.existing:
        if _same_statement(case, memory, levels):
            return Resolution(Verdict.DUPLICATE, (memory.id,), Reason("known_already"))
        reason = _contradiction(case, memory, levels)
        if reason:
            replaced[memory.id] = reason
        elif _adds_to(case, memory, levels):
            more[memory.id] = Reason("same_matter")
    if replaced:
        return Resolution(Verdict.SUPERSEDES, tuple(replaced), _together(replaced.values()))
    if more:
        return Resolution(Verdict.COMPLEMENTS, tuple(more), _together(more.values()))
    return Resolution(Verdict.NEW, (), Reason("nothing_alike"))


def _together(reasons: Iterable[Reason]) -> Reason:
    """Each of the reasons once."""
    first, *rest = dict.fromkeys(reasons)
    return Reason("all_of", clauses=[first, *rest]) if rest else first


def _people(facts: Sequence[StoredFact]) -> set[UUID | None]:
    return {fact.person for fact in facts}


def _strangers(case: ConflictCase, memory: StoredMemory) -> bool:
    """Facts on both sides and not one person in common."""
    return bool(case.facts and memory.current) and not (
        _people(case.facts) & _people(memory.current)
    )


def _same_statement(case: ConflictCase, memory: StoredMemory, levels: Calibration) -> bool:
    if _strangers(case, memory):
        return False
    new, old = letters(case.content), letters(memory.content)
    if new == old:
        return True
    if _values(case.facts) != _values(memory.current) and _contradiction(case, memory, levels):
        return False
    if set(_DATE.findall(case.content)) != set(_DATE.findall(memory.content)):
        return False
    if re.findall(r"\d+", new) != re.findall(r"\d+", old):
        return False
    ratio = SequenceMatcher(None, new, old, autojunk=False).ratio()
    says_less = (
        bool(case.facts)
        and _values(case.facts) <= _values(memory.current)
        and len(new) <= len(old) + 4
    )
    if says_less and (memory.similarity >= levels.same_statement or ratio >= 0.6):
        return True
    return (
        memory.similarity >= levels.same_statement
        and ratio >= SAME_WORDS
        and _values(case.facts) <= _values(memory.current)
    )


def _values(facts: Sequence[StoredFact]) -> set[tuple[UUID | None, str, str]]:
    return {(fact.person, fact.key, letters(fact.value)) for fact in facts}


def _contradiction(case: ConflictCase, memory: StoredMemory, levels: Calibration) -> Reason | None:
    """Why ``memory`` no longer holds once the new one does, or None."""
    if case.said_at < memory.said_at:
        return None
    for new, old in contradicted(case.facts, case.said_at, memory.current):
        if old.key in opposites(new.key):
            return Reason(_TURNED[old.key], new=new.value)
        if new.key != old.key or new.over(case.said_at):
            return Reason("left_place", company=old.value)
        return Reason("value_changed", attribute=new.key, new=new.value, old=old.value)
    if _strangers(case, memory):
        return None
    return _rescheduled(case, memory, levels) or _fulfilled(case, memory)


def _rescheduled(case: ConflictCase, memory: StoredMemory, levels: Calibration) -> Reason | None:
    """The same event at another time."""
    if not _MOVED.search(case.content) or memory.similarity < levels.same_event:
        return None
    old, new = _DATE.findall(memory.content), _DATE.findall(case.content)
    if old and new and set(old) != set(new) and _shared_topic(case.content, memory.content):
        return Reason("event_moved")
    if (
        old
        and re.search(r"取消|cancel+ed|called off", case.content)
        and _shared_topic(case.content, memory.content)
    ):
        return Reason("event_cancelled")
    return None


def _fulfilled(case: ConflictCase, memory: StoredMemory) -> Reason | None:
    """What was planned has come to pass."""
    if memory.type is not MemoryType.PLAN or case.type is MemoryType.PLAN:
        return None
    plans = [fact for fact in memory.current if fact.key == "plan"]
    done = [fact for fact in case.facts if fact.key != "plan"]
    for plan in plans:
        for fact in done:
            if (
                fact.person == plan.person
                and is_single(fact.key)
                and letters(fact.value) in letters(plan.value)
            ):
                return Reason("plan_fulfilled")
    return None


def _shared_topic(new: str, old: str) -> bool:
    """Two texts share a content word or a run of two Han characters beyond their dates."""
    strip = re.compile(r"用户的?|the user'?s?|" + _DATE.pattern, re.I)
    left, right = strip.sub("", new), strip.sub("", old)
    han = {
        left[i : i + 2]
        for i in range(len(left) - 1)
        if re.match(r"[\u4e00-\u9fff]{2}", left[i : i + 2])
    }
    words = {word.lower() for word in re.findall(r"[A-Za-z]{4,}", left)}
    return any(pair in right for pair in han) or bool(
        words & {w.lower() for w in re.findall(r"[A-Za-z]{4,}", right)}
    )


def _adds_to(case: ConflictCase, memory: StoredMemory, levels: Calibration) -> bool:
    shared = {(f.person, f.key) for f in case.facts} & {(f.person, f.key) for f in memory.current}
    return bool(shared) or (
        memory.similarity >= levels.same_statement and not _strangers(case, memory)
    )
