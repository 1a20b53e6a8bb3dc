"""Formats of files with people or memories, one module each: ``sniff(head)`` returns how likely a
text is of the format. For memories, ``read(source, me)`` returns all as a Dump; ``me`` is which of
its ``owners`` is the user, "" for none of them, None until somebody says so. For address books,
``people(raw, skipped)`` yields the people, and ``write(entries)`` is its inverse. They raise
NotReadable."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType

from accounts.reasons import Skipped
from imports.dumps import google_csv, mem0, memory_graph, vcard
from imports.dumps.person_fields import MAX_ENTRIES
from imports.formats import FORMATS, TITLES
from imports.source import HEAD, Source, decoded, parts
from imports.types import Dump, NotReadable

BOOKS: dict[str, ModuleType] = {form.NAME: form for form in (vcard, google_csv)}
DUMPS: tuple[ModuleType, ...] = (google_csv, vcard, mem0, memory_graph)
MAX_BOOK = 200_000_000  # with photos, which are not read
LEAST = 0.5  # likelihood of a text that is taken for a format


def read(path: Path, me: str | None, name: str = "") -> Dump | None:
    """Returns the people and memories of a file; None if it contains a chat. Raises NotReadable."""
    form, sources = recognised(parts(path, name=name))
    if form.NAME in BOOKS:
        return read_book(sources[0].whole(MAX_BOOK))
    if form not in DUMPS:
        return None
    dump: Dump = form.read(sources[0], me)
    return dump


def read_book(raw: bytes) -> Dump:
    """Returns the people of an address book. Raises NotReadable."""
    head, skipped = decoded(raw[:HEAD]), Skipped()
    form = next((one for one in DUMPS if one.NAME in BOOKS and one.sniff(head)), None)
    if form is None:
        raise NotReadable("book_unknown")
    people = tuple(islice(form.people(raw, skipped), MAX_ENTRIES + 1))
    if len(people) > MAX_ENTRIES:
        raise NotReadable("book_crowd", limit=MAX_ENTRIES)
    if not people:
        raise NotReadable("book_empty")
    return Dump(form.NAME, people, skipped=skipped)


def recognised(sources: Sequence[Source]) -> tuple[ModuleType, list[Source]]:
    """Returns the module of a file's format, and the parts in it. Raises NotReadable."""
    by_format: dict[ModuleType, list[Source]] = {}
    for source in sources:
        head = decoded(source.head())
        form = next((one for one in DUMPS if one.sniff(head) >= LEAST), None)
        form = form or max(FORMATS, key=lambda one: one.sniff(head))
        if form.sniff(head) >= LEAST:
            by_format.setdefault(form, []).append(source)
    if not by_format:
        raise NotReadable("chat_unknown", formats=", ".join(TITLES.values()))
    [form, *other_forms] = by_format
    if other_forms or (form in DUMPS and len(by_format[form]) > 1):
        names = [TITLES[one.NAME] for one in by_format if one in FORMATS] or TITLES.values()
        raise NotReadable("chat_several_kinds", formats=", ".join(names))
    return form, by_format[form]
