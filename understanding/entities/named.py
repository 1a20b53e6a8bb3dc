"""One named thing, and the key by which the same thing is known in another text."""

from dataclasses import dataclass
from enum import StrEnum

import regex

from understanding.names import name_key

LONGEST = 80  # characters of a name or key: the columns they are stored in


class Kind(StrEnum):
    PLACE = "place"
    ORGANISATION = "organisation"
    WORK = "work"
    PERSON = "person"


# What is left out of a key: 上海市 is 上海, the British Museum is British Museum.
_CITY = regex.compile(r"(?<=^\p{Han}{2,4})[省市]$")
_ARTICLE = regex.compile(r"^the (?=.)")


@dataclass(frozen=True, slots=True)
class Named:
    """A name at ``[start, end)`` of a text. ``name`` is what it is called, ``key`` who it is."""

    kind: Kind
    name: str
    start: int
    end: int

    @property
    def key(self) -> str:
        key = _ARTICLE.sub("", name_key(self.name))
        if self.kind is Kind.PLACE:
            key = _CITY.sub("", key)
        return key[:LONGEST]
