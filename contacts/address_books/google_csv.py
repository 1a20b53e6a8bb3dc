"""CSV as Google Contacts writes and reads it: its header of today (``First Name``, ``Phone 1 -
Label``) and the older one (``Given Name``, ``Phone 1 - Type``). Columns are found by their names.

What the table has no column for travels as custom fields ``mio:…``.
"""

import csv
import io
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_OWN = "mio:"
_MOST_LINES = 500  # of a row: in more a quotation mark was left open
_NUMBERED = re.compile(r"^(\D+) (\d+) - (.+)$")
_COLUMNS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_HEADERS = ({"First Name", "Last Name"}, {"Given Name", "Family Name"})
_ANNIVERSARY = {"anniversary", "周年纪念日", "纪念日"}
# What of an entry is no attribute.
_OTHER_COLUMNS = {"relationship", "gender", "namesake"}
# A spreadsheet runs what begins so; a number, a date and a telephone are as harmless as they look.
_FORMULA = re.compile(r"^['\s]*[=+\-@\t\r]")
_NUMBER = re.compile(r"^[-+\d\s().]+$")
_QUOTED = re.compile(r"^'(?=['\s]*[=+\-@\t\r])")

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
            texts = [_QUOTED.sub("", CONTROLS.sub("", cell).strip()) for cell in cells]
            yield number - 1, dict(zip(header, texts, strict=False))


def _entry(number: int, row: Row) -> Entry:
    own = _own(row)
    first, middle, last = (_one(row, name) for name in ("First Name", "Middle Name", "Last Name"))
    called = [entries.joined_name(last, first, middle), _one(row, "Name")]
    name, *aliases = entries.once([*called, *_several(_cell(row, "Nickname"))]) or [""]
    if not name:
        name = next(iter(entries.once([_one(row, "File As")])), "")
    if not (first or last) and name.casefold() == _one(row, "Organization Name").casefold():
        name = ""  # a company
    namesake = next(iter(own.get("namesake", ())), "")
    gender = next(iter(own.get("gender", ())), "") or _one(row, "Gender")
    return Entry(
        number, name, tuple(aliases), _attributes(row, own),
        next(iter(own.get("relationship", ())), ""),
        entries.GENDERS.get(gender[:1].upper(), ""),
        tuple(_related(row)), tuple(_notes(row)),
        min(int(namesake[:4]), 1000) if namesake.isdecimal() else 0,
    )  # fmt: skip


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


def _own(row: Row) -> dict[str, list[str]]:
    own_values: dict[str, list[str]] = {}
    for field in _numbered(row, "Custom Field"):
        if (label := _label(field)).startswith(_OWN):
            own_values.setdefault(label.removeprefix(_OWN), []).extend(
                _several(field.get("Value", ""))
            )
    return own_values


def _attributes(row: Row, own: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    values: dict[str, list[str]] = {}
    for key, value in _stated(row, own):
        if value and value not in values.setdefault(key, []):
            values[key].append(value)
    return {key: tuple(texts) for key, texts in values.items() if texts}


def _stated(row: Row, own: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
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
    for key in own.keys() - _OTHER_COLUMNS:
        if entries.is_key(key):
            yield from ((key, value) for value in own[key])


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
            if label and not label.startswith(_OWN) and label.casefold() not in _ANNIVERSARY:
                notes += [f"{label}: {value}" for value in _several(field.get("Value", ""))]
    yield from dict.fromkeys(filter(None, notes))


def write(people: Iterable[Entry]) -> str:
    """The people as a table with the header of today, which ``read`` gives back. No cell is a
    formula to a spreadsheet."""
    rows = [_columns(entry) for entry in people]
    header = [*_FIXED, *sorted({name for row in rows for name in row} - {*_FIXED}, key=_order)]
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(header)
    table.writerows([_safe(row.get(name, "")) for name in header] for row in rows)
    return text.getvalue()


_FIXED = (
    "First Name", "Middle Name", "Last Name", "Nickname", "Organization Name",
    "Organization Title", "Organization Department", "Birthday", "Notes", "Labels",
)  # fmt: skip
_KINDS = ("E-mail", "Phone", "Address", "Relation", "Event", "Custom Field")


def _order(name: str) -> tuple[int, int, bool]:
    column = _NUMBERED.match(name)
    if column is None:
        return len(_KINDS), 0, True
    return _KINDS.index(column[1]), int(column[2]), column[3] != "Label"


def _safe(cell: str) -> str:
    """The cell as text: before what a spreadsheet would run stands the mark of a text."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.match(cell) else cell


def _columns(entry: Entry) -> dict[str, str]:
    family, given = entries.family_and_given(entry.name)
    if entries.joined_name(family, given) != entry.name:
        family, given = "", entry.name
    attributes = dict(entry.attributes)
    row = {
        "First Name": given,
        "Last Name": family,
        "Nickname": BETWEEN.join(entry.aliases),
        "Birthday": BETWEEN.join(map(_google_date, attributes.pop("birthday", ()))),
        "Organization Name": BETWEEN.join(attributes.pop("company", ())),
        "Organization Title": BETWEEN.join(attributes.pop("job_title", ())),
        "Organization Department": BETWEEN.join(attributes.pop("department", ())),
        "Notes": BETWEEN.join(entry.notes),
        "Labels": "* myContacts",
    }
    numbered: list[tuple[str, str, str, str]] = []
    for kind, key in _COLUMNS["labelled"].items():
        numbered += [(kind, "", "Value", value) for value in attributes.pop(key, ())]
    numbered += [("Address", "", "Formatted", value) for value in attributes.pop("address", ())]
    numbered += [("Relation", one.kind, "Value", one.name) for one in entry.related]
    for value in attributes.pop("anniversary", ()):
        numbered.append(("Event", "Anniversary", "Value", _google_date(value)))
    more = {
        "relationship": (entry.relationship,),
        "gender": (entry.gender,),
        "namesake": (str(entry.namesake or ""),),
        **attributes,
    }
    for key in sorted(more):
        if text := BETWEEN.join(filter(None, more[key])):
            numbered.append(("Custom Field", f"{_OWN}{key}", "Value", text))
    places: dict[str, int] = {}
    for kind, label, part, value in numbered:
        places[kind] = place = places.get(kind, 0) + 1
        row[f"{kind} {place} - Label"] = label
        row[f"{kind} {place} - {part}"] = value
    return row


def _google_date(value: str) -> str:
    return f"--{value}" if re.fullmatch(r"\d{2}-\d{2}", value) else value
