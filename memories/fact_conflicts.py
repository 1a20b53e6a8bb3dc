"""Decides which facts can't both be true, whatever provider read them: a new fact ends the old fact
that it contradicts, not the whole memory that states it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from memories.types import StoredFact
from understanding.attributes import is_single
from understanding.text import HAN, letters, normalise

_TASTES = (("likes", "interests"), ("dislikes",))
# The attribute of a value that is over, for attributes whose past values are kept.
HISTORY = {"company": "former_company", "location": "former_location"}
FORMER = {past: key for key, past in HISTORY.items()}


def stated_attribute(fact: StoredFact, said_at: datetime) -> str:
    """Returns the attribute that a fact stated at ``said_at`` sets: its own key, or if it was over
    by then the key for past values (company: former_company), "" if there is none."""
    if not fact.over(said_at) or fact.key in FORMER:
        return fact.key
    return HISTORY.get(fact.key, "")


def opposites(key: str) -> tuple[str, ...]:
    """Returns the attributes that lose a value when ``key`` gains it (likes: dislikes)."""
    return next((opposite for tastes, opposite in (_TASTES, _TASTES[::-1]) if key in tastes), ())


def same_value(one: str, other: str) -> bool:
    """Whether the letters of one value contain those of the other (Siemens, Siemens AG)."""
    left, right = letters(one), letters(other)
    return left in right or right in left


def same_thing(one: str, other: str) -> bool:
    """Whether two values name the same thing, or one names a kind of the other. Outside Chinese,
    whole words are compared, so that "tea" is not found in "steak"."""
    if HAN.search(one + other):
        return bool(letters(one) and letters(other)) and same_value(one, other)
    left, right = ({w.removesuffix("s") for w in normalise(v).split()} for v in (one, other))
    return bool(left and right) and (left <= right or right <= left)


def contradictions(
    new: Sequence[StoredFact], said_at: datetime, old: Sequence[StoredFact]
) -> Iterator[tuple[StoredFact, StoredFact]]:
    """Yields (new, old) for each ``old`` fact that a ``new`` one, stated at ``said_at``, ends. Old
    facts that are over or outdated are skipped; a new fact that is over ends only its equal."""
    for old_fact in old:
        if old_fact.outdated or old_fact.over(said_at):
            continue
        for new_fact in new:
            if new_fact.person == old_fact.person and _ends(new_fact, said_at, old_fact):
                yield new_fact, old_fact
                break


def _ends(new: StoredFact, said_at: datetime, old: StoredFact) -> bool:
    if new.over(said_at) or new.key in FORMER:
        return old.key in (new.key, FORMER.get(new.key)) and same_thing(new.value, old.value)
    if new.key == old.key:
        return is_single(new.key) and not same_value(new.value, old.value)
    return old.key in opposites(new.key) and same_thing(new.value, old.value)
