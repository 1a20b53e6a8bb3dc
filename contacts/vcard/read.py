"""vCards (2.1, 3.0, 4.0) and what they say of people: pure reading. ``vcard_writing`` is the
way back.

Lines are read by ``vobject``: unfolding, parameters, groups, quoted-printable. What they mean
follows RFC 2426 (3.0), RFC 6350 (4.0) and Apple's X-AB properties. What a vCard has no
property for (relationship, other attributes, namesakes) travels as X-MIO-….
"""

import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from vobject.base import (
    ContentLine,
    VObjectError,
    getLogicalLines,
    parseLine,
)

from contacts import names
from contacts.lexicon import mapping
from contacts.text import is_cjk

MAX_BYTES = 20_000_000
MAX_ENTRIES = 20_000
MAX_VALUE = 500

# What a RELATED type or an Apple label says, with the word for it in Chinese.
RELATIONS = mapping("vcard_relations", "zh")
_SIMPLE = {"TITLE": "job_title", "ANNIVERSARY": "anniversary", "HOBBY": "interests", "INTEREST": "interests"}  # fmt: skip
_GENDERS = {"F": "female", "M": "male"}
_ESCAPES = re.compile(r"\\(.)", re.DOTALL)
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LABEL = re.compile(r"^_\$!<(.*)>!\$_$")
DATE = re.compile(r"^(\d{4})-?(\d{2})-?(\d{2})(?:T.*)?$")
_YEARLESS = re.compile(r"^--(\d{2})-?(\d{2})$")
_CHARSET = re.compile(rb"CHARSET=\"?([A-Za-z0-9_-]+)", re.IGNORECASE)


class NotVCard(ValueError):
    """What was given can't be read; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Related:
    """Another person named on a card; ``kind`` is in English, or the card's own words."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One person of an address book. ``number`` is the place in the file, from 1; ``name`` is
    empty when the card has none (a company, a bare telephone number)."""

    number: int
    name: str
    aliases: tuple[str, ...] = ()
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    relationship: str = ""
    gender: str = ""
    related: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    namesake: int = 0


def read(raw: bytes) -> list[Entry]:
    """The people of a .vcf file, in its order. Raises NotVCard, with the number of the entry
    that can't be read."""
    if len(raw) > MAX_BYTES:
        raise NotVCard(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")
    cards = list(itertools.islice(_cards(_decoded(raw)), MAX_ENTRIES + 1))
    if len(cards) > MAX_ENTRIES:
        raise NotVCard(f"The file has more than {MAX_ENTRIES} entries.")
    if not cards:
        raise NotVCard("This is not a vCard file: it has no BEGIN:VCARD.")
    by_uid: dict[str, str] = {}
    for card in cards:
        if name := _names(card)[:1]:
            by_uid |= {_plain(line): name[0] for line in card.lines if line.name == "UID"}
    return [_entry(card, by_uid) for card in cards]


@dataclass
class _Card:
    number: int
    lines: list[ContentLine]


def _decoded(raw: bytes) -> str:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig", *{found.decode().lower() for found in _CHARSET.findall(raw)}]
    for encoding in encodings:
        # Some programs fold lines in the middle of a character (RFC 6350, 3.2).
        for octets in (raw, re.sub(rb"\r?\n[ \t]", b"", raw)):
            try:
                return octets.decode(encoding)
            except (UnicodeDecodeError, LookupError):
                continue
    raise NotVCard("The text is neither UTF-8 nor in a character set that the file names.")


def _cards(text: str) -> Iterator[_Card]:
    card: _Card | None = None
    count = depth = 0
    for logical, number in getLogicalLines(io.StringIO(text)):
        where = f"Entry {count}" if depth else f"After entry {count}" if count else "At the start"
        line = _line(logical, number, where)
        mark = (line.name, line.value.strip().upper())
        if mark == ("BEGIN", "VCARD"):
            depth += 1
            if depth == 1:
                count += 1
                card = _Card(count, [])
        elif card is None:
            raise NotVCard(f"{where}, line {number}, stands outside a vCard: {logical[:60]!r}.")
        elif mark == ("END", "VCARD"):
            depth -= 1
            if depth == 0:
                yield card
                card = None
        elif depth == 1:
            card.lines.append(line)
    if card is not None:
        raise NotVCard(f"Entry {count} has no END:VCARD.")


def _line(logical: str, number: int, where: str) -> ContentLine:
    try:
        return ContentLine(*parseLine(logical, number))
    except (VObjectError, UnicodeDecodeError, LookupError) as error:
        raise NotVCard(
            f"{where}, line {number}, can't be read: {CONTROLS.sub('', logical)[:60]!r}."
        ) from error


def _entry(card: _Card, by_uid: dict[str, str]) -> Entry:
    name, *aliases = _names(card) or [""]
    related, notes = [], []
    values: dict[str, list[str]] = {}
    rest = {"relationship": "", "gender": "", "namesake": "0"}
    for line in card.lines:
        text = _plain(line)
        if line.name == "NOTE" and text:
            notes.append(_text(line.value).strip())
        elif line.name in ("RELATED", "X-ABRELATEDNAMES") and text:
            related.append(Related(by_uid.get(text, text), _kind_of(card, line)))
        elif line.name == "GENDER":
            rest["gender"] = _GENDERS.get(line.value[:1].upper(), "")
        elif line.name == "X-MIO-RELATIONSHIP":
            rest["relationship"] = text
        elif line.name == "X-MIO-NAMESAKE" and text.isdecimal():
            rest["namesake"] = text
        else:
            for key, value in _attributes(line):
                if value and value not in values.setdefault(key, []):
                    values[key].append(value)
    return Entry(
        card.number, name, tuple(aliases),
        {key: tuple(held) for key, held in values.items() if held},
        rest["relationship"], rest["gender"], tuple(related),
        tuple(dict.fromkeys(filter(None, notes))), min(int(rest["namesake"][:4]), 1000),
    )  # fmt: skip


def _names(card: _Card) -> list[str]:
    """The formatted name, then the other ways in which the card names the person."""
    formatted = [_plain(line) for line in card.lines if line.name == "FN"]
    built = [name for line in card.lines if line.name == "N" for name in [_joined_name(line)]]
    nick = [
        _clean(_text(part))
        for line in card.lines
        if line.name == "NICKNAME"
        for part in _split(line.value, ",")
    ]
    found: dict[str, str] = {}
    for name in [*formatted, *built, *nick]:
        if key := names.name_key(name):
            found.setdefault(key, name)
    return list(found.values())


def _joined_name(line: ContentLine) -> str:
    parts = [_clean(_text(part)) for part in _split(line.value, ";")]
    family, given, middle = (*parts, "", "", "")[:3]
    if any(map(is_cjk, family + given)) and not (family + given).isascii():
        return family + middle + given
    return " ".join(filter(None, (given, middle, family)))


def _attributes(line: ContentLine) -> Iterator[tuple[str, str]]:
    if line.name in _SIMPLE:
        yield _SIMPLE[line.name], _plain(line)
    elif line.name == "BDAY":
        yield "birthday", _birthday(line)
    elif line.name == "ORG":
        company, *units = [_clean(_text(part)) for part in _split(line.value, ";")]
        yield "company", company
        yield "department", " ".join(filter(None, units))
    elif line.name == "TEL":
        yield "phone", _plain(line).removeprefix("tel:")
    elif line.name == "EMAIL":
        yield "email", _plain(line).removeprefix("mailto:")
    elif line.name == "ADR":
        yield from _address([_clean(_text(part)) for part in _split(line.value, ";")])
    elif line.name == "X-MIO-ATTRIBUTE":
        key, *value = [_clean(_text(part)) for part in _split(line.value, ";")]
        if re.fullmatch(r"[a-z][a-z0-9_]{0,39}", key) and value:
            yield key, value[0]


def _address(parts: list[str]) -> Iterator[tuple[str, str]]:
    box, extended, street, locality, region, code, country = (*parts, *[""] * 7)[:7]
    if any(map(is_cjk, "".join(parts))):
        yield "address", "".join((country, region, locality, street, extended, box))
    else:
        yield "address", ", ".join(filter(None, (box, street, extended, locality, region, code, country)))  # fmt: skip
    yield "location", locality


def _birthday(line: ContentLine) -> str:
    text = _plain(line)
    if found := _YEARLESS.match(text):
        return f"{found[1]}-{found[2]}"
    if found := DATE.match(text):
        # Apple writes an unknown year as 1604.
        yearless = found[1] == "1604" or found[1] in line.params.get("X-APPLE-OMIT-YEAR", ())
        return "-".join(found.groups()[1 if yearless else 0 :])
    return text


def _kind_of(card: _Card, line: ContentLine) -> str:
    types = [kind.lower() for kind in (*line.params.get("TYPE", ()), *line.singletonparams)]
    labels = [
        _plain(other)
        for other in card.lines
        if other.name == "X-ABLABEL" and line.group and other.group == line.group
    ]
    for label in labels:
        builtin = _LABEL.match(label)
        return builtin[1].lower() if builtin else label
    return next((kind for kind in types if kind in RELATIONS), types[0] if types else "contact")


def _split(value: str, separator: str) -> list[str]:
    """The parts of an escaped value, still escaped."""
    parts, part, escaped = [], "", False
    for char in value:
        if char == separator and not escaped:
            parts.append(part)
            part = ""
        else:
            part += char
        escaped = char == "\\" and not escaped
    return [*parts, part]


def _text(value: str) -> str:
    """A value without its escapes and without characters that can't be stored."""
    plain = _ESCAPES.sub(lambda m: "\n" if m[1] in "nN" else m[1], value)
    return CONTROLS.sub("", plain)


def _clean(text: str) -> str:
    return " ".join(text.split())[:MAX_VALUE]


def _plain(line: ContentLine) -> str:
    return _clean(_text(line.value))
