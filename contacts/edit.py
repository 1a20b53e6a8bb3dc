"""The verbs of the contact book: what a person or an app says about a contact and its relations.

Each is one transaction with one Change row. What rests on a contact elsewhere (the memory of
its profile, memories that name it) follows in the background.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.cells import atomic
from accounts.changes import recording
from accounts.fair_queue import put
from accounts.models import Change, EndUser
from accounts.reasons import CodedError, Reason
from contacts import merge, relations, store
from contacts.models import Contact, Relation, json_value
from understanding import names
from understanding.people import references
from understanding.statements import secrets


class Dated(NamedTuple):
    """A value of an attribute with since when it holds: an ISO time, or None."""

    value: str
    since: str | None


class UnknownContact(CodedError):
    """The end user has no such contact."""

    api_code = "unknown_contact"


class NameTaken(CodedError):
    """Other contacts bear these names; ``holders`` are their ids by the place of the name in a list,
    None where it is another of the list."""

    def __init__(self, holders: Mapping[int, UUID | None]) -> None:
        super().__init__(Reason("name_taken"))
        self.holders = holders

    @property
    def holder(self) -> UUID | None:
        return next(iter(self.holders.values()))


@atomic()
def create_contact(
    end_user: EndUser, name: str, *, actor: str, why: str = "", **values: Any
) -> tuple[Contact, Change]:
    """A new contact. ``namesake`` allows another person of a name that is taken; the other
    ``values`` are as for ``edit_contact``. Raises NameTaken and InvalidContact."""
    person = {"name": name, **values}
    _check(person)
    [contact], change = _create(end_user, [person], "create_contact", actor, why)
    _follow(contact)
    return contact, change


@atomic()
def create_contacts(
    end_user: EndUser, people: Sequence[Mapping[str, Any]], *, actor: str, why: str = ""
) -> tuple[list[Contact], Change]:
    """New contacts, all or none, as one change and with as many statements however many.

    Each of ``people`` holds a ``name`` and what else ``create_contact`` takes of a person.
    Raises NameTaken and InvalidContact."""
    _check({"contacts": people})
    contacts, change = _create(end_user, people, "create_contacts", actor, why)
    put(settings.MIO_CONTACTS_CREATED, str(change.id), end_user_id=end_user.pk)
    return contacts, change


def _create(
    end_user: EndUser, people: Sequence[Mapping[str, Any]], verb: str, actor: str, why: str
) -> tuple[list[Contact], Change]:
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        raise UnknownContact(Reason("user_forgotten"))
    with recording(held, verb, actor, why) as (recorder, change):
        contacts = [unsaved(held, values) for values in people]
        namesakes = {place for place, values in enumerate(people) if values.get("namesake")}
        if taken := store.create_all(held, contacts, namesakes):
            raise NameTaken(taken)
        change.subjects = [str(contact.id) for contact in contacts]
        recorder.watch(contacts, created=True)
    return contacts, change


def _check(values: Mapping[str, Any]) -> None:
    if reason := secrets.refusal(**values):
        raise store.InvalidContact(reason)


def unsaved(end_user: EndUser, values: Mapping[str, Any]) -> Contact:
    """A contact of the values that ``create_contacts`` takes, not stored. Raises InvalidContact."""
    name = store.clean_name(values["name"])
    key = names.name_key(name)
    contact = Contact(end_user=end_user, name=name, name_key=key, mention_count=0)
    store.add_aliases(contact, values.get("aliases", ()))
    told = {k: v for k, v in values.items() if k not in (*_NAMES, "namesake")}
    assign(contact, told)
    return contact


@atomic()
def edit_contact(
    end_user: EndUser,
    contact_id: UUID,
    values: Mapping[str, Any],
    *,
    actor: str,
    why: str = "",
    namesake: bool = False,
) -> tuple[Contact, Change]:
    """Changes name, aliases (all of them), relationship, gender, personality, attributes or the
    operators' note.

    ``attributes`` maps a key to its values, which keep since when they hold where they are not
    ``Dated``; no values removes it, other keys stay. A renamed
    contact keeps its old name as an alias unless ``aliases`` are given. What is stated here
    has no source memory, so no correction of a memory takes it away; values that are taken away or
    replaced end in the memories that state them. Raises UnknownContact, NameTaken and
    InvalidContact."""
    held, contact = _locked(end_user, contact_id)
    _check(values)
    with recording(held, "edit_contact", actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        before = _values(contact, values.get("attributes", ()))
        fields = _rename(contact, values, namesake)
        fields += assign(contact, {k: v for k, v in values.items() if k not in _NAMES})
        after = _values(contact, before)
        if dropped := {key: left for key in before if (left := before[key] - after[key])}:
            import_string(settings.MIO_VALUES_DROPPED)(contact, dropped, recorder)
        try:
            with atomic():
                store.save(contact, fields)
        except IntegrityError as error:
            raise NameTaken({0: _holder(contact)}) from error
        _follow(contact)
    return contact, change


@atomic()
def deny_reference(
    end_user: EndUser, contact_id: UUID, phrase: str, *, actor: str, why: str = ""
) -> Change | None:
    """Takes away one of the phrases by which the user may mean the contact: it finds them no more,
    and no machine brings it back. None when they have no such. Raises UnknownContact."""
    held, contact = _locked(end_user, contact_id)
    form = references.form(phrase)
    left = [entry for entry in contact.references if references.form(entry["text"]) != form]
    if len(left) == len(contact.references):
        return None
    with recording(held, "edit_contact", actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        contact.references = left
        contact.references_denied = sorted({*contact.references_denied, form})
        store.save(contact, ["references", "references_denied"])
    return change


@atomic()
def archive_contact(
    end_user: EndUser, contact_id: UUID, *, actor: str, why: str = "", archived: bool = True
) -> Change | None:
    """Puts a contact out of sight, or with ``archived`` False back; None when it is so already.

    Who is archived is still known by name, and what is said of them is still linked to them, but
    they are not listed, suggested or reviewed, and no prompt gets their card, what is linked to
    them, or a line about them on another's card. What memories say in words is found as before.
    Raises UnknownContact."""
    held, contact = _locked(end_user, contact_id)
    if bool(contact.archived_at) == archived:
        return None
    verb = "archive" if archived else "unarchive"
    with recording(held, verb, actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        contact.archived_at = timezone.now() if archived else None
        store.save(contact, ["archived_at"])
        store.render_around(held, [contact.id])
    return change


def _locked(end_user: EndUser, contact_id: UUID) -> tuple[EndUser, Contact]:
    """The end user, locked, and the contact. Raises UnknownContact."""
    locked = EndUser.objects.lock(end_user.pk)
    contact = store.survivor(locked, contact_id) if locked else None
    if locked is None or contact is None:
        raise UnknownContact(Reason("no_such_contact"))
    return locked, contact


_NAMES = ("name", "aliases")


def _rename(contact: Contact, values: Mapping[str, Any], namesake: bool) -> list[str]:
    fields: list[str] = []
    aliases = list(values.get("aliases", contact.aliases))
    if "name" in values and values["name"] != contact.name:
        new = store.clean_name(values["name"])
        key = names.name_key(new)
        if key != contact.name_key:
            contact.namesake = store.next_namesake(contact.end_user, key) if namesake else 0
            fields.append("namesake")
            if "aliases" not in values:
                aliases.append(contact.name)
        contact.name, contact.name_key = new, key
        fields.append("name")
    if fields or "aliases" in values:
        contact.aliases = []
        store.add_aliases(contact, aliases)
        fields.append("aliases")
    return fields


def _holder(contact: Contact) -> UUID:
    same = Contact.objects.of(contact.end_user_id).standing().filter(name_key=contact.name_key)
    return same.exclude(pk=contact.pk).values_list("pk", flat=True)[0]


def assign(contact: Contact, values: Mapping[str, Any]) -> list[str]:
    """Sets columns (unsaved) as ``edit_contact`` does; returns which."""
    fields = list(values)
    for field, value in values.items():
        if field == "attributes":
            for key, given in value.items():
                _set_attribute(contact, key, given)
        else:
            setattr(contact, field, value)
    if "personality" in values:
        contact.personality_sources = []
        fields.append("personality_sources")
    return fields


def _values(contact: Contact, keys: Iterable[str]) -> dict[str, set[str]]:
    return {key: {str(one["value"]) for one in contact.attributes.get(key, ())} for key in keys}


def _set_attribute(contact: Contact, key: str, given: Sequence[str | Dated]) -> None:
    held = {entry["value"]: entry for entry in contact.attributes.pop(key, ())}
    entries = []
    for one in given:
        value = one if isinstance(one, str) else one.value
        entry = held.get(value) or json_value(value)
        entries.append(entry if isinstance(one, str) else {**entry, "since": one.since})
    if entries:
        contact.attributes[key] = entries


def _follow(contact: Contact) -> None:
    put(settings.MIO_CONTACT_CHANGED, str(contact.id), end_user_id=contact.end_user_id)


class InvalidRelation(CodedError):
    """What was said of two people can't be kept; the message says why."""


@atomic()
def add_relation(
    end_user: EndUser, subject_id: UUID, kind: str, object_id: UUID, *, actor: str, why: str = ""
) -> Change | None:
    """Says that ``subject_id`` is the ``kind`` of ``object_id``. What a person says rests on
    no memory, so no correction of one takes it away. None when that was known. Raises
    InvalidRelation and contacts.merge.InvalidMerge."""
    held = merge.hold(end_user)
    subject, other = merge.standing(held, subject_id), merge.standing(held, object_id)
    if subject.pk == other.pk:
        raise InvalidRelation(Reason("relation_to_self"))
    known = {row.pk: row for row in Relation.objects.of(held).among([subject.pk])}
    kind = relations.cleaned(kind)
    if not kind:
        raise InvalidRelation(Reason("relation_without_kind"))
    if reason := secrets.refusal(kind=kind):
        raise InvalidRelation(reason)
    if any(
        (row.subject_id, row.kind, row.object_id, row.sources) == (subject.pk, kind, other.pk, [])
        for row in known.values()
    ):
        return None
    subjects = [subject.pk, other.pk]
    with recording(held, "add_relation", actor, why, subjects) as (recorder, change):
        recorder.watch(known.values())
        made = relations.state(held, subject, kind, other)
        if made is not None and made.pk not in known:
            recorder.watch([made], created=True)
        for contact in (subject, other):
            store.save(contact, [])
    return change


@atomic()
def remove_relation(end_user: EndUser, relation_id: int, *, actor: str, why: str = "") -> Change:
    """Says that a relation does not hold. Raises InvalidRelation."""
    held = merge.hold(end_user)
    row = Relation.objects.of(held).filter(pk=relation_id).first()
    if row is None:
        raise InvalidRelation(Reason("no_such_relation"))
    people = [row.subject_id, row.object_id]
    with recording(held, "remove_relation", actor, why, people) as (recorder, change):
        recorder.watch([row])
        row.delete()
        for pk in people:
            store.save(merge.standing(held, pk), [])
    return change
