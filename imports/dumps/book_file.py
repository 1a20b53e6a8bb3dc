"""Address books, as vCard or CSV of Google Contacts: told by what a file holds and not by its name."""

from accounts.reasons import Skipped
from contacts.address_books import google_csv, vcard_reader
from contacts.address_books.entries import MAX_FILE, NotAnAddressBook
from imports.source import HEAD, Source
from imports.types import Dump, NotReadable

_PIECE = 1 << 20
_READERS = {"vcard": vcard_reader.read, "google-csv": google_csv.read}


def sniff(head: str) -> float:
    return 0.95 if _format_of(head) else 0.0


def _format_of(head: str) -> str:
    """The format that a text begins like; "" for none."""
    if google_csv.is_header(head):
        return "google-csv"
    return "vcard" if "BEGIN:VCARD" in head.upper() else ""


def read(source: Source, me: str | None) -> Dump:  # noqa: ARG001 nobody in it is the user
    raw = bytearray()
    with source.open() as stream:
        while piece := stream.read(_PIECE):
            raw += piece
            if len(raw) > MAX_FILE:
                raise NotReadable("chat_too_large", limit=f"{MAX_FILE // 1_000_000} MB")
    return of_bytes(bytes(raw))


def of_bytes(raw: bytes) -> Dump:
    """The people of an address book in its order. Raises NotReadable."""
    utf16 = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    form = _format_of(raw[:HEAD].decode("utf-16" if utf16 else "utf-8", errors="replace"))
    if not form:
        raise NotReadable("book_unknown")
    skipped = Skipped()
    try:
        return Dump(form, tuple(_READERS[form](raw, skipped)), skipped=skipped)
    except NotAnAddressBook as error:
        raise NotReadable(error.reason) from error
