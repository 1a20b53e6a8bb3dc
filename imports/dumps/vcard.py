"""vCards (2.1, 3.0, 4.0), in and out.

Parameters and quoted-printable are read by ``vobject``; lines are unfolded and split here, since it
takes exponential time for some. What properties mean stands in ``vcard.toml`` and follows RFC 2426
(3.0), RFC 6350 (4.0) and Apple's X-AB properties. What a vCard has no property for (relationship,
other attributes, namesakes) travels as X-MIO-….
"""

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
_MEANS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
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

# What a card says, each value once: by the key of an attribute, or in capitals what else it is of.
Said = Mapping[str, Sequence[Any]]


def sniff(head: str) -> float:
    return 0.95 if "BEGIN:VCARD" in head.upper() else 0.0


def people(raw: bytes, skipped: Skipped) -> Iterator[Entry]:
    """The people of a .vcf file, in its order. Lines that can't be read are ``skipped``. Raises
    NotReadable."""
    # The lines stay, so that those after them keep their numbers.
    raw = _MEDIA.sub(lambda match: b"\n" * match[0].count(b"\n"), raw)
    person_fields.check_size(raw)
    cards = [_said(card) for card in _cards(_decoded(raw, skipped), skipped)]
    name_by_uid = {
        uid: name for said in cards for name in _names(said)[:1] for uid in said.get("UID", ())
    }
    for number, said in enumerate(cards, 1):
        yield _entry(number, said, name_by_uid)


def _decoded(raw: bytes, skipped: Skipped) -> str:
    named = {match.decode().lower() for match in _CHARSET.findall(raw)}
    unfolded = raw.replace(b"\r\n", b"\n").replace(b"\n ", b"").replace(b"\n\t", b"")
    for encoding in ("utf-8-sig", *named, encoding_of(raw)):
        # Some programs fold lines in the middle of a character (RFC 6350, 3.2).
        for octets in (raw, unfolded):
            with suppress(UnicodeDecodeError, LookupError):
                return octets.decode(encoding)
    return readable_lines(raw, skipped)


def _cards(text: str, skipped: Skipped) -> Iterator[list[ContentLine]]:
    """The cards of a file. One that begins before the last has ended ends that; a line that is no
    property goes on with the note before it."""
    card: list[ContentLine] | None = None
    count = 0
    for logical, number in _logical_lines(text):
        line = _line(logical)
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
        elif not _added(card, line, logical):
            where = Reason("book_in_entry", number=count)
            skipped.add(Reason("book_line", where=where, line=number))
    if card is not None:
        skipped.add(Reason("book_no_end", number=count))
        yield card


def _added(card: list[ContentLine], line: ContentLine | None, logical: str) -> bool:
    """Adds a line to a card; what is no property goes on with the note before it."""
    if card and card[-1].name == "NOTE" and not _is_property(line):
        card[-1].value += f"\\n{logical}"
    elif line is None:
        return False
    else:
        card.append(line)
    return True


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a file without their folds, each with its number. A quoted-printable one goes on
    after "=" (vCard 2.1)."""
    parts: list[str] = []
    begun, quoted, goes_on = 1, False, False
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip() and goes_on:
            parts += ["\n", line]
        elif line.strip() and line[0] in " \t":
            parts.append(line[1:])
        else:
            if parts:
                yield "".join(parts), begun
            parts, begun, quoted = [line] if line.strip() else [], number, False
        quoted = quoted or "quoted-printable" in line.lower()
        goes_on = quoted and line.endswith("=")
    if parts:
        yield "".join(parts), begun


def _line(logical: str) -> ContentLine | None:
    """The property in a line; None where there is none that can be read."""
    parts = _LINE.fullmatch(logical)
    if parts is None:
        return None
    name, params = parts["name"].replace("_", "-"), parseParams(parts["params"])
    try:
        return ContentLine(name, params, parts["value"], parts["group"])
    except (VObjectError, ValueError, LookupError):
        return None


def _is_property(line: ContentLine | None) -> bool:
    """Whether it is one that cards have, and no word with a colon in a note."""
    return line is not None and (
        bool(line.group) or line.name in _MEANS["known"] or line.name[:2] == "X-"
    )


def _entry(number: int, said: Said, name_by_uid: Mapping[str, str]) -> Entry:
    name, *aliases = ([] if _is_no_person(said) else _names(said)) or [""]
    first = {field: values[0] for field, values in said.items()}
    return Entry(
        number, name, tuple(aliases),
        {key: tuple(values) for key, values in said.items() if key.islower()},
        first.get("RELATIONSHIP", ""), GENDERS.get(first.get("GENDER", "")[:1].upper(), ""),
        tuple(
            Related(called, kind)
            for text, kind in said.get("RELATED", ())
            if (called := name_by_uid.get(text, "" if _is_address(text) else text))
        ),
        tuple(said.get("NOTE", ())), person_fields.namesake(first.get("NAMESAKE", "")),
    )  # fmt: skip


def _is_address(text: str) -> bool:
    scheme, colon, rest = text.partition(":")
    return bool(colon and rest) and " " not in text and scheme.replace("+", "").isalnum()


def _is_no_person(said: Said) -> bool:
    """Whether a card is a company's, a group's or a place's: it says so, or has no name but that of
    its organisation."""
    if {kind.lower() for kind in said.get("KIND", ())} - {"individual"} or "LIST" in said:
        return True
    organisations = set(said.get("ORG", ()))
    return "WHOLE" not in said and {name.casefold() for name in _names(said)} <= organisations


def _names(said: Said) -> list[str]:
    """The formatted name, then the other ways in which the card names the person. One with the
    family's name before a comma is told by its parts."""
    built = said.get("N", ())
    formatted = [name for name in said.get("FN", ()) if "," not in name or not built]
    return person_fields.once(filter(_is_name, (*formatted, *built, *said.get("NICKNAME", ()))))


def _is_name(name: str) -> bool:
    """Whether it is no number or address that stands where the name would."""
    is_address = "@" in name and not any(map(str.isspace, name))
    return any(map(str.isalpha, name)) and not is_address


def _said(card: Sequence[ContentLine]) -> dict[str, list[Any]]:
    labels = {line.group: _plain(line) for line in reversed(card) if line.name == "X-ABLABEL"}
    said: dict[str, list[Any]] = defaultdict(list)
    for line in card:
        for field, value in _values(line, labels.get(line.group or "", "")):
            if value and value not in said[field]:
                said[field].append(value)
    return {field: values for field, values in said.items() if values}


def _values(line: ContentLine, label: str) -> Iterator[tuple[str, Any]]:
    """What a property says, by its field; ``label`` is that of its group."""
    name, text = line.name, _plain(line)
    parts = [clean(part) for part in _parts(line.value, ";")]
    if name in ("N", "ORG", "ADR", "X-ANDROID-CUSTOM", "X-MIO-ATTRIBUTE"):
        yield from _structured(name, parts)
    elif name == "NOTE":
        yield "NOTE", storable(_parts(line.value)[0]).strip()
    elif name in ("RELATED", "X-ABRELATEDNAMES"):
        yield "RELATED", text and (text, _kind_of(line, label))
    elif name in _MEANS["relatives"]:
        yield "RELATED", text and (text, _MEANS["relatives"][name])
    elif name == "X-ABDATE" and label.lower() == _ANNIVERSARY:
        yield "anniversary", person_fields.birthday(text)
    elif name in _MEANS["of_lists"] or (name, text.lower()) in (
        ("X-MOZILLA-TYPE", "list"),
        ("X-ABSHOWAS", "company"),
    ):
        yield "LIST", name
    elif (field := _MEANS["fields"].get(name)) == "NICKNAME":
        yield from ((field, clean(part)) for part in _parts(line.value, ","))
    elif field in ("birthday", "anniversary"):
        yield field, person_fields.birthday(text, line.params.get("X-APPLE-OMIT-YEAR", ()))
    elif field:
        yield field, text.removeprefix("tel:").removeprefix("mailto:")


def _structured(name: str, parts: Sequence[str]) -> Iterator[tuple[str, Any]]:
    if name == "N":
        family, given, middle = (*parts, "", "")[:3]
        yield "N", person_fields.joined_name(family, given, middle)
        yield "WHOLE", family and given
    elif name == "ORG":
        yield "company", parts[0]
        yield "department", " ".join(filter(None, parts[1:]))
        yield from (("ORG", part.casefold()) for part in parts)
    elif name == "ADR":
        whole = (*parts, *[""] * 6)[:7]
        yield "address", person_fields.address(*whole)
        yield "location", whole[3]
    elif name == "X-ANDROID-CUSTOM":
        yield from _of_android(*(*parts, "", "", "")[:4])
    elif is_key(parts[0]):
        yield from ((parts[0], part) for part in parts[1:2])


def _of_android(kind: str, value: str, number: str, label: str) -> Iterator[tuple[str, Any]]:
    """What an X-ANDROID-CUSTOM line says; a ``number`` of 0 has a ``label`` of its own."""
    kind = kind.rpartition("/")[2]
    if kind == "nickname":
        yield "NICKNAME", value
    elif kind == "relation":
        own = label if number == "0" else number
        relation = _MEANS["android_relations"].get(number) or own or "contact"
        yield "RELATED", value and (value, relation)
    elif kind == "contact_event" and number in _MEANS["android_events"]:
        yield _MEANS["android_events"][number], person_fields.birthday(value)


def _kind_of(line: ContentLine, label: str) -> str:
    if label:
        builtin = label.startswith("_$!<") and label.endswith(">!$_")
        return label[4:-4].lower() if builtin else label
    types = [kind.lower() for kind in (*line.params.get("TYPE", ()), *line.singletonparams)]
    return next((kind for kind in types if kind in RELATIONS), types[0] if types else "contact")


def _plain(line: ContentLine) -> str:
    return clean(_parts(line.value)[0])


def _parts(value: str, separator: str = "") -> list[str]:
    """The parts of a value, without its escapes."""
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
    """The people as a .vcf file of version 3.0 or 4.0, which ``people`` gives back."""
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
        own = f"X-MIO-ATTRIBUTE:{key};{{}}"
        for value in attributes[key]:
            if key == "birthday":
                yield _birthday(value, version)
            else:
                yield _MEANS["written"].get(key, own).format(_escaped(value))


def _birthday(value: str, version: int) -> str:
    if person_fields.is_yearless(value):
        return f"BDAY:--{value.replace('-', '' if version == 4 else '-')}"
    kind = "" if value.replace("-", "").isdecimal() else ";VALUE=text"
    return f"BDAY{kind}:{_escaped(value)}"


def _escaped(text: str) -> str:
    return storable(text).replace("\r\n", "\n").replace("\r", "\n").translate(_ESCAPED)


def _folded(line: str) -> str:
    """A line of at most 75 octets a row, no character split (RFC 6350, 3.2)."""
    rows, row, size = [], "", 0
    for char in line:
        width = len(char.encode())
        if size + width > 75:
            rows.append(row)
            row, size = "", 1
        row += char
        size += width
    return "\r\n ".join([*rows, row]) + "\r\n"
