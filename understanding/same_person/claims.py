"""What the facts themselves say about who is who: that one bears the other's name, or is beside
the other."""

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
# A shorter word of a name may stand in any text.
_LEAST_LATIN, _LEAST_HAN = 3, 2


@dataclass(frozen=True, slots=True)
class Claim:
    """A text about one person in which a name of the other stands."""

    name: str
    text: str


def same(first: Record, second: Record) -> Claim | None:
    """A fact that says that the person bears a name of the other: 花名惊蛰, known as Spud."""
    for own, other in ((first, second), (second, first)):
        for text, told in zip(own.facts, own.told, strict=True):
            norm = normalise(told)
            stated = _stated(norm)
            for name in _proper(other):
                if name in other.normal_names and stated.intersection(_places(norm, name)):
                    return Claim(name, text)
                unnamed = any(name_types.kind_of(own_name) == "role" for own_name in own.names)
                if told not in own.facts and norm.startswith(name) and unnamed:
                    return Claim(name, text)  # right behind the role: 我老板谢军, my boss Nora
    return None


def stated_keys(record: Record) -> Iterator[str]:
    """What may be the keys of the names that the facts say the person bears."""
    for told in record.told:
        norm = normalise(told)
        for at in _stated(norm):
            found = lex.name.match(norm, at)
            if found and is_han(found[0][0]):
                yield from (found[0][:size] for size in range(2, len(found[0]) + 1))
            elif found:
                words = name_key(found[0]).split(" ")
                yield from (" ".join(words[:size]) for size in range(1, len(words) + 1))


def apart(first: Record, second: Record) -> Claim | None:
    """A fact that says that the two are two people: 不是同一个人, not the same."""
    for own, other in ((first, second), (second, first)):
        for text, norm in zip(own.facts, own.normal_facts, strict=True):
            if lex.apart.search(norm) and any(name in norm for name in other.normal_names):
                return Claim(other.name, text)
    return None


def beside(first: Record, second: Record) -> Claim | None:
    """A fact of one that names the other as someone else."""
    return next(chain(_of(first, second), _of(second, first)), None)


def together(first: Record, second: Record) -> Claim | None:
    """A fact of both that names both."""
    both = set(first.facts) & set(second.facts)
    sides = [
        {claim.text for claim in _of(own, other)}
        for own, other in ((first, second), (second, first))
    ]
    named = sides[0] & sides[1] & both
    return next((Claim(second.name, text) for text in first.facts if text in named), None)


def owned(first: Record, second: Record) -> Claim | None:
    """A relationship of one that is told by the other: 冠宇的同事, Femi's father."""
    for own, other in ((first, second), (second, first)):
        norm = normalise(own.relationship)
        for name in _proper(other):
            if any(len(norm) > len(name) for _ in _places(norm, name)):
                return Claim(name, own.relationship)
    return None


def _of(own: Record, other: Record) -> Iterator[Claim]:
    """Facts of one that name the other, other than by a name that both bear or by one that the
    fact says to be the person's own."""
    for text, told in zip(own.facts, own.told, strict=True):
        masked = normalise(told)
        for name in own.normal_names:
            masked = masked.replace(name, "\0" * len(name))
        stated = _stated(masked)
        for name in _proper(other):
            whole = name in other.normal_names
            if whole and any(at not in stated for at in _places(masked, name)):
                yield Claim(name, text)


@lru_cache(maxsize=16384)
def _stated(norm: str) -> frozenset[int]:
    """Where in a normalised text about a person a name begins that the person is said to bear:
    behind a word for naming before which nobody else stands, or in brackets at the beginning."""
    found = {1} if norm.startswith("(") else set()
    for naming in lex.naming.finditer(norm):
        before = lex.fragment.split(norm[: naming.start()])[-1]
        if lex.self_before.fullmatch(before):
            found.add(naming.end())
    return frozenset(found)


def _proper(record: Record) -> list[str]:
    """The names of a record, normalised, and their parts that name alone; no roles."""
    named = (name for name in record.names if name_types.kind_of(name) != "role")
    return list(dict.fromkeys(part for name in named for part in _parts(name)))


@lru_cache(maxsize=16384)
def _parts(name: str) -> tuple[str, ...]:
    norm, key = normalise(name), name_key(name)
    if not key:
        return ()
    if is_han(key[0]):
        found = [norm, key[len(surname_of(key)) :]]
        return tuple(p for p in found if len(p) >= _LEAST_HAN and not name_types.is_word(p))
    words = name_types.names_in(key)
    return tuple(dict.fromkeys(w for w in (norm, *words) if len(w) >= _LEAST_LATIN))


def _places(norm: str, name: str) -> Iterator[int]:
    """Where a name stands in a normalised text."""
    edge = r"(?<!\w){}(?!\w)" if name.isascii() else "{}"
    yield from (found.start() for found in re.finditer(edge.format(re.escape(name)), norm))
