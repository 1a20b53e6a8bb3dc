"""Chinese nicknames by their sound, where one or both names are in pinyin: Xiaohong, Honghong
and 红红, or 小薇 and Wang Weiwei.

Many English names happen to be syllables of pinyin (Susan, Dan, Lina, Lulu). Nothing is read
as Chinese for that alone: it has to be shaped as a nickname or hold a Chinese surname, the
other name has to be made of the same syllable, and of two Latin names neither may be an English
given name.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from understanding import names
from understanding.lexicon import mapping, words
from understanding.names import SYLLABLE, readings
from understanding.same_person.name_types import PREFIXES, is_given
from understanding.same_person.similarity_zh import core_of
from understanding.text import is_han

_NICKNAME = re.compile(
    rf"(?:(?:xiao|lao|a) ?)?(?P<twice>{SYLLABLE}) ?(?P=twice)"
    rf"|(?P<prefix>xiao|lao|da|a) ?(?P<core>{SYLLABLE})"
)
_ONE = re.compile(SYLLABLE)
_GIVEN = re.compile(rf"({SYLLABLE}) ?({SYLLABLE})?")
# Nicknames of two people who share a character: 大红 and 小红, 老王 and 小王.
_APART = ({"xiao", "da"}, {"xiao", "lao"})
# What may stand before a surname as well as before a given name: 小王, 老王, 阿王.
_BEFORE_SURNAMES = ("xiao", "lao", "a")


class Sounded(NamedTuple):
    """A name as syllables: a nickname made on ``core``, or ``surname`` and ``given`` name."""

    core: str = ""
    prefix: str = ""
    surname: str = ""
    given: tuple[str, ...] = ()


def same_nickname(a: str, b: str) -> bool:
    """Whether one of two name keys is a Chinese nickname of the other by sound, or both are of
    one name."""
    if not (is_han(a[0]) or is_han(b[0])) and (_is_english(a) or _is_english(b)):
        return False
    pairs = [(one, other) for one in _sounded(a) for other in _sounded(b)]
    return any(_made_of(x, y) or _made_of(y, x) or _twins(x, y) for x, y in pairs)


def syllables_of(key: str) -> frozenset[str]:
    """The syllables of which a name may be a nickname, or a nickname made."""
    found = {part for one in _sounded(key) for part in (one.core, one.surname, *one.given)}
    return frozenset(found - {""})


def _is_english(key: str) -> bool:
    return any(is_given(word) and not _ONE.fullmatch(word) for word in (key, *key.split(" ")))


def _twins(a: Sounded, b: Sounded) -> bool:
    return bool(a.core) and a.core == b.core and {a.prefix, b.prefix} not in _APART


def _made_of(short: Sounded, full: Sounded) -> bool:
    of_surname = short.core == full.surname and short.prefix in _BEFORE_SURNAMES
    return bool(short.core and full.surname) and (short.core in full.given or of_surname)


@lru_cache(maxsize=16384)
def _sounded(key: str) -> tuple[Sounded, ...]:
    """The ways to read a name as Chinese, surname first or last; none when it is not."""
    if all(map(is_han, key)):
        return _chinese(key)
    nickname = _NICKNAME.fullmatch(key)
    # Ada, Alan, Dana: the commoner prefixes of Chinese begin English names too.
    if nickname and (nickname["twice"] or not is_given(key)):
        return (Sounded(nickname["twice"] or nickname["core"], nickname["prefix"] or ""),)
    parts = key.split(" ")
    orders = ((parts[0], " ".join(parts[1:])), (parts[-1], " ".join(parts[:-1])))
    return tuple(
        Sounded(surname=surname, given=tuple(filter(None, found.groups())))
        for surname, given in orders
        if surname in _surnames() and (found := _GIVEN.fullmatch(given))
    )


def _chinese(key: str) -> tuple[Sounded, ...]:
    core, sounds = core_of(key), readings(key)
    if core:
        prefix = sounds[0] if key[0] in PREFIXES and key[0] != core else ""
        return (Sounded("".join(readings(core)), prefix),)
    size = len(names.surname_of(key))
    return (Sounded(surname="".join(sounds[:size]), given=sounds[size:]),) if size else ()


@cache
def _surnames() -> frozenset[str]:
    special = mapping("surname_readings", "reading")
    known = words("surnames", "single", "compound")
    return frozenset(special.get(one, "".join(map(names.syllable, one))) for one in known)
