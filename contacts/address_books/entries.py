"""A person as an address book has them, whatever its format; and the parts that formats share."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from accounts.reasons import CodedError, Reason
from understanding import names
from understanding.lexicon import mapping
from understanding.text import is_cjk

MAX_FILE = 200_000_000  # with photos, which are not read
MAX_BYTES = 20_000_000
MAX_ENTRIES = 20_000
MAX_VALUE = 500
# Of a person, as many as the API takes: entries that all mean one person add no more.
MAX_ALIASES = 50

# What a relation is called in English, with the word for it in Chinese.
RELATIONS = mapping("vcard_relations", "zh")
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
DATE = re.compile(r"^(\d{4})-?(\d{2})-?(\d{2})(?:T.*)?$")
_WRITTEN = re.compile(r"^(\d{4})(?:-?(\d{2})-?(\d{2})|[-/.](\d{1,2})[-/.](\d{1,2}))(?:[T ].*)?$")
_DAY_FIRST = re.compile(r"^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$")
_YEARLESS = re.compile(r"^--(\d{1,2})-?(\d{1,2})(?:T.*)?$")
_NO_YEAR = ("1604", "0000", "0001")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
GENDERS = {"F": "female", "M": "male"}


class NotAnAddressBook(CodedError):
    """The file can't be read; the reason says where and why."""

    reason: Reason

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(Reason(code, **params))


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


def clean(text: str) -> str:
    """A value on one line, without characters that can't be stored."""
    return " ".join(CONTROLS.sub("", text).split())[:MAX_VALUE]


def is_key(key: str) -> bool:
    """Whether this can be the key of an attribute."""
    return _KEY.fullmatch(key) is not None


def once(candidates: Iterable[str]) -> list[str]:
    """The names, each once, without those that are none."""
    name_by_key: dict[str, str] = {}
    for name in candidates:
        if key := names.name_key(name):
            name_by_key.setdefault(key, name)
    return list(name_by_key.values())


def joined_name(family: str, given: str, middle: str = "") -> str:
    """The parts of a name in the order of its language."""
    if any(map(is_cjk, family + given)) and not (family + given).isascii():
        return family + middle + given
    return " ".join(filter(None, (given, middle, family)))


def family_and_given(name: str) -> tuple[str, str]:
    """The parts of a name, the family's first."""
    surname = names.surname_of(name)
    if surname:
        return surname, name[len(surname) :]
    if any(map(is_cjk, name)):
        return "", name
    given, _, family = name.rpartition(" ")
    return (family, given) if given else ("", name)


def birthday(text: str, omitted: Iterable[str] = ()) -> str:
    """A birthday as attributes have it: ``1992-08-03``, ``08-03`` without a year. Apple writes
    an unknown year as 1604, or as one that the file names (``omitted``), others as 0."""
    if match := _YEARLESS.match(text):
        return "-".join(part.zfill(2) for part in match.groups())
    if match := _DAY_FIRST.match(text):
        return "-".join(part.zfill(2) for part in match.groups()[::-1])
    if match := _WRITTEN.match(text):
        year, *parts = filter(None, match.groups())
        day = "-".join(part.zfill(2) for part in parts)
        return day if year in (*_NO_YEAR, *omitted) else f"{year}-{day}"
    return text


def address(
    *, box: str = "", extended: str = "", street: str = "", locality: str = "", region: str = "",
    code: str = "", country: str = "",
) -> str:  # fmt: skip
    """The parts of an address in the order of its language."""
    if any(map(is_cjk, box + extended + street + locality + region + country)):
        return "".join((country, region, locality, street, extended, box))
    parts = (box, street, extended, locality, region, code, country)
    return ", ".join(filter(None, parts))
