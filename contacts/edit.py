"""Corrections of contacts and their relations by a person or an app.

Each is one transaction with one Change row. What depends on a contact elsewhere (the memory of its
profile, memories that name it) is updated in the background."""

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
from contacts.models import Contact, Relation
from understanding import names
from understanding.people import references
from understanding.statements import secrets


class Dated(NamedTuple):
    """A value of an attribute with the ISO time since when it is valid, or None."""

    value: str
    since: str | None


class UnknownContact(CodedError):
    """The end user has no such contact."""

    api_code = "unknown_contact"


class NameTaken(CodedError):
    """Other contacts have these names; ``holders`` are their ids by the place of the name in a
    list, None if it is another one of the list."""

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
    """Creates a contact, recorded as a change. ``namesake`` allows another person of a name that is
    taken; the other ``values`` are as for ``edit_contact``. Raises NameTaken and InvalidContact."""
    person = {"name": name, **values}
    _refuse_secrets(person)
    [contact], change = _create(end_user, [person], "create_contact", actor, why)
    _queue_follow_up(contact)
    return contact, change


@atomic()
def create_contacts(
    end_user: EndUser, people: Sequence[Mapping[str, Any]], *, actor: str, why: str = ""
) -> tuple[list[Contact], Change]:
    """Creates contacts, all or none, as one change, with a constant number of statements.

    Each of ``people`` has a ``name`` and what else ``create_contact`` takes of a person. Raises
    NameTaken and InvalidContact."""
    _refuse_secrets({"contacts": people})
    contacts, change = _create(end_user, people, "create_contacts", actor, why)
    put(settings.MIO_CONTACTS_CREATED, str(change.id), end_user_id=end_user.pk)
    return contacts, change


def _create(
    end_user: EndUser, people: Sequence[Mapping[str, Any]], verb: str, actor: str, why: str
) -> tuple[list[Contact], Change]:
    """Creates contacts under the end user's lock and records them as one change."""
    locked = EndUser.objects.lock(end_user.pk)
    if locked is None:
        raise UnknownContact(Reason("user_forgotten"))
    with recording(locked, verb, actor, why) as (recorder, change):
        contacts = [build_contact(locked, values) for values in people]
        namesakes = {place for place, values in enumerate(people) if values.get("namesake")}
        if taken := store.create_all(locked, contacts, namesakes):
            raise NameTaken(taken)
        change.subjects = [str(contact.id) for contact in contacts]
        recorder.watch(contacts, created=True)
    return contacts, change


def _refuse_secrets(values: Mapping[str, Any]) -> None:
    """Raises InvalidContact if any value contains a secret."""
    if reason := secrets.refusal(**values):
        raise store.InvalidContact(reason)


def build_contact(end_user: EndUser, values: Mapping[str, Any]) -> Contact:
    """Builds a contact, unsaved, of the values for ``create_contacts``. Raises InvalidContact."""
    name = store.clean_name(values["name"])
    key = names.name_key(name)
    contact = Contact(end_user=end_user, name=name, name_key=key, mention_count=0)
    store.add_aliases(contact, values.get("aliases", ()))
    profile = {k: v for k, v in values.items() if k not in (*_NAMES, "namesake")}
    assign(contact, profile)
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

    ``attributes`` maps a key to its values, which keep since when they are valid unless they are
    ``Dated``; no values removes the key, other keys stay. A renamed contact keeps its old name as
    an alias unless ``aliases`` are given. What is stated here has no source memory, so no
    correction of a memory takes it away; values that are removed or replaced end in the memories
    that state them. Raises UnknownContact, NameTaken and InvalidContact."""
    locked, contact = _locked(end_user, contact_id)
    _refuse_secrets(values)
    with recording(locked, "edit_contact", actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        before = _attribute_values(contact, values.get("attributes", ()))
        fields = _rename(contact, values, namesake)
        fields += assign(contact, {k: v for k, v in values.items() if k not in _NAMES})
        after = _attribute_values(contact, before)
        if dropped := {key: left for key in before if (left := before[key] - after[key])}:
            import_string(settings.MIO_VALUES_DROPPED)(contact, dropped, recorder)
        try:
            with atomic():
                store.save(contact, fields)
        except IntegrityError as error:
            raise NameTaken({0: _name_bearer(contact)}) from error
        _queue_follow_up(contact)
    return contact, change


@atomic()
def deny_reference(
    end_user: EndUser, contact_id: UUID, phrase: str, *, actor: str, why: str = ""
) -> Change | None:
    """Removes one of the phrases by which the user may refer to the contact: it finds them no more,
    and no machine brings it back. None if they have no such phrase. Raises UnknownContact."""
    locked, contact = _locked(end_user, contact_id)
    form = references.form(phrase)
    remaining = [entry for entry in contact.references if references.form(entry["text"]) != form]
    if len(remaining) == len(contact.references):
        return None
    with recording(locked, "edit_contact", actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        contact.references = remaining
        contact.references_denied = sorted({*contact.references_denied, form})
        store.save(contact, ["references", "references_denied"])
    return change


@atomic()
def archive_contact(
    end_user: EndUser, contact_id: UUID, *, actor: str, why: str = "", archived: bool = True
) -> Change | None:
    """Archives a contact, or restores it if ``archived`` is False; None if nothing changes.

    An archived contact is still recognised by name, and memories about it are still linked to it,
    but it is not listed, suggested or reviewed, and no prompt gets its card, memories linked to it,
    or a line about it on another card. Search finds memories as before. Raises UnknownContact."""
    locked, contact = _locked(end_user, contact_id)
    if bool(contact.archived_at) == archived:
        return None
    verb = "archive" if archived else "unarchive"
    with recording(locked, verb, actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        contact.archived_at = timezone.now() if archived else None
        store.save(contact, ["archived_at"])
        store.render_around(locked, [contact.id])
    return change


def _locked(end_user: EndUser, contact_id: UUID) -> tuple[EndUser, Contact]:
    """Returns the end user, locked, and the contact. Raises UnknownContact."""
    locked = EndUser.objects.lock(end_user.pk)
    contact = store.survivor(locked, contact_id) if locked else None
    if locked is None or contact is None:
        raise UnknownContact(Reason("no_such_contact"))
    return locked, contact


_NAMES = ("name", "aliases")


def _rename(contact: Contact, values: Mapping[str, Any], namesake: bool) -> list[str]:
    """Sets name and aliases of a contact (unsaved) and returns the changed columns."""
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


def _name_bearer(contact: Contact) -> UUID:
    """The id of the other contact that has this contact's name."""
    bearers = Contact.objects.of(contact.end_user_id).standing().filter(name_key=contact.name_key)
    return bearers.exclude(pk=contact.pk).values_list("pk", flat=True)[0]


def assign(contact: Contact, values: Mapping[str, Any]) -> list[str]:
    """Sets columns (unsaved) as ``edit_contact`` does and returns which."""
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


def _attribute_values(contact: Contact, keys: Iterable[str]) -> dict[str, set[str]]:
    return {key: {str(entry["value"]) for entry in contact.attributes.get(key, ())} for key in keys}


def _set_attribute(contact: Contact, key: str, values: Sequence[str | Dated]) -> None:
    """Sets the values of an attribute (unsaved); a value that it has already keeps its sources."""
    entries_by_value = {entry["value"]: entry for entry in contact.attributes.pop(key, ())}
    entries = []
    for item in values:
        value = item if isinstance(item, str) else item.value
        entry = entries_by_value.get(value) or {"value": value, "sources": [], "since": None}
        entries.append(entry if isinstance(item, str) else {**entry, "since": item.since})
    if entries:
        contact.attributes[key] = entries


def _queue_follow_up(contact: Contact) -> None:
    """Queues the task that updates what depends on a changed contact."""
    put(settings.MIO_CONTACT_CHANGED, str(contact.id), end_user_id=contact.end_user_id)


class InvalidRelation(CodedError):
    """A relation of two people can't be stored; the message says why."""


@atomic()
def add_relation(
    end_user: EndUser, subject_id: UUID, kind: str, object_id: UUID, *, actor: str, why: str = ""
) -> Change | None:
    """Records that ``subject_id`` is the ``kind`` of ``object_id``. What a person states has no
    source memory, so no correction of one takes it away. None if it was recorded so already. Raises
    InvalidRelation and contacts.merge.InvalidMerge."""
    locked = merge.lock_user(end_user)
    subject, other = merge.get_unmerged(locked, subject_id), merge.get_unmerged(locked, object_id)
    if subject.pk == other.pk:
        raise InvalidRelation(Reason("relation_to_self"))
    rows = list(Relation.objects.of(locked).among([subject.pk]))
    kind = relations.cleaned(kind)
    if not kind:
        raise InvalidRelation(Reason("relation_without_kind"))
    if reason := secrets.refusal(kind=kind):
        raise InvalidRelation(reason)
    stated = (subject.pk, kind, other.pk)
    if any(stated == (row.subject_id, row.kind, row.object_id) and not row.sources for row in rows):
        return None
    subjects = [subject.pk, other.pk]
    with recording(locked, "add_relation", actor, why, subjects) as (recorder, change):
        recorder.watch(rows)
        relation = relations.state(locked, subject, kind, other)
        if relation is not None:
            recorder.watch([relation], created=True)
        for contact in (subject, other):
            store.save(contact, [])
    return change


@atomic()
def remove_relation(end_user: EndUser, relation_id: int, *, actor: str, why: str = "") -> Change:
    """Deletes a relation that is not true. Raises InvalidRelation if there is none."""
    locked = merge.lock_user(end_user)
    row = Relation.objects.of(locked).filter(pk=relation_id).first()
    if row is None:
        raise InvalidRelation(Reason("no_such_relation"))
    contact_ids = [row.subject_id, row.object_id]
    with recording(locked, "remove_relation", actor, why, contact_ids) as (recorder, change):
        recorder.watch([row])
        row.delete()
        for pk in contact_ids:
            store.save(merge.get_unmerged(locked, pk), [])
    return change
