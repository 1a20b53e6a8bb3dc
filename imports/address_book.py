"""The address book of an end user, as a file for other programs."""

from dataclasses import replace
from uuid import UUID

from accounts.models import EndUser
from contacts.address_books import book_formats
from contacts.address_books.entries import Entry
from contacts.address_books.export_entries import entries_of
from memories.models import Link


def entries_with_notes(end_user: EndUser) -> list[Entry]:
    """All standing contacts with the notes that an address book had brought and that still stand."""
    notes: dict[UUID, list[str]] = {}
    links = Link.objects.of(end_user).filter(
        rejected=False, memory__status="active", memory__metadata__has_key="vcard_note"
    )
    for contact, note in links.order_by("pk").values_list(
        "contact", "memory__metadata__vcard_note"
    ):
        notes.setdefault(contact, []).append(note)
    return [
        replace(entry, notes=tuple(notes.get(pk, ()))) for pk, entry in entries_of(end_user).items()
    ]


def written(end_user: EndUser, form: str) -> str:
    """The address book as a file of a format."""
    return book_formats.write(entries_with_notes(end_user), form)
