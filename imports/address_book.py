"""Reads the address book of an end user as entries, from which files are written."""

from collections import defaultdict
from uuid import UUID

from accounts.models import EndUser
from contacts.models import Contact, Relation
from imports.dumps.person_fields import RELATIONS
from imports.types import Entry, Related
from memories.models import Link


def entries_of(end_user: EndUser) -> list[Entry]:
    """Returns an entry for each contact that is not merged into another, with its relations and
    with the notes of imported address books that are still active memories."""
    related_by_contact: dict[UUID, list[Related]] = defaultdict(list)
    # Relations are written in English if a file has a word for them.
    english_by_kind = {word: kind for kind, word in reversed([*RELATIONS.items()])}
    relations = Relation.objects.of(end_user).order_by("id")
    for contact_id, name, kind in relations.values_list("object", "subject__name", "kind"):
        related_by_contact[contact_id].append(Related(name, english_by_kind.get(kind, kind)))
    notes_by_contact: dict[UUID, list[str]] = defaultdict(list)
    links = Link.objects.of(end_user).filter(
        rejected=False, memory__status="active", memory__metadata__has_key="vcard_note"
    )
    rows = links.order_by("pk").values_list("contact", "memory__metadata__vcard_note")
    for contact_id, note in rows:
        notes_by_contact[contact_id].append(note)
    contacts = Contact.objects.of(end_user).standing().light().order_by("name_key", "namesake")
    return [
        Entry(
            number,
            contact.name,
            tuple(contact.aliases),
            {key: tuple(v["value"] for v in values) for key, values in contact.attributes.items()},
            contact.relationship,
            contact.gender,
            tuple(related_by_contact[contact.pk]),
            tuple(notes_by_contact[contact.pk]),
            contact.namesake,
        )
        for number, contact in enumerate(contacts, 1)
    ]
