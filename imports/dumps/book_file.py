"""Address books, as vCard or CSV of Google Contacts."""

from accounts.reasons import Skipped
from contacts.address_books import book_formats
from contacts.address_books.entries import MAX_FILE, NotAnAddressBook
from imports.source import Source
from imports.types import Dump, NotReadable

_PIECE = 1 << 20


def sniff(head: str) -> float:
    return 0.95 if book_formats.format_of(head) else 0.0


def read(source: Source, me: str | None) -> Dump:  # noqa: ARG001 nobody in it is the user
    raw = bytearray()
    with source.open() as stream:
        while piece := stream.read(_PIECE):
            raw += piece
            if len(raw) > MAX_FILE:
                raise NotReadable("chat_too_large", limit=f"{MAX_FILE // 1_000_000} MB")
    return of_bytes(bytes(raw))


def of_bytes(raw: bytes) -> Dump:
    """The people of an address book. Raises NotReadable."""
    skipped = Skipped()
    try:
        form, entries = book_formats.read(raw, skipped)
    except NotAnAddressBook as error:
        raise NotReadable(error.reason) from error
    return Dump(form, tuple(entries), skipped=skipped)
