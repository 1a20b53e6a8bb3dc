"""The address book of an end user, as entries for files of other programs."""

from uuid import UUID

from accounts.models import EndUser
from contacts.address_books.entries import RELATIONS, Entry, Related
from contacts.models import Contact, Relation
from memories.models import Link


def entries_of(end_user: EndUser) -> list[Entry]:
    """All standing contacts, with the notes that an address book had brought and that still stand."""
    related, notes = _related(end_user), _notes(end_user)
    contacts = Contact.objects.of(end_user).standing().light().order_by("name_key", "namesake")
    return [
        Entry(
            number,
            contact.name,
            aliases=tuple(contact.aliases),
            attributes={
                key: tuple(one["value"] for one in values)
                for key, values in contact.attributes.items()
            },
            relationship=contact.relationship,
            gender=contact.gender,
            related=tuple(related.get(contact.pk, ())),
            notes=tuple(notes.get(contact.pk, ())),
            namesake=contact.namesake,
        )
        for number, contact in enumerate(contacts, 1)
    ]


def _related(end_user: EndUser) -> dict[UUID, list[Related]]:
    """The relations of each contact, with their kinds in English where a file has a word for them."""
    kinds = {word: kind for kind, word in reversed([*RELATIONS.items()])}
    related: dict[UUID, list[Related]] = {}
    rows = Relation.objects.of(end_user).select_related("subject").order_by("id")
    for row in rows.defer("subject__memory_ids"):
        person = Related(row.subject.name, kinds.get(row.kind, row.kind))
        related.setdefault(row.object_id, []).append(person)
    return related


def _notes(end_user: EndUser) -> dict[UUID, list[str]]:
    notes: dict[UUID, list[str]] = {}
    links = Link.objects.of(end_user).filter(
        rejected=False, memory__status="active", memory__metadata__has_key="vcard_note"
    )
    columns = links.order_by("pk").values_list("contact", "memory__metadata__vcard_note")
    for contact, note in columns:
        notes.setdefault(contact, []).append(note)
    return notes
