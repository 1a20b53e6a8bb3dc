"""Reads and writes vCards (2.1, 3.0, 4.0).

Parameters and quoted-printable are read by ``vobject``; lines are unfolded and split here, since it
takes exponential time for some. The meaning of properties is in ``vcard.toml`` and follows RFC 2426
(3.0), RFC 6350 (4.0) and Apple's X-AB properties. What a vCard has no property for (relationship,
other attributes, namesakes) is written as X-MIO-…."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import regex
from vobject.base import ContentLine, VObjectError, parseParams

from accounts.reasons import Reason, Skipped
from imports.dumps import person_fields
from imports.dumps.person_fields import GENDERS, RELATIONS, clean
from imports.source import encoding_of, readable_lines, storable
from imports.types import Entry, Related
from understanding.attributes import is_key
from understanding.lexicon import rows

NAME, FILE, MEDIA_TYPE = "vcard", "contacts.vcf", "text/vcard"
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ANNIVERSARY = "_$!<anniversary>!$_"
_CHARSET = re.compile(rb"CHARSET=\"?([A-Za-z0-9_-]+)", re.IGNORECASE)
# [GROUP.]NAME;PARAMETER=VALUE,"VALUE":VALUE (RFC 6350, 3.3). Possessive, so that no line is tried twice;
# before 3.11.5 ``re`` misreads possessive groups (gh-106052).
_LINE = regex.compile(
    r"(?:(?P<group>[a-zA-Z0-9_-]++)\.)?+(?P<name>[a-zA-Z0-9_-]++)(?:;(?=[;:]))?+"
    r'(?P<params>(?:;[a-zA-Z0-9_-]++(?:[=,](?:"[^"]*+"|[^";:,]*+))*+)*+):(?P<value>.*)',
    regex.DOTALL,
)
# Pictures, sounds and keys: nine tenths of a telephone's export, and nothing of it is kept.
_MEDIA = regex.compile(
    rb"(?im)^(?:[a-z0-9-]+\.)?(?:PHOTO|LOGO|SOUND|KEY)[;:][^\r\n]*"
    rb"(?:\r?\n(?:[ \t][^\r\n]*|[a-z0-9+/=]++(?=\r?\n)))*+(?:\r?\n|\Z)"
)
# The types of RFC 6350 that a RELATED property may have.
_STANDARD = frozenset(row["kind"] for row in rows("vcard_relations") if row["standard"])
_ESCAPED = str.maketrans({char: f"\\{char}" for char in "\\,;"} | {"\n": "\\n"})

# The values of a card, each once, by the key of an attribute, or by a field in capitals.
CardValues = Mapping[str, Sequence[Any]]


def sniff(head: str) -> float:
    return 0.95 if "BEGIN:VCARD" in head.upper() else 0.0


def people(raw: bytes, skipped: Skipped) -> Iterator[Entry]:
    """Yields the people of a .vcf file, in its order. Lines that can't be read are noted in
    ``skipped``. Raises NotReadable."""
    # The lines stay, so that those after them keep their numbers.
    raw = _MEDIA.sub(lambda match: b"\n" * match[0].count(b"\n"), raw)
    person_fields.check_size(raw)
    cards = [_card_values(card) for card in _cards(_decoded(raw, skipped), skipped)]
    name_by_uid = {
        uid: name for card in cards for name in _names(card)[:1] for uid in card.get("UID", ())
    }
    for number, card in enumerate(cards, 1):
        yield _entry(number, card, name_by_uid)


def _decoded(raw: bytes, skipped: Skipped) -> str:
    """Decodes a file as UTF-8, else by a charset that it names, else by a guess."""
    charsets = {match.decode().lower() for match in _CHARSET.findall(raw)}
    unfolded = raw.replace(b"\r\n", b"\n").replace(b"\n ", b"").replace(b"\n\t", b"")
    for encoding in ("utf-8-sig", *charsets, encoding_of(raw)):
        # Some programs fold lines in the middle of a character (RFC 6350, 3.2).
        for data in (raw, unfolded):
            with suppress(UnicodeDecodeError, LookupError):
                return data.decode(encoding)
    return readable_lines(raw, skipped)


def _cards(text: str, skipped: Skipped) -> Iterator[list[ContentLine]]:
    """Yields the cards of a file. The beginning of a card ends one before it that has no end; a
    line that is no property continues the note before it."""
    card: list[ContentLine] | None = None
    count = 0
    for logical, number in _logical_lines(text):
        line = _parsed(logical)
        mark = (line.name, line.value.strip().upper()) if line else ("", "")
        if mark == ("BEGIN", "VCARD"):
            if card is not None:
                skipped.add(Reason("book_no_end", number=count))
                yield card
            count += 1
            card = []
        elif card is None:
            where = Reason("book_after_entry", number=count) if count else Reason("book_at_start")
            skipped.add(Reason("book_outside", where=where, line=number))
        elif mark == ("END", "VCARD"):
            yield card
            card = None
        elif not _add_line(card, line, logical):
            where = Reason("book_in_entry", number=count)
            skipped.add(Reason("book_line", where=where, line=number))
    if card is not None:
        skipped.add(Reason("book_no_end", number=count))
        yield card


def _add_line(card: list[ContentLine], line: ContentLine | None, logical: str) -> bool:
    """Adds a line to a card; a line that is no property continues the note before it."""
    if card and card[-1].name == "NOTE" and not _is_property(line):
        card[-1].value += f"\\n{logical}"
    elif line is None:
        return False
    else:
        card.append(line)
    return True


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yields the lines of a file without their folds, each with its number. A quoted-printable line
    continues after "=" (vCard 2.1)."""
    parts: list[str] = []
    first_number, quoted, goes_on = 1, False, False
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip() and goes_on:
            parts += ["\n", line]
        elif line.strip() and line[0] in " \t":
            parts.append(line[1:])
        else:
            if parts:
                yield "".join(parts), first_number
            parts, first_number, quoted = [line] if line.strip() else [], number, False
        quoted = quoted or "quoted-printable" in line.lower()
        goes_on = quoted and line.endswith("=")
    if parts:
        yield "".join(parts), first_number


def _parsed(logical: str) -> ContentLine | None:
    """Returns the property in a line; None if there is none that can be read."""
    parts = _LINE.fullmatch(logical)
    if parts is None:
        return None
    name, params = parts["name"].replace("_", "-"), parseParams(parts["params"])
    try:
        return ContentLine(name, params, parts["value"], parts["group"])
    except (VObjectError, ValueError, LookupError):
        return None


def _is_property(line: ContentLine | None) -> bool:
    """Whether cards have such a property; else it is a word with a colon in a note."""
    return line is not None and (
        bool(line.group) or line.name in _TABLES["known"] or line.name[:2] == "X-"
    )


def _entry(number: int, fields: CardValues, name_by_uid: Mapping[str, str]) -> Entry:
    name, *aliases = ([] if _is_no_person(fields) else _names(fields)) or [""]
    first = {field: values[0] for field, values in fields.items()}
    return Entry(
        number, name, tuple(aliases),
        {key: tuple(values) for key, values in fields.items() if key.islower()},
        first.get("RELATIONSHIP", ""), GENDERS.get(first.get("GENDER", "")[:1].upper(), ""),
        tuple(
            Related(related_name, kind)
            for text, kind in fields.get("RELATED", ())
            if (related_name := name_by_uid.get(text, "" if _is_uri(text) else text))
        ),
        tuple(fields.get("NOTE", ())), person_fields.namesake(first.get("NAMESAKE", "")),
    )  # fmt: skip


def _is_uri(text: str) -> bool:
    scheme, colon, path = text.partition(":")
    return bool(colon and path) and " " not in text and scheme.replace("+", "").isalnum()


def _is_no_person(values: CardValues) -> bool:
    """Whether a card is of a company, group or place: it says so, or names only its organisation."""
    if {kind.lower() for kind in values.get("KIND", ())} - {"individual"} or "LIST" in values:
        return True
    organisations = set(values.get("ORG", ()))
    return "WHOLE" not in values and {name.casefold() for name in _names(values)} <= organisations


def _names(values: CardValues) -> list[str]:
    """Returns the formatted name, then the other names of the person. A formatted name with a
    comma, which has the family name first, is left out if the card has the parts of the name."""
    built = values.get("N", ())
    formatted = [name for name in values.get("FN", ()) if "," not in name or not built]
    return person_fields.unique_names(
        filter(_is_name, (*formatted, *built, *values.get("NICKNAME", ())))
    )


def _is_name(name: str) -> bool:
    """Whether it is a name, and no number or address in its place."""
    is_address = "@" in name and not any(map(str.isspace, name))
    return any(map(str.isalpha, name)) and not is_address


def _card_values(card: Sequence[ContentLine]) -> dict[str, list[Any]]:
    labels = {line.group: _text_of(line) for line in reversed(card) if line.name == "X-ABLABEL"}
    values_by_field: dict[str, list[Any]] = defaultdict(list)
    for line in card:
        for field, value in _values(line, labels.get(line.group or "", "")):
            if value and value not in values_by_field[field]:
                values_by_field[field].append(value)
    return {field: values for field, values in values_by_field.items() if values}


def _values(line: ContentLine, label: str) -> Iterator[tuple[str, Any]]:
    """Yields the fields and values of a property; ``label`` is that of its group."""
    name, text = line.name, _text_of(line)
    parts = [clean(part) for part in _parts(line.value, ";")]
    if name in ("N", "ORG", "ADR", "X-ANDROID-CUSTOM", "X-MIO-ATTRIBUTE"):
        yield from _structured(name, parts)
    elif name == "NOTE":
        yield "NOTE", storable(_parts(line.value)[0]).strip()
    elif name in ("RELATED", "X-ABRELATEDNAMES"):
        yield "RELATED", text and (text, _relation_kind(line, label))
    elif name in _TABLES["relatives"]:
        yield "RELATED", text and (text, _TABLES["relatives"][name])
    elif name == "X-ABDATE" and label.lower() == _ANNIVERSARY:
        yield "anniversary", person_fields.birthday(text)
    elif name in _TABLES["of_lists"] or (name, text.lower()) in (
        ("X-MOZILLA-TYPE", "list"),
        ("X-ABSHOWAS", "company"),
    ):
        yield "LIST", name
    elif (field := _TABLES["fields"].get(name)) == "NICKNAME":
        yield from ((field, clean(part)) for part in _parts(line.value, ","))
    elif field in ("birthday", "anniversary"):
        yield field, person_fields.birthday(text, line.params.get("X-APPLE-OMIT-YEAR", ()))
    elif field:
        yield field, text.removeprefix("tel:").removeprefix("mailto:")


def _structured(name: str, parts: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yields the fields and values of a property that has several parts."""
    if name == "N":
        family, given, middle = (*parts, "", "")[:3]
        yield "N", person_fields.joined_name(family, given, middle)
        yield "WHOLE", family and given
    elif name == "ORG":
        yield "company", parts[0]
        yield "department", " ".join(filter(None, parts[1:]))
        yield from (("ORG", part.casefold()) for part in parts)
    elif name == "ADR":
        address = (*parts, *[""] * 6)[:7]
        yield "address", person_fields.address(*address)
        yield "location", address[3]
    elif name == "X-ANDROID-CUSTOM":
        yield from _android_values(*(*parts, "", "", "")[:4])
    elif is_key(parts[0]):
        yield from ((parts[0], part) for part in parts[1:2])


def _android_values(kind: str, value: str, number: str, label: str) -> Iterator[tuple[str, Any]]:
    """Yields the values of an X-ANDROID-CUSTOM line; a ``number`` of 0 has a ``label`` of its own."""
    kind = kind.rpartition("/")[2]
    if kind == "nickname":
        yield "NICKNAME", value
    elif kind == "relation":
        custom = label if number == "0" else number
        relation = _TABLES["android_relations"].get(number) or custom or "contact"
        yield "RELATED", value and (value, relation)
    elif kind == "contact_event" and number in _TABLES["android_events"]:
        yield _TABLES["android_events"][number], person_fields.birthday(value)


def _relation_kind(line: ContentLine, label: str) -> str:
    if label:
        builtin = label.startswith("_$!<") and label.endswith(">!$_")
        return label[4:-4].lower() if builtin else label
    types = [kind.lower() for kind in (*line.params.get("TYPE", ()), *line.singletonparams)]
    return next((kind for kind in types if kind in RELATIONS), types[0] if types else "contact")


def _text_of(line: ContentLine) -> str:
    return clean(_parts(line.value)[0])


def _parts(value: str, separator: str = "") -> list[str]:
    """Splits a value at the separator, and removes its escapes."""
    if "\\" not in value:
        return value.split(separator) if separator else [value]
    parts, escaped = [""], False
    for char in value:
        if char == separator and not escaped:
            parts.append("")
        elif char != "\\" or escaped:
            parts[-1] += "\n" if escaped and char in "nN" else char
        escaped = char == "\\" and not escaped
    return parts


def write(entries: Iterable[Entry], version: int = 4) -> str:
    """Returns the people as a .vcf file of version 3.0 or 4.0, which ``people`` can read back."""
    lines: list[str] = []
    for entry in entries:
        lines += ["BEGIN:VCARD", f"VERSION:{version}.0", *_properties(entry, version), "END:VCARD"]
    return "".join(map(_folded, lines))


def _properties(entry: Entry, version: int) -> Iterator[str]:
    yield f"FN:{_escaped(entry.name)}"
    yield "N:{};{};;;".format(*map(_escaped, person_fields.family_and_given(entry.name)))
    if entry.aliases:
        yield "NICKNAME:" + ",".join(map(_escaped, entry.aliases))
    yield from _attributes(entry.attributes, version)
    if entry.gender:
        yield f"GENDER:{entry.gender[0].upper()}"
    if entry.relationship:
        yield f"X-MIO-RELATIONSHIP:{_escaped(entry.relationship)}"
    if entry.namesake:
        yield f"X-MIO-NAMESAKE:{entry.namesake}"
    for place, related in enumerate(entry.related, 1):
        if version == 4 and related.kind in _STANDARD:
            yield f"RELATED;VALUE=text;TYPE={related.kind}:{_escaped(related.name)}"
        else:
            yield f"item{place}.X-ABRELATEDNAMES:{_escaped(related.name)}"
            yield f"item{place}.X-ABLABEL:{_escaped(related.kind)}"
    for note in entry.notes:
        yield f"NOTE:{_escaped(note)}"


def _attributes(attributes: Mapping[str, Sequence[str]], version: int) -> Iterator[str]:
    units: Sequence[str] = attributes.get("department", ())
    for company in attributes.get("company", ()) or [""] * bool(units):
        yield ";".join(("ORG:" + _escaped(company), *map(_escaped, units)))
        units = ()
    for key in sorted(attributes.keys() - {"company", "department"}):
        template = f"X-MIO-ATTRIBUTE:{key};{{}}"
        for value in attributes[key]:
            if key == "birthday":
                yield _birthday(value, version)
            else:
                yield _TABLES["written"].get(key, template).format(_escaped(value))


def _birthday(value: str, version: int) -> str:
    if person_fields.is_yearless(value):
        return f"BDAY:--{value.replace('-', '' if version == 4 else '-')}"
    kind = "" if value.replace("-", "").isdecimal() else ";VALUE=text"
    return f"BDAY{kind}:{_escaped(value)}"


def _escaped(text: str) -> str:
    return storable(text).replace("\r\n", "\n").replace("\r", "\n").translate(_ESCAPED)


def _folded(line: str) -> str:
    """Folds a line into rows of at most 75 octets; no character is split (RFC 6350, 3.2)."""
    rows, row, size = [], "", 0
    for char in line:
        width = len(char.encode())
        if size + width > 75:
            rows.append(row)
            row, size = "", 1
        row += char
        size += width
    return "\r\n ".join([*rows, row]) + "\r\n"
