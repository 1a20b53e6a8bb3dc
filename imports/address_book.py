"""The address book of an end user, as entries for files of other programs."""

from collections import defaultdict
from uuid import UUID

from accounts.models import EndUser
from contacts.models import Contact, Relation
from imports.dumps.person_fields import RELATIONS
from imports.types import Entry, Related
from memories.models import Link


def entries_of(end_user: EndUser) -> list[Entry]:
    """All standing contacts, with the notes that an address book had brought and that still stand."""
    related: dict[UUID, list[Related]] = defaultdict(list)
    # The kinds in English where a file has a word for them.
    kinds = {word: kind for kind, word in reversed([*RELATIONS.items()])}
    rows = Relation.objects.of(end_user).order_by("id")
    for person, name, kind in rows.values_list("object", "subject__name", "kind"):
        related[person].append(Related(name, kinds.get(kind, kind)))
    notes: dict[UUID, list[str]] = defaultdict(list)
    links = Link.objects.of(end_user).filter(
        rejected=False, memory__status="active", memory__metadata__has_key="vcard_note"
    )
    columns = links.order_by("pk").values_list("contact", "memory__metadata__vcard_note")
    for person, note in columns:
        notes[person].append(note)
    contacts = Contact.objects.of(end_user).standing().light().order_by("name_key", "namesake")
    return [
        Entry(
            number,
            contact.name,
            tuple(contact.aliases),
            {key: tuple(v["value"] for v in values) for key, values in contact.attributes.items()},
            contact.relationship,
            contact.gender,
            tuple(related[contact.pk]),
            tuple(notes[contact.pk]),
            contact.namesake,
        )
        for number, contact in enumerate(contacts, 1)
    ]
