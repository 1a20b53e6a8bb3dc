"""Which facts can't both hold, whoever reads them: a new one ends an old one, not all that was
told in the same breath."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from memories.types import StoredFact
from understanding.attributes import is_single
from understanding.text import HAN, letters, normalise

_TASTES = (("likes", "interests"), ("dislikes",))
# What an attribute is called once it is over, for those that are told of then as well.
HISTORY = {"company": "former_company", "location": "former_location"}
FORMER = {past: key for key, past in HISTORY.items()}


def told_key(fact: StoredFact, said_at: datetime) -> str:
    """The attribute that a fact told at ``said_at`` states: its own, the one for what is over, or
    "" where what is over is no attribute."""
    if not fact.over(said_at) or fact.key in FORMER:
        return fact.key
    return HISTORY.get(fact.key, "")


def opposites(key: str) -> tuple[str, ...]:
    """The attributes whose value is none of ``key`` any more."""
    return next((other for one, other in (_TASTES, _TASTES[::-1]) if key in one), ())


def same_value(one: str, other: str) -> bool:
    """Whether one value says no other than the other, fuller or shorter."""
    left, right = letters(one), letters(other)
    return left in right or right in left


def same_thing(one: str, other: str) -> bool:
    """Whether two values name the same, or one a kind of the other: words are taken whole, so
    that tea is none of steak."""
    if HAN.search(one + other):
        return bool(letters(one) and letters(other)) and same_value(one, other)
    left, right = ({w.removesuffix("s") for w in normalise(v).split()} for v in (one, other))
    return bool(left and right) and (left <= right or right <= left)


def contradicted(
    new: Sequence[StoredFact], said_at: datetime, old: Sequence[StoredFact]
) -> Iterator[tuple[StoredFact, StoredFact]]:
    """Each fact of ``old`` that no longer holds by one of ``new``, told later at ``said_at``,
    with that one. What was over already, or is told as over, contradicts nothing but itself."""
    for before in old:
        if before.outdated or before.over(said_at):
            continue
        for after in new:
            if after.person == before.person and _ends(after, said_at, before):
                yield after, before
                break


def _ends(new: StoredFact, said_at: datetime, old: StoredFact) -> bool:
    if new.over(said_at) or new.key in FORMER:
        return old.key in (new.key, FORMER.get(new.key)) and same_thing(new.value, old.value)
    if new.key == old.key:
        return is_single(new.key) and not same_value(new.value, old.value)
    return old.key in opposites(new.key) and same_thing(new.value, old.value)
