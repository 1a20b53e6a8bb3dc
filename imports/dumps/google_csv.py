"""The CSV that Google Contacts writes and reads: today's header (``First Name``, ``Phone 1 -
Label``) and the older one (``Given Name``, ``Phone 1 - Type``). Columns are found by name.

Values without a column are in custom fields ``mio:…``."""

import csv
import io
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from accounts.reasons import Reason, Skipped
from imports.dumps import person_fields
from imports.dumps.person_fields import birthday, clean
from imports.source import encoding_of, readable_lines, storable
from imports.types import Entry, Related
from understanding.attributes import is_key

NAME, FILE, MEDIA_TYPE = "google-csv", "contacts.csv", "text/csv"
BETWEEN = " ::: "  # several values in one cell
_OWN = "mio:"
_MOST_LINES = 500  # of a row; in a longer one a quotation mark was left open
_COLUMNS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ANNIVERSARY = {"anniversary", "周年纪念日", "纪念日"}
# In the order of the parts of a vCard.
_ADDRESS = (
    "PO Box", "Extended Address", "Street", "City", "Region", "Postal Code", "Country",
)  # fmt: skip
# Custom fields that are no attributes.
_OTHER = ("relationship", "gender", "namesake")

Row = Mapping[str, str]


def sniff(head: str) -> float:
    line = _first_line(head)
    try:
        cells = next(csv.reader([line], delimiter=_delimiter(line)), [])
    except csv.Error:
        return 0.0
    return 0.95 if {"First Name", "Last Name"} <= set(map(_current_name, cells)) else 0.0


def _first_line(text: str) -> str:
    return io.StringIO(text.lstrip("\ufeff"), newline=None).readline()


def _delimiter(line: str) -> str:
    """Returns the delimiter of a table: a spreadsheet that saves UTF-16 writes tabs."""
    return "\t" if line.count("\t") > line.count(",") else ","


def _current_name(cell: str) -> str:
    """Returns the name of a column in today's header."""
    name = cell.strip()
    kind, dash, part = name.rpartition(" - ")
    return _COLUMNS["older"].get(name) or (f"{kind}{dash}Label" if part == "Type" else name)


def people(raw: bytes, skipped: Skipped) -> Iterator[Entry]:
    """Yields the people of a table, in its order, without empty rows. Rows that can't be read are
    noted in ``skipped``. Raises NotReadable."""
    person_fields.check_size(raw)
    try:
        text = raw.decode(encoding_of(raw))
    except UnicodeDecodeError:
        text = readable_lines(raw, skipped)
    for number, row in _rows(text, skipped):
        if any(row.values()):
            yield _entry(number, row)


def _rows(text: str, skipped: Skipped) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields the rows with their numbers. After an unreadable row the next line begins a row."""
    first = _first_line(text)
    delimiter = _delimiter(first)
    lines = io.StringIO(text, newline="").readlines()
    header = [_current_name(cell) for cell in next(csv.reader([first], delimiter=delimiter))]
    at = number = 0
    while at < len(lines):
        table = csv.reader(islice(lines, at, at + _MOST_LINES), delimiter=delimiter, strict=True)
        try:
            cells = next(table, [])
            at += max(table.line_num, 1)
        except csv.Error:
            cells = None
            at += 1
        if cells is None:
            skipped.add(Reason("book_row", number=number))
        elif any(cell.strip() for cell in cells[len(header) :]):
            skipped.add(Reason("book_row_too_long", number=number))
        elif number:
            texts = [storable(cell).strip() for cell in cells]
            texts = [text.removeprefix("'") if _is_formula(text) else text for text in texts]
            yield number, dict(zip(header, texts, strict=False))
        number += 1


def _entry(number: int, row: Row) -> Entry:
    values_by_key, related, notes = _row_values(row)
    first, middle, last = (
        clean(row.get(f"{name} Name", "")) for name in ("First", "Middle", "Last")
    )
    full_names = [person_fields.joined_name(last, first, middle), clean(row.get("Name", ""))]
    names = person_fields.unique_names([*full_names, *_cell_values(row.get("Nickname", ""))])
    name, *aliases = names or person_fields.unique_names([clean(row.get("File As", ""))]) or [""]
    if (
        not (first or last)
        and name.casefold() == clean(row.get("Organization Name", "")).casefold()
    ):
        name = ""  # a company
    relationship, gender, namesake = (next(iter(values_by_key.pop(key, ())), "") for key in _OTHER)
    return Entry(
        number, name, tuple(aliases), {key: tuple(values) for key, values in values_by_key.items()},
        relationship, person_fields.GENDERS.get(gender[:1].upper(), ""), tuple(related),
        tuple(dict.fromkeys(notes)), person_fields.namesake(namesake),
    )  # fmt: skip


def _cell_values(cell: str) -> list[str]:
    return [value for part in cell.split(BETWEEN.strip()) if (value := clean(part))]


def _row_values(row: Row) -> tuple[dict[str, dict[str, None]], list[Related], list[str]]:
    """Returns the values of a row by attribute, its relations, and its notes, which include values
    under labels of the writer's own."""
    values_by_key: dict[str, list[str]] = defaultdict(list)
    notes = [note.strip() for note in row.get("Notes", "").split(BETWEEN.strip())]
    related = []
    values_by_key["birthday"] += map(birthday, _cell_values(row.get("Birthday", "")))
    for column, key in _COLUMNS["plain"].items():
        values_by_key[key] += _cell_values(row.get(column, ""))
    for kind, columns in _numbered(row):
        label = clean(columns.get("Label", "")).lstrip("* ")  # a star marks the preferred value
        values = _cell_values(columns.get("Value", ""))
        if kind in _COLUMNS["numbered"]:
            values_by_key[_COLUMNS["numbered"][kind]] += values
        elif kind == "Address":
            parts = [clean(columns.get(part, "")) for part in _ADDRESS]
            formatted = " ".join(_cell_values(columns.get("Formatted", "").replace("\n", " ")))
            values_by_key["address"].append(person_fields.address(*parts) or formatted)
            values_by_key["location"].append(parts[_ADDRESS.index("City")])
        elif kind == "Relation":
            related += [Related(name, label.lower() or "contact") for name in values]
        elif kind not in ("Event", "Custom Field"):
            continue
        elif label.casefold() in _ANNIVERSARY:
            values_by_key["anniversary"] += map(birthday, values)
        elif not label.startswith(_OWN):
            notes += [f"{label}: {value}" for value in values if label]
        elif is_key(key := label.removeprefix(_OWN)):
            values_by_key[key] += values
    sets = {key: dict.fromkeys(filter(None, values)) for key, values in values_by_key.items()}
    return {key: values for key, values in sets.items() if values}, related, [*filter(None, notes)]


def _numbered(row: Row) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the kind and the columns of each ``Phone 1``, ``Phone 2`` …, without the number."""
    groups: dict[tuple[str, int, str], dict[str, str]] = defaultdict(dict)
    for column, cell in row.items():
        head, _, part = column.partition(" - ")
        kind, _, number = head.rpartition(" ")
        if part and cell and number.isdecimal():
            groups[kind, len(number), number][part] = cell
    for (kind, *_), columns in sorted(groups.items()):
        yield kind, columns


def write(entries: Iterable[Entry]) -> str:
    """Returns the people as a table with today's header, which ``people`` can read back. No cell is
    a formula to a spreadsheet."""
    rows = [_columns(entry) for entry in entries]
    header = dict.fromkeys(_FIXED) | dict.fromkeys(column for row in rows for column in row)
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, list(header), restval="")
    table.writeheader()
    for row in rows:
        table.writerow({k: f"'{cell}" if _is_formula(cell) else cell for k, cell in row.items()})
    return text.getvalue()


_FIXED = (
    "First Name", "Middle Name", "Last Name", "Nickname", "Organization Name",
    "Organization Title", "Organization Department", "Birthday", "Notes", "Labels",
)  # fmt: skip


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet would run the cell; numbers, dates and telephone numbers are harmless."""
    return cell.lstrip("' \t\r\n")[:1] in tuple("=+-@") and bool(cell.strip("-+0123456789 ()."))


def _columns(entry: Entry) -> dict[str, str]:
    family, given = person_fields.family_and_given(entry.name)
    if person_fields.joined_name(family, given) != entry.name:
        family, given = "", entry.name
    attributes = dict(entry.attributes)
    days = [_google_date(day) for day in attributes.pop("birthday", ())]
    row = {
        "First Name": given,
        "Last Name": family,
        "Nickname": BETWEEN.join(entry.aliases),
        "Birthday": BETWEEN.join(days),
        "Organization Name": BETWEEN.join(attributes.pop("company", ())),
        "Organization Title": BETWEEN.join(attributes.pop("job_title", ())),
        "Organization Department": BETWEEN.join(attributes.pop("department", ())),
        "Notes": BETWEEN.join(entry.notes),
        "Labels": "* myContacts",
    }
    own_fields = {
        "relationship": (entry.relationship,),
        "gender": (entry.gender,),
        "namesake": (str(entry.namesake or ""),),
    }
    numbered = [
        *(("E-mail", "", "Value", value) for value in attributes.pop("email", ())),
        *(("Phone", "", "Value", value) for value in attributes.pop("phone", ())),
        *(("Address", "", "Formatted", value) for value in attributes.pop("address", ())),
        *(("Relation", one.kind, "Value", one.name) for one in entry.related),
        *(
            ("Event", "Anniversary", "Value", _google_date(day))
            for day in attributes.pop("anniversary", ())
        ),
        *(
            ("Custom Field", f"{_OWN}{key}", "Value", text)
            for key, values in sorted({**own_fields, **attributes}.items())
            if (text := BETWEEN.join(filter(None, values)))
        ),
    ]
    count_by_kind = Counter[str]()
    for kind, label, part, value in numbered:
        count_by_kind[kind] += 1
        row[f"{kind} {count_by_kind[kind]} - Label"] = label
        row[f"{kind} {count_by_kind[kind]} - {part}"] = value
    return row


def _google_date(day: str) -> str:
    return f"--{day}" if person_fields.is_yearless(day) else day
