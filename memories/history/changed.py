"""What changed in a life: the values that an attribute had one after the other, and the tastes
that turned, by the memories that tell them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import EndUser
from memories.fact_conflicts import opposites, same_thing
from memories.models import Memory
from memories.types import StoredFact
from understanding.attributes import is_single

# So many of the latest memories are read.
MOST = 2000


@dataclass(frozen=True, slots=True)
class Step:
    """What held from ``since`` until ``until`` (None: still), by ``memory``."""

    key: str
    value: str
    since: datetime
    until: datetime | None
    memory: UUID


@dataclass(frozen=True, slots=True)
class Changed:
    """``person`` is a contact's id, None for the user; of ``steps`` at least one is no longer true:
    the earliest first, and what still holds last."""

    person: UUID | None
    steps: tuple[Step, ...]


def changed(end_user: EndUser, contact_id: UUID | None = None) -> list[Changed]:
    """What changed, the latest first; of one person where a contact is given. One statement."""
    rows = Memory.objects.of(end_user).facts().exclude(status=Memory.Status.ARCHIVED)
    rows = rows.exclude(facts=[])
    if contact_id is not None:
        rows = rows.filter(facts__contains=[{"person": str(contact_id)}])
    found: dict[UUID | None, dict[str, list[Step]]] = {}
    over: dict[tuple[UUID | None, str], list[Step]] = {}
    for memory in rows.order_by("-said_at", "pk").defer("tokens")[:MOST]:
        for fact in memory.as_stored().facts:
            if contact_id is not None and fact.person != contact_id:
                continue
            matters = found.setdefault(fact.person, {})
            matter = _matter(fact, matters)
            steps = matters.setdefault(matter, [])
            since = fact.valid_from or memory.began_at
            steps.append(Step(fact.key, fact.value, since, fact.valid_to, memory.pk))
            if fact.outdated or memory.status == Memory.Status.OUTDATED:
                over[fact.person, matter] = steps
    changes = [
        Changed(person, tuple(sorted(steps, key=lambda step: (step.until is None, step.since))))
        for (person, _), steps in over.items()
    ]
    return sorted(changes, key=lambda one: one.steps[-1].since, reverse=True)


def _matter(fact: StoredFact, matters: Iterable[str]) -> str:
    """What facts have in common of which one takes the place of another, among those of the same
    person: an attribute that has one value at a time, or what they like or not."""
    if is_single(fact.key):
        return fact.key
    kind = "taste" if opposites(fact.key) else fact.key
    values = (matter.partition(" ")[2] for matter in matters)
    known = (value for value in values if value and same_thing(value, fact.value))
    return f"{kind} {next(known, fact.value)}"
