"""A named entity, and the key by which it is recognised in another text."""

from dataclasses import dataclass
from enum import StrEnum

from understanding.names import name_key
from understanding.text import is_han

LONGEST = 80  # characters of a name or key: the columns they are stored in


class Kind(StrEnum):
    PLACE = "place"
    ORGANISATION = "organisation"
    WORK = "work"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Named:
    """A name at ``[start, end)`` of a text, and the ``key`` that all names of the entity share."""

    kind: Kind
    name: str
    start: int
    end: int

    @property
    def key(self) -> str:
        # 上海市 is 上海, the British Museum is British Museum.
        key = name_key(self.name)
        key = key.removeprefix("the ") or key
        if self.kind is Kind.PLACE and 3 <= len(key) <= 5 and all(map(is_han, key)):
            key = key.removesuffix("省").removesuffix("市")
        return key[:LONGEST]
