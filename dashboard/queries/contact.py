"""One person: what is known, what says so, what it was before."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, F, JSONField, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.dateparse import parse_datetime

from accounts.models import Change, EndUser
from contacts import store
from contacts.attributes import ATTRIBUTES, is_single, label
from contacts.cards import with_coming
from contacts.models import Contact
from contacts.text import normalise
from memories.models import Memory, Message

MOST_CHANGES = 200  # read for the history of values
MOST_SUBJECTS = 500  # memories of a person whose changes are shown with the person's
MOST_SOURCES = 50  # shown at once
MOST_SORTED = 2000  # rows that are put in order by columns which no index of a person has


@dataclass(frozen=True, slots=True)
class Former:
    """A value that an attribute had. ``memory`` told it, or ``actor`` changed it."""

    value: str
    until: datetime | None
    why: str
    actor: str
    memory: UUID | None


@dataclass(frozen=True, slots=True)
class Value:
    """A value that an attribute has. No sources: a person stated it."""

    value: str
    since: datetime | None
    sources: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Attribute:
    """``conflict``: several values of what has one at a time."""

    key: str
    label: str
    values: tuple[Value, ...]
    former: tuple[Former, ...]
    conflict: bool


def attributes_of(contact: Contact, language: str) -> list[Attribute]:
    """What is known of a person in the order of the card, then what is no longer so."""
    former = _former(contact)
    keys = dict.fromkeys([*contact.attributes, *former])
    order = {key: place for place, key in enumerate(ATTRIBUTES)}
    return [
        Attribute(
            key=key,
            label=label(key, language),
            values=tuple(_value(entry) for entry in contact.attributes.get(key, ())),
            former=tuple(former.get(key, ())),
            conflict=is_single(key) and len(contact.attributes.get(key, ())) > 1,
        )
        for key in sorted(
            keys, key=lambda key: (key not in contact.attributes, order.get(key, 99), key)
        )
    ]


def _value(entry: dict[str, Any]) -> Value:
    since = parse_datetime(entry["since"]) if entry.get("since") else None
    return Value(str(entry["value"]), since, _uuids(entry.get("sources", ())))


def _uuids(values: Iterable[str]) -> tuple[UUID, ...]:
    return tuple(UUID(str(value)) for value in values)


def _former(contact: Contact) -> dict[str, list[Former]]:
    """Values that are no longer held, by key, the latest first: what outdated memories told,
    and what corrections took away. Two statements."""
    now = {
        (key, normalise(str(entry["value"])))
        for key, entries in contact.attributes.items()
        for entry in entries
    }
    found: dict[tuple[str, str], tuple[str, Former]] = {}
    for key, former in [*_told(contact), *_taken_away(contact)]:
        at = (key, normalise(former.value))
        if at not in now:
            found.setdefault(at, (key, former))
    by_key: dict[str, list[Former]] = {}
    for key, former in found.values():
        by_key.setdefault(key, []).append(former)
    for values in by_key.values():
        values.sort(key=lambda one: one.until.timestamp() if one.until else 0, reverse=True)
    return by_key


def _told(contact: Contact) -> Iterable[tuple[str, Former]]:
    person = str(contact.pk)
    rows = (
        Memory.objects.of(contact.end_user_id)
        .filter(facts__contains=[{"person": person}])
        .exclude(status=Memory.Status.ARCHIVED)
        .order_by("-said_at")
        .only("status", "facts", "content", "valid_to", "outdated_at")[:MOST_CHANGES]
    )
    for memory in rows:
        for fact in memory.facts:
            ended = memory.status == Memory.Status.OUTDATED or "outdated_at" in fact
            if fact["person"] == person and ended:
                until = parse_datetime(fact.get("valid_to") or "") or memory.valid_to
                until = until or memory.outdated_at
                yield fact["key"], Former(str(fact["value"]), until, "", "", memory.pk)


def _taken_away(contact: Contact) -> Iterable[tuple[str, Former]]:
    row = RawSQL(
        """jsonb_path_query_first(accounts_change.rows,
        '$[*] ? (@.model == "contacts.contact" && @.id == $id)',
        jsonb_build_object('id', %s::text))""",
        [str(contact.pk)],
        output_field=JSONField(),
    )
    changes = (
        Change.objects.of(contact.end_user_id)
        .filter(subjects__contains=[str(contact.pk)], undone_at=None)
        .annotate(row=row)
        .order_by("-created_at")
        .values_list("row", "actor", "why", "created_at")[:MOST_CHANGES]
    )
    for touched, actor, why, at in changes:
        before = (touched or {}).get("before") or {}
        after = (touched or {}).get("after") or {}
        for key, entries in (before.get("attributes") or {}).items():
            left = {str(e["value"]) for e in (after.get("attributes") or {}).get(key, ())}
            for entry in entries:
                if str(entry["value"]) not in left:
                    yield key, Former(str(entry["value"]), at, why, actor, None)


@dataclass(frozen=True, slots=True)
class Source:
    """A memory with the messages that it rests on."""

    memory: Memory
    messages: tuple[Message, ...]


def sources(end_user: EndUser, memory_ids: Collection[UUID]) -> list[Source]:
    """Memories with the words that they rest on, the latest first. Two statements."""
    memories = list(
        Memory.objects.of(end_user)
        .filter(pk__in=list(memory_ids)[:MOST_SOURCES])
        .defer("tokens")
        .order_by("-said_at", "pk")
    )
    ids = {pk for memory in memories for pk in memory.source_message_ids}
    messages = Message.objects.of(end_user).in_bulk(ids)
    return [
        Source(m, tuple(messages[pk] for pk in m.source_message_ids if pk in messages))
        for m in memories
    ]


def names_of(contact: Contact) -> list[str]:
    """What to highlight: every way that the person is called."""
    return [contact.name, *contact.aliases]


def memories_about(contact: Contact) -> QuerySet[Memory]:
    """What is and was known about a person; what the user asked to forget stays hidden."""
    return (
        Memory.objects.of(contact.end_user_id)
        .about(contact.pk)
        .facts()
        .exclude(status=Memory.Status.ARCHIVED)
        .annotate(link=F("links__id"))
        .defer("tokens", "metadata", "quote", "facts")
    )


def memory_order(contact: Contact) -> tuple[str, ...]:
    """Active ones first, then the latest. So many that sorting them takes time stand as they
    were learnt, the latest first."""
    links = contact.links.filter(rejected=False).order_by("-pk").values("pk")
    many = links[: MOST_SORTED + 1].count() > MOST_SORTED
    return ("-link",) if many else ("status", "-said_at", "id")


def chosen(contact: Contact, memory_ids: Collection[UUID]) -> list[Memory]:
    """Those of these memories that are about the person, the latest first."""
    rows = memories_about(contact).filter(pk__in=memory_ids)
    return list(rows.order_by("-said_at", "id"))


def changes_of(contact: Contact) -> QuerySet[Change]:
    """What changed a person, those merged into them, or a memory about them."""
    held = Contact.objects.of(contact.end_user_id)
    merged = held.filter(merged_into=contact.pk).values_list("pk", flat=True)
    latest = contact.links.filter(rejected=False).order_by("-pk").values_list("memory", flat=True)
    memory_ids = latest[:MOST_SUBJECTS]
    ids = [str(pk) for pk in (contact.pk, *merged, *memory_ids)]
    changes = Change.objects.of(contact.end_user_id).defer("rows")
    with connection.cursor() as cursor:
        cursor.execute(_ABOUT, [ids, contact.end_user_id, MOST_SORTED + 1])
        hits = [pk for (pk,) in cursor.fetchall()]
    if len(hits) <= MOST_SORTED:
        return changes.filter(pk__in=hits)
    # So many that one is met soon when all are read from the latest on. The function, unlike
    # its operator, makes no use of the index that finds them all.
    about = "jsonb_exists_any(accounts_change.subjects, %s::text[])"
    return changes.filter(RawSQL(about, [ids], output_field=BooleanField()))  # noqa: S611 a constant


# One look into the index for each id: all at once, the planner would read every change.
_ABOUT = """
SELECT DISTINCT id FROM (
    SELECT hit.id FROM unnest(%s::text[]) AS wanted CROSS JOIN LATERAL (
        SELECT id FROM accounts_change WHERE subjects ? wanted AND end_user_id = %s OFFSET 0) hit
    LIMIT %s) hits
"""


@dataclass(frozen=True, slots=True)
class Card:
    """The text, in which language, and whether it is the one that is injected."""

    text: str
    language: str
    injected: bool


def card_of(contact: Contact, language: str) -> Card:
    """The card as it stands in prompts, or rendered in another language."""
    own = contact.end_user.language or "en"
    if language not in ("en", "zh") or language == own:
        return Card(contact.card_today, own, True)
    card = store.card_text(contact, language)
    coming = with_coming(card, contact.coming, contact.end_user.today, language)
    return Card(coming, language, False)


def tombstone(contact: Contact, merged: str) -> Contact | None:
    """The person with this id who was merged into ``contact``."""
    try:
        pk = UUID(merged)
    except ValueError:
        return None
    rows = Contact.objects.of(contact.end_user_id).exclude(merged_into=None)
    return rows.light().filter(pk=pk).first()


def namesakes(contact: Contact) -> list[Contact]:
    """The other people of exactly this name."""
    rows = Contact.objects.of(contact.end_user_id).standing().filter(name_key=contact.name_key)
    return list(rows.exclude(pk=contact.pk).light().order_by("namesake"))
