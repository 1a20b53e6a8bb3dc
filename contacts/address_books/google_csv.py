"""CSV as Google Contacts writes it: its header of today (``First Name``, ``Phone 1 - Label``) and the
older one (``Given Name``, ``Phone 1 - Type``). Columns are found by their names."""

import csv
import io
import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from accounts.reasons import Reason, Skipped
from contacts.address_books import entries
from contacts.address_books.entries import (
    CONTROLS,
    MAX_BYTES,
    MAX_ENTRIES,
    Entry,
    NotAnAddressBook,
    Related,
    clean,
)

BETWEEN = " ::: "  # several values in one cell
_MOST_LINES = 500  # of a row: in more a quotation mark was left open
_NUMBERED = re.compile(r"^(\D+) (\d+) - (.+)$")
_COLUMNS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_HEADERS = ({"First Name", "Last Name"}, {"Given Name", "Family Name"})
_ANNIVERSARY = {"anniversary", "周年纪念日", "纪念日"}
Row = Mapping[str, str]


def is_header(head: str) -> bool:
    """Whether a text begins like a table of Google Contacts."""
    line = _first_line(head.lstrip("\ufeff"))
    try:
        cells = {cell.strip() for cell in next(csv.reader([line], delimiter=_delimiter(line)), [])}
    except csv.Error:
        return False
    return any(header <= cells for header in _HEADERS)


def _first_line(text: str) -> str:
    return re.split(r"[\r\n]", text, maxsplit=1)[0]


def _delimiter(line: str) -> str:
    """The delimiter of a table: a spreadsheet that saves UTF-16 writes tabs."""
    return "\t" if line.count("\t") > line.count(",") else ","


def read(raw: bytes, skipped: Skipped | None = None) -> list[Entry]:
    """The people of a table, in its order; rows without any value are none, those that can't be
    read are ``skipped``. Raises NotAnAddressBook."""
    skipped = skipped or Skipped()
    if len(raw) > MAX_BYTES:
        raise NotAnAddressBook("book_too_large", limit=f"{MAX_BYTES // 1_000_000} MB")
    text = _decoded(raw, skipped)
    if not is_header(text):
        raise NotAnAddressBook("book_no_csv")
    people: list[Entry] = []
    for number, row in _rows(text, skipped):
        if len(people) == MAX_ENTRIES:
            raise NotAnAddressBook("book_crowd", limit=MAX_ENTRIES)
        if any(row.values()):
            people.append(_entry(number, row))
    if not people:
        raise NotAnAddressBook("book_empty")
    return people


def _decoded(raw: bytes, skipped: Skipped) -> str:
    utf16 = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    for encoding in ["utf-16"] if utf16 else ["utf-8-sig", "gb18030"]:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    text = raw.decode("utf-16" if utf16 else "utf-8-sig", errors="replace")
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        if "\ufffd" in line:
            skipped.add(Reason("book_letters", line=number))
    return "".join(line for line in lines if "\ufffd" not in line)


def _rows(text: str, skipped: Skipped) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows by their numbers. Behind one that can't be read the next line begins another."""
    first = _first_line(text)
    delimiter = _delimiter(first)
    lines = io.StringIO(text, newline="").readlines()
    header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
    at, number = 0, 0
    while at < len(lines):
        table = csv.reader(islice(lines, at, at + _MOST_LINES), delimiter=delimiter, strict=True)
        try:
            cells = next(table, [])
        except csv.Error:
            cells = None
        used = table.line_num if cells is not None else 1
        at += max(used, 1)
        number += 1
        if number == 1:
            continue
        if cells is None:
            skipped.add(Reason("book_row", number=number - 1))
        elif any(cell.strip() for cell in cells[len(header) :]):
            skipped.add(Reason("book_row_too_long", number=number - 1))
        else:
            texts = [CONTROLS.sub("", cell).strip() for cell in cells]
            yield number - 1, dict(zip(header, texts, strict=False))


def _entry(number: int, row: Row) -> Entry:
    first, middle, last = (_one(row, name) for name in ("First Name", "Middle Name", "Last Name"))
    called = [entries.joined_name(last, first, middle), _one(row, "Name")]
    name, *aliases = entries.once([*called, *_several(_cell(row, "Nickname"))]) or [""]
    if not name:
        name = next(iter(entries.once([_one(row, "File As")])), "")
    if not (first or last) and name.casefold() == _one(row, "Organization Name").casefold():
        name = ""  # a company
    gender = entries.GENDERS.get(_one(row, "Gender")[:1].upper(), "")
    return Entry(
        number,
        name,
        tuple(aliases),
        _attributes(row),
        gender=gender,
        related=tuple(_related(row)),
        notes=tuple(_notes(row)),
    )


def _cell(row: Row, name: str) -> str:
    return row.get(name, "") or row.get(_COLUMNS["older"].get(name, ""), "")


def _one(row: Row, name: str) -> str:
    return clean(_cell(row, name))


def _several(cell: str) -> list[str]:
    return [value for part in cell.split(BETWEEN.strip()) if (value := clean(part))]


def _numbered(row: Row, kind: str) -> Iterator[dict[str, str]]:
    """The columns of each ``Phone 1``, ``Phone 2`` …, by what stands behind the number; what it
    was called ``Type`` before is its ``Label``."""
    by_number: dict[int, dict[str, str]] = {}
    for name, cell in row.items():
        if (column := _NUMBERED.match(name)) and column[1] == kind and cell:
            part = "Label" if column[3] == "Type" else column[3]
            by_number.setdefault(int(column[2]), {})[part] = cell
    for number in sorted(by_number):
        yield by_number[number]


def _label(columns: Mapping[str, str]) -> str:
    """The label of a value, without the star of a preferred one."""
    return clean(columns.get("Label", "")).lstrip("* ")


def _attributes(row: Row) -> dict[str, tuple[str, ...]]:
    values: dict[str, list[str]] = {}
    for key, value in _stated(row):
        if value and value not in values.setdefault(key, []):
            values[key].append(value)
    return {key: tuple(texts) for key, texts in values.items() if texts}


def _stated(row: Row) -> Iterator[tuple[str, str]]:
    for value in _several(_cell(row, "Birthday")):
        yield "birthday", entries.birthday(value)
    for column, key in _COLUMNS["plain"].items():
        yield from ((key, value) for value in _several(_cell(row, column)))
    for kind, key in _COLUMNS["labelled"].items():
        for field in _numbered(row, kind):
            yield from ((key, value) for value in _several(field.get("Value", "")))
    for field in _numbered(row, "Address"):
        yield from _address(field)
    for field in _numbered(row, "Event"):
        if _label(field).casefold() in _ANNIVERSARY:
            dates = map(entries.birthday, _several(field.get("Value", "")))
            yield from (("anniversary", value) for value in dates)


def _address(field: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    parts = {name: clean(field.get(column, "")) for column, name in _COLUMNS["address"].items()}
    whole = " ".join(_several(field.get("Formatted", "").replace("\n", " ")))
    yield "address", entries.address(**parts) or whole
    yield "location", parts["locality"]


def _related(row: Row) -> Iterator[Related]:
    for field in _numbered(row, "Relation"):
        for name in _several(field.get("Value", "")):
            yield Related(name, _label(field).lower() or "contact")


def _notes(row: Row) -> Iterator[str]:
    """The notes, and what else somebody wrote down under a word of their own."""
    notes = [note.strip() for note in row.get("Notes", "").split(BETWEEN.strip())]
    for kind in ("Event", "Custom Field"):
        for field in _numbered(row, kind):
            label = _label(field)
            if label and label.casefold() not in _ANNIVERSARY:
                notes += [f"{label}: {value}" for value in _several(field.get("Value", ""))]
    yield from dict.fromkeys(filter(None, notes))
