"""Reads vCards (2.1, 3.0, 4.0); ``vcard_writer`` is the way back.

Parameters and quoted-printable are read by ``vobject``; lines are unfolded and split here, since it
takes exponential time for some. What they mean stands in ``vcard_reader.toml`` and follows RFC 2426 (3.0), RFC 6350 (4.0) and Apple's X-AB properties. What a vCard has no
property for (relationship, other attributes, namesakes) travels as X-MIO-….
"""

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vobject.base import ContentLine, VObjectError, parseParams

from accounts.reasons import Reason, Skipped
from contacts.address_books import entries
from contacts.address_books.entries import (
    CONTROLS,
    GENDERS,
    MAX_BYTES,
    MAX_ENTRIES,
    RELATIONS,
    Entry,
    NotAnAddressBook,
    Related,
    clean,
)

_MEANS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ANNIVERSARY = "_$!<anniversary>!$_"
_ESCAPES = re.compile(r"\\(.)", re.DOTALL)
_LABEL = re.compile(r"^_\$!<(.*)>!\$_$")
_BEYOND = re.compile(rb"[\x80-\xff]+")
_LINES = re.compile(r"\r?\n|\r")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}:\S+$", re.IGNORECASE)  # urn:uuid:…, mailto:…
_CHARSET = re.compile(rb"CHARSET=\"?([A-Za-z0-9_-]+)", re.IGNORECASE)
# [GROUP.]NAME;PARAMETER=VALUE,"VALUE":VALUE (RFC 6350, 3.3). Possessive, so that no line is tried twice.
_LINE = re.compile(
    r"(?:(?P<group>[a-zA-Z0-9_-]++)\.)?+(?P<name>[a-zA-Z0-9_-]++)(?:;(?=[;:]))?+"
    r'(?P<params>(?:;[a-zA-Z0-9_-]++(?:[=,](?:"[^"]*+"|[^";:,]*+))*+)*+):(?P<value>.*)',
    re.DOTALL,
)
# Pictures, sounds and keys: nine tenths of a telephone's export, and nothing of it is kept.
_MEDIA = re.compile(
    rb"(?im)^(?:[a-z0-9-]+\.)?(?:PHOTO|LOGO|SOUND|KEY)[;:][^\r\n]*"
    rb"(?:\r?\n(?:[ \t][^\r\n]*|[a-z0-9+/=]++(?=\r?\n)))*+(?:\r?\n|\Z)"
)


def read(raw: bytes, skipped: Skipped | None = None) -> list[Entry]:
    """The people of a .vcf file, in its order. Lines that can't be read are ``skipped``. Raises
    NotAnAddressBook."""
    skipped = skipped or Skipped()
    # The lines stay, so that those after them keep their numbers.
    raw = _MEDIA.sub(lambda match: b"\n" * match[0].count(b"\n"), raw)
    if len(raw) > MAX_BYTES:
        raise NotAnAddressBook("book_too_large", limit=f"{MAX_BYTES // 1_000_000} MB")
    cards = list(itertools.islice(_cards(_decoded(raw, skipped), skipped), MAX_ENTRIES + 1))
    if len(cards) > MAX_ENTRIES:
        raise NotAnAddressBook("book_crowd", limit=MAX_ENTRIES)
    if not cards:
        raise NotAnAddressBook("book_no_vcard")
    by_uid: dict[str, str] = {}
    for card in cards:
        if name := _names(card)[:1]:
            by_uid |= {_plain(line): name[0] for line in card.lines if line.name == "UID"}
    return [_entry(card, by_uid) for card in cards]


@dataclass
class _Card:
    number: int
    lines: list[ContentLine]


def _decoded(raw: bytes, skipped: Skipped) -> str:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encodings = ["utf-16"]
    else:
        named = {match.decode().lower() for match in _CHARSET.findall(raw)}
        encodings = ["utf-8-sig", *named, *_unnamed_encoding(raw)]
    for encoding in encodings:
        # Some programs fold lines in the middle of a character (RFC 6350, 3.2).
        for octets in (raw, re.sub(rb"\r?\n[ \t]", b"", raw)):
            try:
                return octets.decode(encoding)
            except (UnicodeDecodeError, LookupError):
                continue
    lines = [octets.decode("utf-8", errors="replace") for octets in raw.split(b"\n")]
    for number, line in enumerate(lines, 1):
        if "\ufffd" in line:
            skipped.add(Reason("book_letters", line=number))
            lines[number - 1] = ""
    return "\n".join(lines)


def _unnamed_encoding(raw: bytes) -> list[str]:
    """That of Chinese or of Western Windows, where most lines beyond ASCII are no UTF-8: in the one
    these bytes come in pairs, in the other alone."""
    lines = [line for line in raw.split(b"\n") if not line.isascii()]
    wrong = sum("\ufffd" in line.decode("utf-8", errors="replace") for line in lines)
    if wrong < 2 or wrong * 2 <= len(lines):
        return []
    runs = _BEYOND.findall(raw)
    alone = sum(len(run) % 2 for run in runs)
    return ["cp1252" if alone * 2 > len(runs) else "gb18030"]


def _cards(text: str, skipped: Skipped) -> Iterator[_Card]:
    """The cards of a file. One that begins before the last has ended ends that, unless it is a
    card's AGENT; a line that is no property goes on with the note before it."""
    card: _Card | None = None
    count = depth = 0
    for logical, number in _logical_lines(text):
        where = (
            Reason("book_in_entry" if depth else "book_after_entry", number=count)
            if count
            else Reason("book_at_start")
        )
        line = _line(logical)
        mark = (line.name, line.value.strip().upper()) if line else ("", "")
        if mark == ("BEGIN", "VCARD"):
            is_agent = card is not None and card.lines and card.lines[-1].name == "AGENT"
            if card is not None and depth == 1 and not is_agent:
                skipped.add(Reason("book_no_end", number=count))
                yield card
                depth = 0
            depth += 1
            if depth == 1:
                count += 1
                card = _Card(count, [])
        elif card is None:
            skipped.add(Reason("book_outside", where=where, line=number))
        elif mark == ("END", "VCARD"):
            depth -= 1
            if depth == 0:
                yield card
                card = None
        elif depth == 1 and not _added(card, line, logical):
            skipped.add(Reason("book_line", where=where, line=number))
    if card is not None:
        skipped.add(Reason("book_no_end", number=count))
        yield card


def _added(card: _Card, line: ContentLine | None, logical: str) -> bool:
    """Adds a line to a card; what is no property goes on with the note before it."""
    last = card.lines[-1] if card.lines else None
    if last is not None and last.name == "NOTE" and not _is_property(line):
        last.value += f"\\n{logical}"
    elif line is None:
        return False
    else:
        card.lines.append(line)
    return True


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a file without their folds, each with its number. A quoted-printable one goes on
    after "=" (vCard 2.1)."""
    parts: list[str] = []
    begun, quoted, goes_on = 1, False, False
    for number, line in enumerate(_LINES.split(text), 1):
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


def _entry(card: _Card, by_uid: dict[str, str]) -> Entry:
    name, *aliases = ([] if _is_no_person(card) else _names(card)) or [""]
    related, notes = list[Related](), list[str]()
    values: dict[str, dict[str, None]] = {}
    labels = _labels(card)
    rest = {"relationship": "", "gender": "", "namesake": "0"}
    for line in card.lines:
        text = _plain(line)
        if line.name == "NOTE" and text:
            notes.append(_text(line.value).strip())
        elif line.name in ("GENDER", "X-GENDER"):
            rest["gender"] = GENDERS.get(line.value[:1].upper(), "")
        elif line.name == "X-MIO-RELATIONSHIP":
            rest["relationship"] = text
        elif line.name == "X-MIO-NAMESAKE" and text.isdecimal():
            rest["namesake"] = text
        related += _related(line, text, labels, by_uid)
        for key, value in (*_dates(line, labels), *_attributes(line)):
            if value:
                values.setdefault(key, {})[value] = None
    return Entry(
        card.number, name, tuple(aliases),
        {key: tuple(texts) for key, texts in values.items()},
        rest["relationship"], rest["gender"], tuple(related),
        tuple(dict.fromkeys(filter(None, notes))), min(int(rest["namesake"][:4]), 1000),
    )  # fmt: skip


def _related(
    line: ContentLine, text: str, labels: Mapping[str, str], by_uid: Mapping[str, str]
) -> Iterator[Related]:
    if line.name in ("RELATED", "X-ABRELATEDNAMES") and text:
        name = by_uid.get(text, "" if _ADDRESS.match(text) else text)
        if name:
            yield Related(name, _kind_of(line, labels))
    elif line.name in _MEANS["relatives"] and text:
        yield Related(text, _MEANS["relatives"][line.name])
    elif line.name == "X-ANDROID-CUSTOM":
        kind, value, number = _android(line)
        if kind == "relation" and value:
            yield Related(value, _MEANS["android_relations"].get(number) or number or "contact")


def _is_no_person(card: _Card) -> bool:
    """Whether a card is a company's, a group's or a place's: it says so, or has no name but that of
    its organisation."""
    properties = {(line.name, _plain(line).lower()) for line in card.lines}
    kinds = {value for name, value in properties if name in _MEANS["kinds"] and value}
    lists = ("X-MOZILLA-TYPE", "list") in properties or any(
        name in _MEANS["of_lists"] for name, _ in properties
    )
    if kinds - {"individual"} or lists or ("X-ABSHOWAS", "company") in properties:
        return True
    organisations = {
        clean(_text(part)).casefold()
        for line in card.lines
        if line.name == "ORG"
        for part in _split(line.value, ";")
    }
    parts = [_split(line.value, ";")[:2] for line in card.lines if line.name == "N"]
    whole = any(len(part) == 2 and all(one.strip() for one in part) for part in parts)
    return not whole and {name.casefold() for name in _names(card)} <= organisations


def _names(card: _Card) -> list[str]:
    """The formatted name, then the other ways in which the card names the person. One with the
    family's name before a comma is told by its parts."""
    built = [name for line in card.lines if line.name == "N" if (name := _joined_name(line))]
    formatted = [
        text
        for line in card.lines
        if line.name == "FN" and not ("," in (text := _plain(line)) and built)
    ]
    nick = [
        clean(_text(part))
        for line in card.lines
        if line.name in _MEANS["nicknames"]
        for part in _split(line.value, ",")
    ]
    android = [_android(line) for line in card.lines if line.name == "X-ANDROID-CUSTOM"]
    android_nick = [value for kind, value, _ in android if kind == "nickname"]
    named = [*formatted, *built, *nick, *android_nick]
    return entries.once([name for name in named if _is_name(name)])


def _is_name(name: str) -> bool:
    """Whether it is no number or address that stands where the name would."""
    is_address = "@" in name and not any(map(str.isspace, name))
    return any(map(str.isalpha, name)) and not is_address


def _android(line: ContentLine) -> tuple[str, str, str]:
    """The kind, the value and the type of an X-ANDROID-CUSTOM line."""
    parts = [clean(_text(part)) for part in _split(line.value, ";")] + [""] * 4
    kind, value, number, label = parts[:4]
    return kind.rpartition("/")[2], value, label if number == "0" else number


def _joined_name(line: ContentLine) -> str:
    parts = [clean(_text(part)) for part in _split(line.value, ";")]
    family, given, middle = (*parts, "", "", "")[:3]
    return entries.joined_name(family, given, middle)


def _dates(line: ContentLine, labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if line.name == "BDAY":
        yield "birthday", entries.birthday(_plain(line), line.params.get("X-APPLE-OMIT-YEAR", ()))
    elif line.name in _MEANS["anniversaries"] or (
        line.name == "X-ABDATE" and labels.get(line.group or "", "").lower() == _ANNIVERSARY
    ):
        yield "anniversary", entries.birthday(_plain(line))
    elif line.name == "X-ANDROID-CUSTOM":
        kind, value, number = _android(line)
        if kind == "contact_event" and number in _MEANS["android_events"]:
            yield _MEANS["android_events"][number], entries.birthday(value)


def _attributes(line: ContentLine) -> Iterator[tuple[str, str]]:
    if line.name in _MEANS["plain"]:
        yield _MEANS["plain"][line.name], _plain(line)
    elif line.name == "ORG":
        company, *units = [clean(_text(part)) for part in _split(line.value, ";")]
        yield "company", company
        yield "department", " ".join(filter(None, units))
    elif line.name == "TEL":
        yield "phone", _plain(line).removeprefix("tel:")
    elif line.name == "EMAIL":
        yield "email", _plain(line).removeprefix("mailto:")
    elif line.name == "ADR":
        yield from _address([clean(_text(part)) for part in _split(line.value, ";")])
    elif line.name == "X-MIO-ATTRIBUTE":
        key, *value = [clean(_text(part)) for part in _split(line.value, ";")]
        if entries.is_key(key) and value:
            yield key, value[0]


def _address(parts: list[str]) -> Iterator[tuple[str, str]]:
    box, extended, street, locality, region, code, country = (*parts, *[""] * 7)[:7]
    yield "address", entries.address(
        box=box, extended=extended, street=street, locality=locality, region=region, code=code,
        country=country,
    )  # fmt: skip
    yield "location", locality


def _labels(card: _Card) -> dict[str, str]:
    """The first label of each group of lines."""
    labels: dict[str, str] = {}
    for line in card.lines:
        if line.name == "X-ABLABEL" and line.group:
            labels.setdefault(line.group, _plain(line))
    return labels


def _kind_of(line: ContentLine, labels: Mapping[str, str]) -> str:
    if line.group in labels:
        builtin = _LABEL.match(labels[line.group])
        return builtin[1].lower() if builtin else labels[line.group]
    types = [kind.lower() for kind in (*line.params.get("TYPE", ()), *line.singletonparams)]
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


def _plain(line: ContentLine) -> str:
    return clean(_text(line.value))
