"""Queries about one person: what is known, its sources, and what was known before."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, F, JSONField, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.dateparse import parse_datetime

from accounts.cells import fetch
from accounts.models import Change, EndUser
from accounts.sql_files import sql_pieces
from contacts.models import Contact, ContactKey, Suggestion
from memories.models import Memory, Message
from understanding.attributes import ATTRIBUTES, label
from understanding.names import name_key
from understanding.text import normalise

_SQL = sql_pieces(__file__)

MOST_CHANGES = 200  # read for the history of values
MOST_SUBJECTS = 500  # memories of a person whose changes are listed with the person's
MOST_SOURCES = 50  # shown at once
NAMED = ("name", "alias")  # kinds of keys of whoever has that name
MOST_SORTED = 2000  # rows that are sorted without an index


@dataclass(frozen=True, slots=True)
class Value:
    """A value of an attribute, current or (``until``) former, with the memories that state it. One
    without ``sources`` was stated, or removed, by ``change``."""

    value: str
    since: datetime | None = None
    until: datetime | None = None
    sources: Sequence[UUID] = ()
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute; ``conflict``: only one value can be true. ``former`` values: latest first."""

    key: str
    label: str
    values: list[Value]
    former: list[Value]
    conflict: bool


def attributes_of(contact: Contact, language: str) -> list[Attribute]:
    """Returns the attributes of a person in the order of the card, then those that have ended."""
    stating_changes: dict[tuple[str, str], Change] = {}
    ended_values = list(_ended_values(contact))
    for change, before, after in _attribute_changes(contact):
        for added in _extra_values(after, before):
            stating_changes.setdefault(added, change)
        for key, value in _extra_values(before, after):
            ended_values.append((key, Value(value, until=change.created_at, change=change)))
    listed = {(key, normalise(value)) for key, value in _extra_values(contact.attributes, {})}
    former: dict[str, list[Value]] = {}
    for key, one in ended_values:
        if (pair := (key, normalise(one.value))) not in listed:
            listed.add(pair)
            former.setdefault(key, []).append(one)
    for values in former.values():
        values.sort(key=lambda one: one.until.timestamp() if one.until else 0, reverse=True)

    def value_of(key: str, entry: dict[str, Any]) -> Value:
        since = parse_datetime(entry["since"]) if entry.get("since") else None
        sources, value = [UUID(str(pk)) for pk in entry.get("sources", ())], str(entry["value"])
        statement = None if sources else stating_changes.get((key, value))
        return Value(value, since, sources=sources, change=statement)

    places = {key: place for place, key in enumerate(ATTRIBUTES)}
    attributes = contact.attributes
    keys = sorted(
        {*attributes, *former}, key=lambda key: (key not in attributes, places.get(key, 99), key)
    )
    return [
        Attribute(
            key,
            label(key, language),
            [value_of(key, entry) for entry in attributes.get(key, ())],
            former.get(key, []),
            conflict=key in contact.contradictions,
        )
        for key in keys
    ]


def _ended_values(contact: Contact) -> Iterable[tuple[str, Value]]:
    """Yields the keys and values of facts about a person that have ended. One statement."""
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
                yield fact["key"], Value(str(fact["value"]), until=until, sources=[memory.pk])


def _attribute_changes(contact: Contact) -> Iterable[tuple[Change, dict[str, Any], dict[str, Any]]]:
    """Yields changes of a person, latest first, with attributes before and after. One statement."""
    row = RawSQL(
        """jsonb_path_query_first(accounts_change.rows,
        '$[*] ? (@.model == "contacts.contact" && @.id == $id)',
        jsonb_build_object('id', %s::text))""",
        [str(contact.pk)],
        output_field=JSONField(),
    )
    changes: Any = Change.objects.of(contact.end_user_id).annotate(row=row).defer("rows")
    changes = changes.filter(subjects__contains=[str(contact.pk)], undone_at=None)
    for change in changes.order_by("-created_at")[:MOST_CHANGES]:
        sides = ((change.row or {}).get(side) or {} for side in ("before", "after"))
        before, after = (side.get("attributes") or {} for side in sides)
        yield change, before, after


def _extra_values(attributes: dict[str, Any], others: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Yields the keys and values of these attributes that the others do not have."""
    for key, entries in attributes.items():
        other_values = {str(entry["value"]) for entry in others.get(key, ())}
        yield from ((key, str(e["value"])) for e in entries if str(e["value"]) not in other_values)


def sources(end_user: EndUser, memory_ids: Collection[UUID]) -> list[tuple[Memory, list[Message]]]:
    """Returns memories with their source messages, the latest first. Two statements."""
    memories = list(
        Memory.objects.of(end_user)
        .filter(pk__in=list(memory_ids)[:MOST_SOURCES])
        .defer("tokens")
        .order_by("-said_at", "pk")
    )
    ids = {pk for memory in memories for pk in memory.source_message_ids}
    messages = Message.objects.of(end_user).in_bulk(ids)
    return [(m, [messages[pk] for pk in m.source_message_ids if pk in messages]) for m in memories]


def head_of(contact: Contact) -> dict[str, Any]:
    """Returns what all pages about a person show: end user, contact, and names to highlight."""
    names = [contact.name, *contact.aliases]
    return {"end_user": contact.end_user, "contact": contact, "names": names}


def memories_about(contact: Contact) -> QuerySet[Memory]:
    """Returns the current and outdated memories about a person, without archived or hidden ones."""
    return (
        Memory.objects.of(contact.end_user_id)
        .about(contact.pk)
        .facts()
        .exclude(status=Memory.Status.ARCHIVED)
        .annotate(link=F("links__id"))
        .defer("tokens", "metadata", "quote", "facts")
    )


def memory_order(contact: Contact) -> tuple[str, ...]:
    """Returns the order of memories: active, then latest; by latest link if they are too many."""
    links = contact.links.filter(rejected=False).order_by("-pk").values("pk")
    many = links[: MOST_SORTED + 1].count() > MOST_SORTED
    return ("-link",) if many else ("status", "-said_at", "id")


def changes_of(contact: Contact) -> QuerySet[Change]:
    """Returns the changes of a person, of all merged into them, or of their memories."""
    merged = Contact.objects.of(contact.end_user_id).all_merged_into([contact.pk])
    memories = contact.links.filter(rejected=False).order_by("-pk").values_list("memory", flat=True)
    ids = [str(pk) for pk in (contact.pk, *(one.pk for one in merged), *memories[:MOST_SUBJECTS])]
    changes = Change.objects.of(contact.end_user_id).defer("rows")
    hits = [pk for (pk,) in fetch(_SQL["changes"], [ids, contact.end_user_id, MOST_SORTED + 1])]
    if len(hits) <= MOST_SORTED:
        return changes.filter(pk__in=hits)
    # With so many, reading from the latest change on finds one soon. The function, unlike its
    # operator, does not use the index, which would find all of them first.
    about = "jsonb_exists_any(accounts_change.subjects, %s::text[])"
    return changes.filter(RawSQL(about, [ids], output_field=BooleanField()))  # noqa: S611 a constant


def shared_aliases(contact: Contact) -> dict[str, list[Contact]]:
    """Returns the aliases that others have as well, each with these people. One statement."""
    keys = {name_key(alias): alias for alias in contact.aliases}
    rows = ContactKey.objects.of(contact.end_user_id).filter(key__in=keys, how__in=NAMED)
    rows = rows.filter(contact__merged_into=None).exclude(contact=contact.pk)
    by_alias: dict[str, list[Contact]] = {}
    for row in rows.select_related("contact").only("key", "contact__name").order_by("pk"):
        others = by_alias.setdefault(keys[row.key], [])
        if row.contact not in others:
            others.append(row.contact)
    return by_alias


def alike(contact: Contact) -> list[tuple[Suggestion, Contact]]:
    """Returns open suggestions for a person, each with the other person, most probable first."""
    pairs = Suggestion.objects.of(contact.end_user_id).with_people().listed()
    waiting = pairs.filter(state__in=[Suggestion.State.OPEN, Suggestion.State.LATER])
    of_person = waiting.filter(Q(first=contact.pk) | Q(second=contact.pk)).order_by("-confidence")
    return [(one, one.second if one.first_id == contact.pk else one.first) for one in of_person]


def namesakes(contact: Contact) -> list[Contact]:
    """Returns the other people with exactly this name."""
    rows = Contact.objects.of(contact.end_user_id).standing().filter(name_key=contact.name_key)
    return list(rows.exclude(pk=contact.pk).light().order_by("namesake"))
