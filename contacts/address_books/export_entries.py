"""The contacts of an end user as entries of an address book."""

from uuid import UUID

from accounts.models import EndUser
from contacts.address_books.entries import RELATIONS, Entry, Related
from contacts.models import Contact, Relation


def entries_of(end_user: EndUser) -> dict[UUID, Entry]:
    """All standing contacts, by their ids, without their notes."""
    kinds = {word: kind for kind, word in reversed([*RELATIONS.items()])}
    related: dict[UUID, list[Related]] = {}
    stated = Relation.objects.of(end_user).select_related("subject").order_by("id")
    for relation in stated.defer("subject__memory_ids"):
        kind = kinds.get(relation.kind, relation.kind)
        related.setdefault(relation.object_id, []).append(Related(relation.subject.name, kind))
    contacts = Contact.objects.of(end_user).standing().light().order_by("name_key", "namesake")
    return {
        contact.pk: Entry(
            number, contact.name, tuple(contact.aliases),
            {key: tuple(one["value"] for one in values) for key, values in contact.attributes.items()},
            contact.relationship, contact.gender, tuple(related.get(contact.id, ())), (),
            contact.namesake,
        )
        for number, contact in enumerate(contacts, 1)
    }  # fmt: skip
