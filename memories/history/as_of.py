"""What was believed at a moment: memories, and what they told of a person.

A memory is believed from when it was said until it was found to be no longer true, and
while no later correction is counted: what was edited, moved, merged, split or unlinked
afterwards is seen as it was before. Undone changes never count. What the user asked to
forget is not shown, whatever the moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.models import EndUser
from contacts.models import Contact
from memories.fact_conflicts import told_key
from memories.history import replay
from memories.models import Link, Memory
from memories.types import StoredFact
from understanding.attributes import is_single

Status = Memory.Status
_COLUMNS = {
    field.attname: field for field in Memory._meta.concrete_fields if field.attname != "end_user_id"
}


@dataclass(frozen=True, slots=True)
class MemoryAsOf:
    """A memory as it was believed. ``contacts`` are whom it was about."""

    id: UUID
    content: str
    type: str
    subtype: str
    said_at: datetime
    facts: tuple[dict[str, Any], ...]
    source_message_ids: tuple[int, ...]
    quote: str
    contacts: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ValueAsOf:
    """``since`` is when the first of its ``sources`` was said (None: it was stated)."""

    value: str
    sources: tuple[UUID, ...]
    since: datetime | None


@dataclass(frozen=True, slots=True)
class ContactAsOf:
    """A person as they were known. Of each attribute the current value comes first."""

    id: UUID
    name: str
    aliases: tuple[str, ...]
    relationship: str
    gender: str
    attributes: Mapping[str, tuple[ValueAsOf, ...]]
    personality: str
    timeline: tuple[dict[str, Any], ...]
    memory_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Then:
    """A moment, and how what was touched since was then; made by ``at``. ``memories`` and
    ``contacts`` are their columns by id (None: not there), ``links`` the contact and the memory
    that a link was between (None: neither)."""

    end_user: EndUser
    moment: datetime
    memories: Mapping[UUID, replay.Values | None]
    contacts: Mapping[UUID, replay.Values | None]
    links: Mapping[int, tuple[UUID, UUID] | None]


def at(end_user: EndUser, moment: datetime) -> Then:
    """What must be seen otherwise than it is now. Two statements."""
    found = replay.touches(end_user, [replay.MEMORY, replay.LINK, replay.CONTACT], since=moment)
    rows: dict[str, dict[str, replay.Values | None]] = {
        replay.MEMORY: {},
        replay.LINK: {},
        replay.CONTACT: {},
    }
    for (model, pk), values in replay.before(found).items():
        rows[model][pk] = values
    links = {int(pk): values for pk, values in rows[replay.LINK].items()}
    now: dict[int, dict[str, Any]] = {
        row["id"]: {**row}
        for row in Link.objects.of(end_user)
        .filter(pk__in=links)
        .values("id", "contact_id", "memory_id", "rejected")
    }
    return Then(
        end_user,
        moment,
        {UUID(pk): values for pk, values in rows[replay.MEMORY].items()},
        {UUID(pk): values for pk, values in rows[replay.CONTACT].items()},
        {pk: _pair(v is not None and {**now.get(pk, {}), **v}) for pk, v in links.items()},
    )


def _pair(link: Any) -> tuple[UUID, UUID] | None:
    """The contact and the memory of a link that stands."""
    if not link or link.get("rejected") or "memory_id" not in link:
        return None
    return UUID(str(link["contact_id"])), UUID(str(link["memory_id"]))


def rows(
    then: Then, contact_id: UUID | None = None, valid_at: datetime | None = None
) -> QuerySet[Memory]:
    """The memories believed then (as they are now; see ``seen``), about a contact if one is
    given; with ``valid_at`` those that were believed then to have held at that moment, true or
    no longer. At most two more statements, whatever their number."""
    facts = Memory.objects.of(then.end_user).facts()
    standing = Q(status=Status.ACTIVE) | Q(status=Status.OUTDATED, outdated_at__gt=then.moment)
    untouched = facts.exclude(pk__in=list(then.memories))
    if valid_at is not None:
        standing |= Q(status=Status.OUTDATED)
        untouched = untouched.held_at(valid_at)
    touched = facts.filter(pk__in=then.memories).defer("tokens")
    believed = [memory.pk for memory in touched if _was_believed(then, memory, valid_at)]
    chosen = untouched.filter(standing, said_at__lte=then.moment).values("pk")
    found = facts.filter(Q(pk__in=chosen) | Q(pk__in=believed))
    if contact_id is not None:
        found = found.filter(pk__in=_about(then, contact_id))
    return found


def _was_believed(then: Then, memory: Memory, valid_at: datetime | None) -> bool:
    if then.memories[memory.pk] is None:
        return False
    old = _as_it_was(then, memory)
    if old["status"] == Status.OUTDATED:
        until = replay.moment(old["outdated_at"])
        standing = valid_at is not None or (until is not None and until > then.moment)
    else:
        standing = old["status"] == Status.ACTIVE
    said_at = replay.moment(old["said_at"])
    if valid_at is not None and not _seen(memory, then).held(valid_at):
        return False
    return standing and said_at is not None and said_at <= then.moment


def _as_it_was(then: Then, memory: Memory) -> dict[str, Any]:
    values = {name: getattr(memory, name) for name in Memory.tracked}
    return {**values, **(then.memories.get(memory.pk) or {})}


def _about(then: Then, contact_id: UUID) -> set[UUID]:
    links = Link.objects.of(then.end_user).standing().filter(contact=contact_id)
    found = set(links.exclude(pk__in=list(then.links)).values_list("memory", flat=True))
    return found | {pair[1] for pair in then.links.values() if pair and pair[0] == contact_id}


def seen(then: Then, memories: Sequence[Memory]) -> list[tuple[Memory, tuple[UUID, ...]]]:
    """Memories (unsaved) with the columns that they had then, and whom each was about. One
    more statement."""
    links = Link.objects.of(then.end_user).standing().exclude(pk__in=list(then.links))
    pairs = list(
        links.filter(memory__in=memories).order_by("pk").values_list("contact_id", "memory_id")
    )
    pairs += [pair for pair in then.links.values() if pair]
    found = []
    for memory in memories:
        _seen(memory, then)
        memory.status, memory.outdated_at = Status.ACTIVE, None
        about = dict.fromkeys(contact for contact, pk in pairs if pk == memory.pk)
        found.append((memory, tuple(about)))
    return found


def _seen(memory: Memory, then: Then) -> Memory:
    """The memory (unsaved) with the columns that it had then."""
    for name, value in (then.memories.get(memory.pk) or {}).items():
        if name in _COLUMNS:
            setattr(memory, name, None if value is None else _COLUMNS[name].to_python(value))
    return memory


def as_of(end_user: EndUser, moment: datetime, contact_id: UUID | None = None) -> list[MemoryAsOf]:
    """The memories believed at ``moment`` (aware), the latest said first; only those about a
    contact where one is given. At most seven statements."""
    then = at(end_user, moment)
    if contact_id is not None:
        contact_id = survivor(then, contact_id)
    found = rows(then, contact_id).order_by("-said_at", "pk").defer("tokens")
    return [
        MemoryAsOf(
            id=memory.pk,
            content=memory.content,
            type=memory.type,
            subtype=memory.subtype,
            said_at=memory.said_at,
            facts=tuple(memory.facts),
            source_message_ids=tuple(memory.source_message_ids),
            quote=memory.quote,
            contacts=about,
        )
        for memory, about in seen(then, list(found))
    ]


def contact_as_of(
    end_user: EndUser, contact_id: UUID, moment: datetime, valid_at: datetime | None = None
) -> ContactAsOf | None:
    """A person as they were known at ``moment`` (aware); None when they were not. The id of
    one who was merged by then answers with the survivor. With ``valid_at`` as they were at that
    moment, by what was known at the first.

    An attribute or event counts if one of the memories that it rests on was believed, the
    personality if all were. What was stated by a person rests on none and counts.
    """
    then = at(end_user, moment)
    contact_id = survivor(then, contact_id)
    known = _contact(then, contact_id)
    if known is None:
        return None
    held = rows(then, contact_id, valid_at).defer("tokens")
    memories = [m for m, _ in seen(then, list(held))]
    said = {memory.pk: memory.said_at for memory in memories}
    told = set(map(UUID, known["personality_sources"]))
    first = replay.moment(known["first_mentioned_at"])
    if not said and (first is None or first > moment):
        return None
    return ContactAsOf(
        id=contact_id,
        name=known["name"],
        aliases=tuple(known["aliases"]),
        relationship=known["relationship"],
        gender=known["gender"],
        attributes=_attributes(contact_id, known["attributes"], memories, said, valid_at),
        personality=known["personality"] if told <= said.keys() else "",
        timeline=tuple(
            event
            for event in known["timeline"]
            if (not event["sources"] or _standing(event["sources"], said))
            and not (valid_at and event.get("at", "") > valid_at.date().isoformat())
        ),
        memory_ids=tuple(sorted(said, key=lambda pk: said[pk])),
    )


def _contact(then: Then, contact_id: UUID) -> dict[str, Any] | None:
    """The tracked columns of a contact as they were, None when there was no such contact."""
    touched = contact_id in then.contacts
    old = then.contacts.get(contact_id)
    row = Contact.objects.of(then.end_user).filter(pk=contact_id).light().first()
    if touched and old is None:
        return None
    now = {name: getattr(row, name) for name in Contact.tracked} if row else {}
    then_known = {**now, **(old or {})}
    return then_known if "name" in then_known else None


def survivor(then: Then, contact_id: UUID) -> UUID:
    """The contact that this one was merged into by then, or itself."""
    merged = Contact.objects.of(then.end_user).exclude(merged_into=None)
    into: dict[UUID, UUID | None] = dict(merged.values_list("pk", "merged_into_id"))
    for pk, values in then.contacts.items():
        if values and "merged_into_id" in values:
            to = values["merged_into_id"]
            into[pk] = UUID(to) if to else None
    while (next_id := into.get(contact_id)) is not None:
        contact_id = next_id
    return contact_id


def _standing(sources: Sequence[str], said: Mapping[UUID, datetime]) -> tuple[UUID, ...]:
    return tuple(pk for pk in map(UUID, sources) if pk in said)


def _attributes(
    contact_id: UUID,
    profile: Mapping[str, Sequence[dict[str, Any]]],
    memories: Sequence[Memory],
    said: Mapping[UUID, datetime],
    valid_at: datetime | None = None,
) -> dict[str, tuple[ValueAsOf, ...]]:
    """The profile's values that were known; for a key that has none, as a later value has
    replaced it, what the memories themselves say. With ``valid_at`` these come first, as far as
    their facts held then: a profile tells what is so at last."""
    found: dict[str, list[ValueAsOf]] = {}
    told = {
        (key, memory.pk)
        for memory in memories
        for fact in memory.as_stored().facts
        for key in (fact.key, told_key(fact, memory.said_at))
        if valid_at is not None and fact.person == contact_id
    }
    for key, values in profile.items():
        for value in values:
            sources = _standing(value["sources"], said)
            sources = tuple(pk for pk in sources if (key, pk) not in told)
            if sources or not value["sources"]:
                found.setdefault(key, []).append(_value(value["value"], sources, said))
    in_facts: dict[str, dict[str, list[UUID]]] = {}
    for memory in sorted(memories, key=lambda m: m.said_at, reverse=True):
        for fact in memory.as_stored().facts:
            if valid_at is None:
                key = "" if fact.outdated else told_key(fact, memory.said_at)
            else:
                key = fact.key if _held(fact, memory, valid_at) else ""
            if fact.person == contact_id and key and key not in found:
                by_value = in_facts.setdefault(key, {})
                by_value.setdefault(fact.value, []).append(memory.pk)
    for key, by_value in in_facts.items():
        stated = [_value(value, tuple(pks), said) for value, pks in by_value.items()]
        found[key] = stated[:1] if is_single(key) else stated
    return {key: tuple(values) for key, values in found.items()}


def _held(fact: StoredFact, memory: Memory, moment: datetime) -> bool:
    since = fact.valid_from or memory.began_at
    return since <= moment and not (fact.valid_to and fact.valid_to <= moment)


def _value(value: str, sources: tuple[UUID, ...], said: Mapping[UUID, datetime]) -> ValueAsOf:
    return ValueAsOf(value, sources, min((said[pk] for pk in sources), default=None))
