"""The verbs of the contact book: what a person or an app says about a contact.

Each is one transaction with one Change row. What rests on a contact elsewhere (the memory of
its profile, memories that name it) follows in the background.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django_q.tasks import async_task

from accounts.changes import recording
from accounts.models import Change, EndUser
from contacts import names, store
from contacts.models import Contact, json_value


class UnknownContact(LookupError):
    """The end user has no such contact."""


class NameTaken(ValueError):
    """Another contact bears this name; ``holder`` is its id."""

    def __init__(self, holder: UUID) -> None:
        super().__init__("Another contact has this name. Send namesake: true for another person.")
        self.holder = holder


@transaction.atomic
def create_contact(
    end_user: EndUser,
    name: str,
    *,
    actor: str,
    why: str = "",
    namesake: bool = False,
    aliases: Iterable[str] = (),
    **values: Any,
) -> tuple[Contact, Change]:
    """A new contact. ``namesake`` allows another person of a name that is taken.

    ``values`` are as for ``edit_contact``. Raises NameTaken and InvalidContact.
    """
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        raise UnknownContact("This end user has been forgotten.")
    with recording(held, "create_contact", actor, why) as (recorder, change):
        contact, made = store.create(held, name, aliases=aliases, namesake=namesake)
        if not made:
            raise NameTaken(contact.id)
        change.subjects = [str(contact.id)]
        recorder.watch([contact], created=True)
        store.save(contact, [*_assign(contact, values), "aliases"])
        _follow(contact)
    return contact, change


@transaction.atomic
def edit_contact(
    end_user: EndUser,
    contact_id: UUID,
    values: Mapping[str, Any],
    *,
    actor: str,
    why: str = "",
    namesake: bool = False,
) -> tuple[Contact, Change]:
    """Changes name, aliases (all of them), relationship, gender, personality or attributes.

    ``attributes`` maps a key to its values; no values removes it, other keys stay. A renamed
    contact keeps its old name as an alias unless ``aliases`` are given. What is stated here
    has no source memory, so no correction of a memory takes it away. Raises UnknownContact,
    NameTaken and InvalidContact.
    """
    held = EndUser.objects.lock(end_user.pk)
    contact = store.survivor(held, contact_id) if held else None
    if held is None or contact is None:
        raise UnknownContact("There is no such contact.")
    contact.end_user = held
    with recording(held, "edit_contact", actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        fields = _rename(contact, values, namesake)
        fields += _assign(contact, {k: v for k, v in values.items() if k not in _NAMES})
        try:
            with transaction.atomic():
                store.save(contact, fields)
        except IntegrityError as error:
            raise NameTaken(_holder(contact)) from error
        _follow(contact)
    return contact, change


_NAMES = ("name", "aliases")


def _rename(contact: Contact, values: Mapping[str, Any], namesake: bool) -> list[str]:
    fields: list[str] = []
    aliases = list(values.get("aliases", contact.aliases))
    if "name" in values and values["name"] != contact.name:
        new = store.clean_name(values["name"])
        key = names.name_key(new)
        if key != contact.name_key:
            contact.namesake = _place(contact, key) if namesake else 0
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


def _place(contact: Contact, key: str) -> int:
    """The next free number among those of this name."""
    taken = Contact.objects.of(contact.end_user_id).standing().filter(name_key=key)
    return max(taken.values_list("namesake", flat=True), default=-1) + 1


def _holder(contact: Contact) -> UUID:
    same = Contact.objects.of(contact.end_user_id).standing().filter(name_key=contact.name_key)
    return same.exclude(pk=contact.pk).values_list("pk", flat=True)[0]


def _assign(contact: Contact, values: Mapping[str, Any]) -> list[str]:
    """Sets columns (unsaved); returns which."""
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


def _set_attribute(contact: Contact, key: str, given: Sequence[str]) -> None:
    held = {entry["value"]: entry for entry in contact.attributes.get(key, [])}
    contact.attributes.pop(key, None)
    if given:
        contact.attributes[key] = [held.get(value) or json_value(value) for value in given]


def _follow(contact: Contact) -> None:
    """Has the workers bring up to date what rests on the contact."""
    async_task(
        "memories.tasks.contact_changed",
        str(contact.id),
        task_name=f"contact_changed {contact.id}",
    )
