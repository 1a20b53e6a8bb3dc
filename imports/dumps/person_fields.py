"""Fields of a person in an address book of any format: names, days, addresses."""

from collections.abc import Iterable

from imports.source import storable
from imports.types import NotReadable
from understanding import names
from understanding.dates import important_dates
from understanding.lexicon import mapping
from understanding.text import is_cjk

MAX_BYTES = 20_000_000
MAX_ENTRIES = 20_000
MAX_VALUE = 500
# English words for relations, each with the Chinese word.
RELATIONS = mapping("vcard_relations", "zh")
GENDERS = {"F": "female", "M": "male"}
_NO_YEAR = ("1604", "0000", "0001")


def check_size(raw: bytes) -> None:
    """Raises NotReadable if an address book is too large."""
    if len(raw) > MAX_BYTES:
        raise NotReadable("book_too_large", limit=f"{MAX_BYTES // 1_000_000} MB")


def clean(text: str) -> str:
    """Returns a value on one line, without characters that can't be stored."""
    return " ".join(storable(text).split())[:MAX_VALUE]


def unique_names(candidates: Iterable[str]) -> list[str]:
    """Returns the names, each once, without texts that are no name."""
    name_by_key: dict[str, str] = {}
    for name in candidates:
        if key := names.name_key(name):
            name_by_key.setdefault(key, name)
    return list(name_by_key.values())


def joined_name(family: str, given: str, middle: str = "") -> str:
    """Joins the parts of a name in the order of its language."""
    if any(map(is_cjk, family + given)) and not (family + given).isascii():
        return family + middle + given
    return " ".join(filter(None, (given, middle, family)))


def family_and_given(name: str) -> tuple[str, str]:
    """Splits a name into the family name and the given name."""
    surname = names.surname_of(name)
    if surname:
        return surname, name[len(surname) :]
    if any(map(is_cjk, name)):
        return "", name
    given, _, family = name.rpartition(" ")
    return (family, given) if given else ("", name)


def namesake(number: str) -> int:
    """Returns a person's number among people of one name."""
    return min(int(number[:4]), 1000) if number.isdecimal() else 0


def birthday(text: str, omitted: Iterable[str] = ()) -> str:
    """Returns a birthday as attributes have it: ``1992-08-03``, ``08-03`` without a year; other
    texts as they are. Apple writes an unknown year as 1604, or as one that the file names
    (``omitted``), others as 0."""
    day = text.partition("T")[0].strip()
    parts = [part.strip() for part in day.split(".")]
    if len(parts) == 3 and len(parts[2]) == 4:
        day = "-".join(reversed(parts))
    if day.startswith((*_NO_YEAR, *omitted)):
        day = f"--{day[4:].strip('-/.')}"
    read = None if any(map(str.isalpha, day)) else important_dates.read(day)
    if read is None:
        return text
    return f"{read.year}-{read.key}" if read.year else read.key


def is_yearless(day: str) -> bool:
    """Whether a birthday has no year, as ``08-03``."""
    return len(day) == 5 and day[2] == "-" and (day[:2] + day[3:]).isdecimal()


def address(*parts: str) -> str:
    """Joins the parts of an address, which are in the order of vCards, in the order of its language."""
    box, extended, street, locality, region, code, country = parts
    if any(map(is_cjk, "".join(parts))):
        return "".join((country, region, locality, street, extended, box))
    return ", ".join(filter(None, (box, street, extended, locality, region, code, country)))
