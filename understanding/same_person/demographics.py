"""Age and gender of a person, as far as the records give them away."""

from dataclasses import dataclass
from functools import lru_cache

from understanding.lexicon import titles
from understanding.lexicon.rules import patterns
from understanding.names import name_key
from understanding.numerals import CARDINALS
from understanding.roles import roles_of, terms
from understanding.same_person.name_types import title_of
from understanding.same_person.records import Record
from understanding.same_person.text_overlap import plain
from understanding.text import is_han

# A round age covers its decade (六十多岁, in her sixties), an exact one the years that records
# of different age may differ by.
_DECADE, _SLACK = 10, 4
lex = patterns(__file__)
_TENS = {
    word: str(number)
    for word, number in zip(
        "twenties thirties forties fifties sixties seventies eighties nineties".split(),
        range(20, 100, 10),
        strict=True,
    )
}


@dataclass(frozen=True, slots=True)
class Age:
    """``low`` to ``high`` years; ``text`` states it."""

    low: float
    high: float
    text: str

    def apart(self, other: "Age") -> bool:
        """Whether no one can be of both ages."""
        return self.low > other.high + 1 or other.low > self.high + 1


def ages(record: Record) -> tuple[Age, ...]:
    """Every age that the record states."""
    texts = [*record.told, *record.attributes.get("age", ())]
    return tuple(age for text in texts for age in _ages(text))


def conflict(first: Record, second: Record) -> tuple[Age, Age] | None:
    """Two ages that one person can't have, when no ages of the two agree."""
    pairs = [(a, b) for a in ages(first) for b in ages(second)]
    # A record that agrees with one of the other's ages (a child grew up) doesn't conflict.
    if any(not a.apart(b) for a, b in pairs):
        return None
    return pairs[0] if pairs else None


@lru_cache(maxsize=16384)
def _ages(text: str) -> tuple[Age, ...]:
    """The ages that a text states of the person it is about."""
    stated = (span for fragment in _own_fragments(text) for span in _stated(fragment))
    return tuple(Age(low, high, text) for low, high in stated)


def _own_fragments(text: str) -> list[str]:
    """The fragments of a text that are not about a relative of the person."""
    fragments = (fragment.strip() for fragment in lex.fragment.split(plain(text)))
    return [fragment for fragment in fragments if not lex.relative.match(fragment)]


def _stated(fragment: str) -> list[tuple[float, float]]:
    for word, number in _TENS.items():
        fragment = fragment.replace(word, f"{number}s")
    if fragment in CARDINALS:
        fragment = str(CARDINALS[fragment])
    found: list[tuple[float, float]] = []
    for match in lex.years.finditer(fragment):
        given = match["n"] or match["old"] or match["bare"] or match["aged"]
        years = int(given or match["tens"])
        if years > 110 or "month" in fragment:
            continue
        if match["tens"] or match["more"]:
            found.append((years - 1, years + _DECADE))
        else:
            slack = _SLACK * min(1.0, years / 20)
            found.append((years - slack, years + slack))
    return found


def gender(record: Record) -> str:
    """female, male, or "" when the record says nothing or both."""
    if record.gender:
        return record.gender
    said = {g for text in record.told for g in _said(text)}
    if len(said) == 1:
        return said.pop()
    if said:
        return ""
    return _by_address(record)


@lru_cache(maxsize=16384)
def _said(text: str) -> tuple[str, ...]:
    """The genders that the words of a text state of the person it is about."""
    fragments = _own_fragments(text)
    patterns_of = (("female", lex.female), ("male", lex.male))
    return tuple(name for name, pattern in patterns_of if any(map(pattern.search, fragments)))


def _by_address(record: Record) -> str:
    found = {role.gender for text in (record.relationship,) for role in roles_of(text)}
    for name in record.names:
        key = name_key(name)
        _, title = title_of(key)
        table = titles("zh") if key and is_han(key[0]) else titles("en")
        if title in table:
            found.add(table[title].gender)
        if key in terms():
            found |= {role.gender for role in terms()[key]}
    found.discard("")
    return found.pop() if len(found) == 1 else ""
