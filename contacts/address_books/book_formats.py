"""The formats of address books, told by what a file holds and not by its name."""

from collections.abc import Callable, Iterable

from accounts.reasons import Skipped
from contacts.address_books import google_csv, vcard_reader
from contacts.address_books.entries import Entry, NotAnAddressBook
from contacts.address_books.vcard_writer import write as write_vcard

VCARD, GOOGLE_CSV = "vcard", "google-csv"
# What a file of each is called and said to be.
FILES = {VCARD: ("contacts.vcf", "text/vcard"), GOOGLE_CSV: ("contacts.csv", "text/csv")}
_READERS = {VCARD: vcard_reader.read, GOOGLE_CSV: google_csv.read}
_WRITERS: dict[str, Callable[[Iterable[Entry]], str]] = {
    VCARD: write_vcard,
    GOOGLE_CSV: google_csv.write,
}
_HEAD = 64 * 1024


def format_of(head: str) -> str:
    """The format that a text begins like; "" for none."""
    if google_csv.is_header(head):
        return GOOGLE_CSV
    return VCARD if "BEGIN:VCARD" in head.upper() else ""


def read(raw: bytes, skipped: Skipped | None = None) -> tuple[str, list[Entry]]:
    """The format of a file and its people in its order; what can't be read is ``skipped``. Raises
    NotAnAddressBook."""
    utf16 = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    form = format_of(raw[:_HEAD].decode("utf-16" if utf16 else "utf-8", errors="replace"))
    if not form:
        raise NotAnAddressBook("book_unknown")
    return form, _READERS[form](raw, skipped)


def write(entries: Iterable[Entry], form: str) -> str:
    """The people as a file of a format."""
    return _WRITERS[form](entries)
