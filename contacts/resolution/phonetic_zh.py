"""Chinese nicknames by their sound, where one or both names are in pinyin: Xiaohong, Honghong
and 红红, or 小薇 and Wang Weiwei.

Many English names happen to be syllables of pinyin (Susan, Dan, Lina, Lulu). Nothing is read
as Chinese for that alone: it has to be shaped as a nickname or hold a Chinese surname, the
other name has to be made of the same syllable, and of two Latin names neither may be an English
given name.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from contacts import names
from contacts.lexicon import mapping, words
from contacts.names import SYLLABLE, readings
from contacts.resolution.name_types import PREFIXES
from contacts.resolution.similarity_zh import core_of
from contacts.text import is_han

_TWICE = re.compile(rf"(?:(?P<prefix>xiao|lao|a) ?)?(?P<core>{SYLLABLE}) ?(?P=core)")
_BEFORE = re.compile(rf"(?P<prefix>xiao|lao|da|a) ?(?P<core>{SYLLABLE})")
_GIVEN = re.compile(rf"({SYLLABLE}) ?({SYLLABLE})?")
# Nicknames of two people who share a character: 大红 and 小红, 老王 and 小王.
_APART = ({"xiao", "da"}, {"xiao", "lao"})
# What may stand before a surname as well as before a given name: 小王, 老王, 阿王.
_BEFORE_SURNAMES = ("xiao", "lao", "a")


@dataclass(frozen=True, slots=True)
class Sounded:
    """A name as syllables: a nickname made on ``core``, or ``surname`` and ``given`` name.
    ``english``: it may as well be an English name."""

    core: str = ""
    prefix: str = ""
    surname: str = ""
    given: tuple[str, ...] = ()
    english: bool = False


def same_nickname(a: str, b: str) -> bool:
    """Whether one of two name keys is a Chinese nickname of the other by sound, or both are of
    one name."""
    return any(
        _made_of(one, other) or _made_of(other, one) or _twins(one, other)
        for one in _sounded(a)
        for other in _sounded(b)
        if is_han(a[0]) or is_han(b[0]) or not (one.english or other.english)
    )


def syllables_of(key: str) -> frozenset[str]:
    """The syllables of which a name may be a nickname, or a nickname made."""
    found: set[str] = set()
    for name in _sounded(key):
        found |= {name.core, *name.given, name.surname if name.given else ""}
    return frozenset(found - {""})


def _twins(a: Sounded, b: Sounded) -> bool:
    return bool(a.core) and a.core == b.core and {a.prefix, b.prefix} not in _APART


def _made_of(short: Sounded, full: Sounded) -> bool:
    if not short.core or not full.surname:
        return False
    return short.core in full.given or (
        short.core == full.surname and short.prefix in _BEFORE_SURNAMES
    )


@lru_cache(maxsize=16384)
def _sounded(key: str) -> tuple[Sounded, ...]:
    """The ways to read a name as Chinese, surname first or last; none when it is not."""
    if all(map(is_han, key)):
        return _chinese(key)
    return _nickname(key) or _full(key)


def _chinese(key: str) -> tuple[Sounded, ...]:
    core = core_of(key)
    if core:
        prefix = "".join(readings(key[0])) if key[0] in PREFIXES and key[0] != core else ""
        return (Sounded("".join(readings(core)), prefix),)
    size = len(names.surname_of(key))
    sounds = readings(key)
    return (Sounded(surname="".join(sounds[:size]), given=sounds[size:]),) if size else ()


def _nickname(key: str) -> tuple[Sounded, ...]:
    """Twice the same syllable, or one behind a prefix that makes nicknames."""
    english = key in words("given_names")
    twice, before = _TWICE.fullmatch(key), _BEFORE.fullmatch(key)
    if twice:
        return (Sounded(twice["core"], twice["prefix"] or "", english=english),)
    # Ada, Alan, Dana: the commoner prefixes of Chinese begin English names too.
    if before and not english:
        return (Sounded(before["core"], before["prefix"]),)
    return ()


def _full(key: str) -> tuple[Sounded, ...]:
    """Surname and given name in either order: wang weiwei, weiwei wang, wang wei wei."""
    parts = key.split(" ")
    found = []
    for surname, given in ((parts[0], parts[1:]), (parts[-1], parts[:-1])):
        match = _GIVEN.fullmatch(" ".join(given)) if surname in _surnames() else None
        if match:
            english = " ".join(given) in words("given_names")
            spoken = tuple(syllable for syllable in match.groups() if syllable)
            found.append(Sounded(surname=surname, given=spoken, english=english))
    return tuple(found)


@cache
def _surnames() -> frozenset[str]:
    special = mapping("surname_readings", "reading")
    known = words("surnames", "single", "compound")
    return frozenset(special.get(one, "".join(map(names.syllable, one))) for one in known)
