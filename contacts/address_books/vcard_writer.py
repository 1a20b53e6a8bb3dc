"""People as a .vcf file, version 3.0 or 4.0: the way back from what ``vcard_reader`` reads."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from contacts.address_books.entries import CONTROLS, DATE, Entry, family_and_given
from understanding.lexicon import rows

# The types of RFC 6350 that a RELATED property may have.
_STANDARD = frozenset(row["kind"] for row in rows("vcard_relations") if row["standard"])
# Properties that hold one attribute as it is.
_PLAIN = {"TITLE": "job_title", "TEL": "phone", "EMAIL": "email", "ANNIVERSARY": "anniversary"}
_OWN = {"birthday", "company", "department", "address", *_PLAIN.values()}


def write(entries: Iterable[Entry], version: int = 4) -> str:
    """The people as a .vcf file of version 3.0 or 4.0, which ``read`` gives back."""
    lines: list[str] = []
    for entry in entries:
        lines += ["BEGIN:VCARD", f"VERSION:{version}.0", *_properties(entry, version), "END:VCARD"]
    return "".join(_folded(line) for line in lines)


def _properties(entry: Entry, version: int) -> Iterator[str]:
    yield f"FN:{_escaped(entry.name)}"
    family, given = family_and_given(entry.name)
    yield f"N:{_escaped(family)};{_escaped(given)};;;"
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
    for value in attributes.get("birthday", ()):
        yield _birthday(value, version)
    units: Sequence[str] = attributes.get("department", ())
    for company in attributes.get("company", ()) or [""] * bool(units):
        yield ";".join((f"ORG:{_escaped(company)}", *map(_escaped, units)))
        units = ()
    for name, key in _PLAIN.items():
        for value in attributes.get(key, ()):
            yield f"{name}:{_escaped(value)}"
    for value in attributes.get("address", ()):
        yield f"ADR:;;{_escaped(value)};;;;"
    for key in sorted(attributes.keys() - _OWN):
        for value in attributes[key]:
            yield f"X-MIO-ATTRIBUTE:{_escaped(key)};{_escaped(value)}"


def _birthday(value: str, version: int) -> str:
    if DATE.match(value):
        return f"BDAY:{value}"
    if re.fullmatch(r"\d{2}-\d{2}", value):
        return f"BDAY:--{value.replace('-', '' if version == 4 else '-')}"
    return f"BDAY;VALUE=text:{_escaped(value)}"


def _escaped(text: str) -> str:
    plain = CONTROLS.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"([\\,;])", r"\\\1", plain).replace("\n", "\\n")


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
