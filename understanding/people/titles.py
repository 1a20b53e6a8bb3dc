"""People who are addressed by surname and title: 王总, 张阿姨, Dr. Lee."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from understanding.lexicon import Title, alternation, rows, titles, words
from understanding.people.annotation import Reading
from understanding.roles import roles_of
from understanding.types import Person


@dataclass(frozen=True, slots=True)
class ChineseTitle:
    """Surname and title at [start, end) of the normalised text."""

    start: int
    end: int
    surname: str
    title: str


@cache
def _title_pattern() -> re.Pattern[str]:
    forms = alternation(titles("zh"))
    compound, single = words("surnames", "compound"), words("surnames", "single")
    return re.compile(rf"({alternation(compound)}|[{''.join(sorted(single))}])({forms})(?!们)")


def chinese_titles(reading: Reading) -> list[ChineseTitle]:
    """The places where a surname stands before a title (王总, 张阿姨)."""
    return [
        ChineseTitle(match.start(), match.end(), match[1], match[2])
        for match in _title_pattern().finditer(reading.norm)
    ]


@lru_cache(maxsize=4096)
def _kinds(person: Person) -> frozenset[str]:
    """The role classes and professions that a person's relationship and aliases state."""
    stated = (person.relationship, person.name, *person.aliases)
    kinds = {role.kind for text in stated for role in roles_of(text)}
    kinds |= {
        row["kind"] for row in rows("professions") if person.relationship.endswith(row["word"])
    }
    return frozenset(kinds)


def bears(person: Person, title: Title, word: str) -> bool:
    """Whether ``person`` can be addressed with a title, by gender and by what they are."""
    if title.gender and person.gender not in ("", title.gender):
        return False
    if "*" in title.kinds or word in person.relationship:
        return True
    if "peer" in title.kinds:
        return not any(role.subtype == "family" for role in roles_of(person.relationship))
    return bool(title.kinds & _kinds(person))
