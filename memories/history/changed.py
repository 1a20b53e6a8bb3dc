"""What changed in a life: the successive values of an attribute, and likes and dislikes that
changed, from the memories that state them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import EndUser
from memories.fact_conflicts import opposites, same_thing
from memories.models import Memory
from memories.types import StoredFact
from understanding.attributes import is_single

# Only so many of the latest memories are read.
MOST = 2000


@dataclass(frozen=True, slots=True)
class Step:
    """A value that was true from ``since`` until ``until`` (None: still), as ``memory`` states."""

    key: str
    value: str
    since: datetime
    until: datetime | None
    memory: UUID


@dataclass(frozen=True, slots=True)
class Changed:
    """The values of one attribute or taste of ``person`` (a contact's id, None: the user). At least
    one of ``steps`` is no longer true; the earliest is first, what is still true last."""

    person: UUID | None
    steps: tuple[Step, ...]


def changed(end_user: EndUser, contact_id: UUID | None = None) -> list[Changed]:
    """Returns what changed, the latest first, for everybody or one contact. One statement."""
    rows = Memory.objects.of(end_user).facts().exclude(status=Memory.Status.ARCHIVED)
    rows = rows.exclude(facts=[])
    if contact_id is not None:
        rows = rows.filter(facts__contains=[{"person": str(contact_id)}])
    steps_by_person: dict[UUID | None, dict[str, list[Step]]] = {}
    changed_steps: dict[tuple[UUID | None, str], list[Step]] = {}
    for memory in rows.order_by("-said_at", "pk").defer("tokens")[:MOST]:
        for fact in memory.as_stored().facts:
            if contact_id is not None and fact.person != contact_id:
                continue
            steps_by_topic = steps_by_person.setdefault(fact.person, {})
            topic = _topic(fact, steps_by_topic)
            steps = steps_by_topic.setdefault(topic, [])
            since = fact.valid_from or memory.began_at
            steps.append(Step(fact.key, fact.value, since, fact.valid_to, memory.pk))
            if fact.outdated or memory.status == Memory.Status.OUTDATED:
                changed_steps[fact.person, topic] = steps
    changes = [
        Changed(person, tuple(sorted(steps, key=lambda step: (step.until is None, step.since))))
        for (person, _), steps in changed_steps.items()
    ]
    return sorted(changes, key=lambda one: one.steps[-1].since, reverse=True)


def _topic(fact: StoredFact, topics: Iterable[str]) -> str:
    """Returns what facts of a person that replace one another have in common: an attribute that has
    one value at a time, else the attribute (or ``taste``: likes and dislikes) and the value."""
    if is_single(fact.key):
        return fact.key
    kind = "taste" if opposites(fact.key) else fact.key
    values = (topic.partition(" ")[2] for topic in topics)
    alike = (value for value in values if value and same_thing(value, fact.value))
    return f"{kind} {next(alike, fact.value)}"
