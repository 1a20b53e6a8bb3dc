"""What facts state about who is who: that one bears the other's name, or is somebody else."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from understanding.lexicon.rules import patterns
from understanding.names import name_key, surname_of
from understanding.same_person import name_types
from understanding.same_person.records import Record
from understanding.text import is_han, normalise

lex = patterns(__file__)
_LEAST_LATIN, _LEAST_HAN = 3, 2  # shorter words of a name occur in texts by chance


@dataclass(frozen=True, slots=True)
class Claim:
    """A text about one person that contains a name of the other."""

    name: str
    text: str


def stated_same(first: Record, second: Record) -> Claim | None:
    """Returns a fact that gives its person a name of the other (花名惊蛰, known as Spud), or None."""
    for own, other in ((first, second), (second, first)):
        for text, predicate in zip(own.facts, own.subjectless_facts, strict=True):
            norm = normalise(predicate)
            stated = _stated_names(norm)
            for name in _proper_names(other):
                if name in other.normal_names and stated.intersection(_occurrences(norm, name)):
                    return Claim(name, text)
                unnamed = any(name_types.kind_of(own_name) == "role" for own_name in own.names)
                if predicate not in own.facts and norm.startswith(name) and unnamed:
                    return Claim(name, text)  # right after the role: 我老板谢军, my boss Nora
    return None


def stated_keys(record: Record) -> Iterator[str]:
    """Yields possible keys of the names that the facts state the person bears: any number of the
    words or characters after a word for naming."""
    for predicate in record.subjectless_facts:
        norm = normalise(predicate)
        for start in _stated_names(norm):
            match = lex.name.match(norm, start)
            if match and is_han(match[0][0]):
                yield from (match[0][:size] for size in range(2, len(match[0]) + 1))
            elif match:
                words = name_key(match[0]).split(" ")
                yield from (" ".join(words[:size]) for size in range(1, len(words) + 1))


def stated_different(first: Record, second: Record) -> Claim | None:
    """Returns a fact which states that the two are two people (不是同一个人, not the same), or None."""
    for own, other in ((first, second), (second, first)):
        for text, norm in zip(own.facts, own.normal_facts, strict=True):
            if lex.apart.search(norm) and any(name in norm for name in other.normal_names):
                return Claim(other.name, text)
    return None


def named_as_other(first: Record, second: Record) -> Claim | None:
    """Returns a fact of either that names the other as somebody else, or None."""
    return next(chain(_naming(first, second), _naming(second, first)), None)


def named_together(first: Record, second: Record) -> Claim | None:
    """Returns a fact that both records have and that names both people, or None."""
    both = set(first.facts) & set(second.facts)
    sides = [
        {claim.text for claim in _naming(own, other)}
        for own, other in ((first, second), (second, first))
    ]
    named = sides[0] & sides[1] & both
    return next((Claim(second.name, text) for text in first.facts if text in named), None)


def owner_relationship(first: Record, second: Record) -> Claim | None:
    """Returns the relationship of one that names the other (冠宇的同事, Femi's father), or None."""
    for own, other in ((first, second), (second, first)):
        norm = normalise(own.relationship)
        for name in _proper_names(other):
            if any(len(norm) > len(name) for _ in _occurrences(norm, name)):
                return Claim(name, own.relationship)
    return None


def _naming(own: Record, other: Record) -> Iterator[Claim]:
    """Yields the facts of ``own`` that name ``other``, unless by a name that both bear or that the
    fact states to be the person's own."""
    for text, predicate in zip(own.facts, own.subjectless_facts, strict=True):
        masked = normalise(predicate)
        for name in own.normal_names:
            masked = masked.replace(name, "\0" * len(name))
        stated = _stated_names(masked)
        for name in _proper_names(other):
            is_whole = name in other.normal_names
            if is_whole and any(start not in stated for start in _occurrences(masked, name)):
                yield Claim(name, text)


@lru_cache(maxsize=16384)
def _stated_names(norm: str) -> frozenset[int]:
    """The offsets of the names that a normalised text about a person states to be theirs: after a
    word for naming with no other subject before it, or in brackets at the beginning."""
    starts = {1} if norm.startswith("(") else set()
    for naming in lex.naming.finditer(norm):
        words_before = lex.fragment.split(norm[: naming.start()])[-1]
        if lex.self_before.fullmatch(words_before):
            starts.add(naming.end())
    return frozenset(starts)


def _proper_names(record: Record) -> list[str]:
    """The names of a record, normalised, and their parts that can name a person alone; no roles."""
    names = (name for name in record.names if name_types.kind_of(name) != "role")
    return list(dict.fromkeys(part for name in names for part in _name_parts(name)))


@lru_cache(maxsize=16384)
def _name_parts(name: str) -> tuple[str, ...]:
    """The normalised name, and its given name (Chinese) or words (Latin) that are long enough."""
    norm, key = normalise(name), name_key(name)
    if not key:
        return ()
    if is_han(key[0]):
        forms = [norm, key[len(surname_of(key)) :]]
        return tuple(p for p in forms if len(p) >= _LEAST_HAN and not name_types.is_word(p))
    words = name_types.names_in(key)
    return tuple(dict.fromkeys(w for w in (norm, *words) if len(w) >= _LEAST_LATIN))


def _occurrences(norm: str, name: str) -> Iterator[int]:
    """Yields the offsets of a name in a normalised text; a Latin name is found as whole words."""
    pattern = r"(?<!\w){}(?!\w)" if name.isascii() else "{}"
    yield from (match.start() for match in re.finditer(pattern.format(re.escape(name)), norm))
