"""How two names stand to one another: the same, one made from the other, or unrelated."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from string import ascii_lowercase
from typing import get_args
from uuid import UUID

from understanding import names
from understanding.lexicon import rows, titles, words
from understanding.names import name_key, readings
from understanding.roles import roles_of, terms
from understanding.same_person.name_types import (
    PREFIXES,
    How,
    Kind,
    is_full,
    is_given,
    is_word,
    kind_of,
    names_in,
    of_other_rank,
    title_of,
)
from understanding.text import HAN, is_han
from understanding.types import Person

_NEAR_SOUNDS, _SPELLINGS, _RENDERED = (
    [(row["form"], row["other"]) for row in rows("sounds") if row["use"] == use]
    for use in ("near_sounds", "spellings", "rendered")
)
# What nicknames end in: 红儿, 浩子, 豪仔, 芳妮儿.
_ENDINGS = "儿子仔妞妮宝"


def both_chinese(a: str, b: str) -> How:
    """How two Chinese name keys relate."""
    (head_a, title_a), (head_b, title_b) = title_of(a), title_of(b)
    if title_a and title_b:
        return _two_titles(head_a, title_a, head_b, title_b)
    if title_a or title_b:
        return _title_and_name(head_a, b) if title_a else _title_and_name(head_b, a)
    for short, full in ((a, b), (b, a)):
        how = _nickname(short, full)
        if how:
            return how
        if _is_part(short, full):
            return "part_of_name"
    if _sounds_like(a, b):
        return "homophone"
    return _apart(a, b)


def are_homophones(a: str, b: str) -> bool:
    """Whether two name keys are full Chinese names of the same sound, in other characters."""
    full = {kind_of(key) for key in (a, b) if key and all(map(is_han, key))} == {"full"}
    return full and a != b and len(a) == len(b) and readings(a) == readings(b)


def _apart(a: str, b: str) -> How:
    """How names differ of which none is made from the other."""
    if {kind_of(a), kind_of(b)} != {"full"}:
        return "different_name" if _same_byname_pattern(a, b) else "other_byname"
    first, second = names.surname_of(a), names.surname_of(b)
    if first == second:
        return "shared_surname"
    return "shared_given" if a[len(first) :] == b[len(second) :] else "other_name"


def _two_titles(head_a: str, title_a: str, head_b: str, title_b: str) -> How:
    if readings(head_a) != readings(head_b):
        return "different_name" if _is_surname(head_a) and _is_surname(head_b) else "other_name"
    first, second = titles("zh").get(title_a), titles("zh").get(title_b)
    apart = (
        first
        and second
        and ({first.gender, second.gender} == {"male", "female"} or not first.kinds & second.kinds)
    )
    return "other_title" if apart or head_a != head_b else "titled_name"


def _title_and_name(head: str, name: str) -> How:
    surname = names.surname_of(name)
    if name[0] in PREFIXES[:3] and name[1:] == head:
        return "titled_name"
    if surname == head and len(name) > len(head):
        return "titled_name"
    if set(head) & set(name[len(surname) :]):
        return "nickname"
    if not surname or is_word(name):
        return "other_byname"
    return "different_name" if _is_surname(head) else "other_name"


def _is_surname(head: str) -> bool:
    return head in words("surnames", "single", "compound")


def _nickname(short: str, full: str) -> How | None:
    """小棠, 阿棠, 棠棠, 棠子 of 贺小棠 or of one another; 老俞 and 小俞 of 俞建章, which a
    surname alone makes."""
    core = core_of(short)
    other = core_of(full)
    if not core or short == full:
        return None
    if other:
        apart = short[0] + full[0] in ("大小", "小大", "老小", "小老")
        return "nickname" if core == other and not apart else None
    surname = names.surname_of(full)
    if not surname or is_word(full):
        return None
    if core in full[len(surname) :]:
        return "nickname"
    return "titled_name" if core == surname and short[0] in PREFIXES[:3] else None


def core_of(key: str) -> str:
    """The character that a nickname is built on: 红 of 小红, 阿红, 红红, 红儿, 红子; else ""."""
    if len(key) == 2 and key[0] == key[1]:
        return key[0]
    if len(key) == 2 and key[0] in PREFIXES:
        return key[1]
    if len(key) == 3 and key[0] in PREFIXES[:3] and key[1] == key[2]:
        return key[1]
    if len(key) in (2, 3) and key[-1] in _ENDINGS and not is_word(key):
        return key[0]
    return ""


def _is_part(part: str, full: str) -> bool:
    """A given name alone, or a name within a longer one: 浩然 of 郑浩然, 陈佩珊 of 何陈佩珊."""
    if len(part) < 2 or len(full) <= len(part) or (is_word(part) and len(full) <= 3):
        return len(part) == 2 and len(full) == 3 and full.endswith(part)
    return full.endswith(part) or (full.startswith(part) and not names.surname_of(full))


def _same_byname_pattern(a: str, b: str) -> bool:
    """小丽 and 小美, 大双 and 小双: names given to tell people apart."""
    ca, cb = core_of(a), core_of(b)
    if ca and cb:
        return ca == cb or (a[0] == b[0] or (a[0] == a[1] and b[0] == b[1]))
    return False


def _sounds_like(a: str, b: str) -> bool:
    """Whether two names sound the same, or nearly so in regional speech. A given name may stand
    for the whole: 冬升 and 韩东升."""
    short, long = sorted((a, b), key=len)
    if len(long) - len(short) > 1 or len(short) < 2:
        return False
    if len(short) < len(long) and not names.surname_of(long):
        return False
    tail = readings(long)[-len(short) :]
    return all(_near(x) == _near(y) for x, y in zip(readings(short), tail, strict=False))


def _near(syllable: str) -> str:
    return _replaced(syllable, _NEAR_SOUNDS)


def _replaced(text: str, forms: Iterable[tuple[str, str]]) -> str:
    for form, other in forms:
        text = text.replace(form, other)
    return text


# Consonants that two names must share to sound alike: one alone (红红, Anna: n) says nothing.
_TELLING = 2
# Letters at the beginning that a short form keeps, and those that it may add: Nandu of Nandini.
_KEPT, _ADDED = 3, 2


def both_latin(a: str, b: str, kinds: set[Kind]) -> How:
    """How two name keys in Latin letters relate."""
    (last_a, title_a), (last_b, title_b) = title_of(a), title_of(b)
    if title_a and title_b and last_a == last_b:
        genders = {titles("en")[title_a].gender, titles("en")[title_b].gender}
        return "other_title" if genders == {"male", "female"} else "titled_name"
    if "handle" in kinds:
        letters = ["".join(filter(ascii_lowercase.count, text)) for text in (a, b)]
        return "spelling" if letters[0] == letters[1] else "other_byname"
    one, two = names_in(a), names_in(b)
    if len(one) > len(two):
        one, two, title_a, title_b = two, one, title_b, title_a
    if sorted(one) == sorted(two):
        return "part_of_name" if one == two else "pinyin"
    if len(one) > 1:
        return _two_full(one, two)
    if one[0] in two:
        return "titled_name" if title_a and one[0] == two[-1] else "part_of_name"
    if len(one[0]) <= 3 and one[0] == "".join(word[0] for word in two):
        return "short_form"
    found = [how for word in two if (how := _related(one[0], word))]
    if found:
        return min(found, key=("diminutive", "spelling", "short_form").index)
    return "other_name" if title_a or title_b or _may_be_byname(one, two) else "different_name"


def _may_be_byname(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether one of two unrelated names may be what the other is called for fun: an initial, a
    word (Biscuit), or what shares letters with it (Gazza, Gary) and is no name of its own."""
    pairs = list(product(one, two))
    words_ = {word for word in (*one, *two) if not is_given(word)}
    if any(len(word) < 3 or word in words("english_words") for word in words_):
        return True
    return any(_shares_letters(a, b) for a, b in pairs if not (is_given(a) and is_given(b)))


def _shares_letters(a: str, b: str) -> bool:
    """Whether both begin with one letter, share three letters in a row, or one is spelt within the other."""
    short, long = sorted((a, b), key=len)
    rest = iter(long)
    runs = (short[at : at + 3] for at in range(len(short) - 2))
    return a[0] == b[0] or any(run in long for run in runs) or all(x in rest for x in short)


def _two_full(a: Sequence[str], b: Sequence[str]) -> How:
    """Of two names with a surname each both parts have to fit."""
    given: How | None = "same_name" if a[0] == b[0] else _related(a[0], b[0])
    family = _families(a[1:], b[1:])
    if given and family:
        return "part_of_name" if given == "same_name" else given
    if given == "same_name":
        return "shared_given"
    return "shared_surname" if family else "other_name"


def _families(a: Sequence[str], b: Sequence[str]) -> bool:
    """The same family name, one of a double name, another spelling, or an initial of it."""
    shared = {part for word in a for part in word.split("-")} & {p for w in b for p in w.split("-")}
    initials = a[-1][0] == b[-1][0] and min(len(a[-1].strip(".")), len(b[-1].strip("."))) == 1
    return bool(shared) or initials or sounds(a[-1]) == sounds(b[-1])


def _related(a: str, b: str) -> How | None:
    """How two given names that differ are one name."""
    namer = names.nicknamer()
    if b in namer.nicknames_of(a) or a in namer.nicknames_of(b):
        return "diminutive"
    short, long = sorted((a, b), key=len)
    if len(short) >= 4 and long.endswith(short):
        return "diminutive"
    alike = a[0] == b[0] or sounds(a)[:1] == sounds(b)[:1] not in ("a", "h")
    spelt = sounds(a) == sounds(b) or _misspelt(a, b)
    if spelt and alike and {a[-1], b[-1]} != {"a", "o"} and len(short) > 2:
        return "spelling"
    kept = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(short))
    if kept >= min(_KEPT, len(short)) and kept > 1 and len(short) - kept <= _ADDED:
        return "short_form"
    return None


def sounds(name: str) -> str:
    """A key that spellings of one name share: consonants with doubled letters and silent
    ones gone, every run of vowels as one sign, none at the end."""
    name = re.sub(r"[aeiou]+", "a", _replaced(name, _SPELLINGS))
    return re.sub(r"(.)\1+", r"\1", name).rstrip("a")


def _misspelt(a: str, b: str) -> bool:
    """Long names at one edit that begin and end alike."""
    return min(len(a), len(b)) >= 6 and a[0] == b[0] and a[-1] == b[-1] and names.one_edit(a, b)


def two_scripts(chinese: str, latin: str) -> How:
    """How a Chinese name key and one in Latin letters relate."""
    (head, title), (last, latin_title) = title_of(chinese), title_of(latin)
    if title and latin_title:
        first, second = titles("zh").get(title), titles("en")[latin_title]
        sound = "".join(readings(head)) == last
        fits = not first or "*" in second.kinds or first.kinds & second.kinds
        return "titled_name" if sound and fits else "other_script"
    if title or latin_title:
        reading = "".join(readings(names.surname_of(chinese) or head))
        return "titled_name" if reading and reading in latin.split(" ") else "other_script"
    if latin.replace(" ", "") in _pinyin(chinese):
        return "pinyin"
    skeleton = _consonants("".join(readings(chinese)))
    if len(skeleton) >= _TELLING and skeleton == _consonants(latin.split(" ")[0]):
        return "transliteration"
    keys = names.lookup_keys(Person(UUID(int=0), latin))
    is_pinyin = any(key.key.startswith(names.SOUND) for key in keys)
    return "other_name" if " " in latin and is_pinyin else "other_script"


def _pinyin(chinese: str) -> set[str]:
    """A Chinese name in Latin letters without spaces, surname first or last or left out."""
    sounds_ = readings(chinese)
    size = len(names.surname_of(chinese))
    head, given = "".join(sounds_[:size]), "".join(sounds_[size:])
    spelt = {head + given, given + head} | ({given} if len(sounds_) - size > 1 else set())
    return spelt | {text.replace("v", "u") for text in spelt}


def _consonants(latin: str) -> str:
    latin = _replaced(latin, (("th", "s"), *_RENDERED, *_SPELLINGS))
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[aeiou]+", "", latin)) or latin[:1]


# Names that no two words for one person would be: only a statement makes one person of two who
# bear them.
PLAINLY_DIFFERENT: frozenset[How] = frozenset({"different_name", "other_full_name"})
# One name is a form of the other.
MADE_FROM: frozenset[How] = frozenset(
    {"nickname", "part_of_name", "short_form", "diminutive", "titled_name", "spelling"}
)
# What an alias can't outweigh where another pair of names is plainly different.
_UNRELATED: frozenset[How] = frozenset({"other_byname", "other_script", "other_name"})
# From what says most for one person to what says least; the first that holds is taken.
STRENGTH: tuple[How, ...] = get_args(How)
_BRACKET = re.compile(r"[()（）]")
_LATIN_PART = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]+)*")
# One name twice says the less, the more people answer to such a name.
_SAME: dict[Kind, How] = {
    **dict.fromkeys(("full", "part", "handle"), "same_name"),
    **dict.fromkeys(("byname", "titled"), "same_byname"),
    "role": "same_role_word",
}


@dataclass(frozen=True, slots=True)
class Naming:
    """``how`` the two names relate, and which names it was seen on."""

    how: How
    first: str
    second: str


def relate(first: tuple[str, ...], second: tuple[str, ...]) -> Naming:
    """The strongest way in which a name of one stands to a name of the other. That one is
    named after the other (阿竹的妈妈) settles it: they are two people."""
    pairs = [Naming(_relate(a, b), a, b) for a, b in product(first, second)]
    related = next((pair for pair in pairs if pair.how == "relative_of"), None)
    if related:
        return related
    # A record that has a name is not unnamed for having a role as an alias.
    strong = min(pairs, key=lambda pair: STRENGTH.index(pair.how))
    different = next((pair for pair in pairs if pair.how in PLAINLY_DIFFERENT), None)
    if different and strong.how in _UNRELATED:
        return different
    if strong.how in ("unnamed", "both_unnamed"):
        named = [p for p in pairs if p.how not in ("unnamed", "both_unnamed")]
        return min(named, key=lambda pair: STRENGTH.index(pair.how)) if named else strong
    return strong


@lru_cache(maxsize=16384)
def _spellings(name: str) -> tuple[str, ...]:
    """A name and those that are put together in it: 周美凤 (Mrs Chew), 肥May."""
    parts = [part.strip() for part in _BRACKET.split(name)]
    latin = _LATIN_PART.findall(name) if HAN.search(name) else []
    return tuple(dict.fromkeys(part for part in (name, *parts, *latin) if part))


@lru_cache(maxsize=65536)
def _relate(first: str, second: str) -> How:
    spelt = product(_spellings(first), _spellings(second))
    how = min((_of_spellings(a, b) for a, b in spelt), key=STRENGTH.index)
    unrelated = how in ("other_name", "different_name")
    return "other_full_name" if unrelated and is_full(first) and is_full(second) else how


@lru_cache(maxsize=65536)
def _of_spellings(first: str, second: str) -> How:
    a, b = name_key(first), name_key(second)
    if not a or not b:
        return "other_byname"
    if a == b:
        return _SAME[kind_of(first)]
    if a.replace(" ", "") == b.replace(" ", ""):
        return "same_name"
    if _named_after(first, second) or _named_after(second, first):
        return "relative_of"
    kinds = {kind_of(first), kind_of(second)}
    if kinds == {"role"}:
        return "same_role_word" if _same_role(a, b) else "both_unnamed"
    if "role" in kinds:
        return "unnamed"
    han = is_han(a[0]), is_han(b[0])
    if all(han):
        return both_chinese(a, b)
    if not any(han):
        return both_latin(a, b, kinds)
    chinese, latin = (a, b) if han[0] else (b, a)
    return two_scripts(chinese, latin)


def _same_role(a: str, b: str) -> bool:
    fits = (x.kind == y.kind and (x.fits(y) or y.fits(x))
            for x in roles_of(a) for y in roles_of(b))  # fmt: skip
    return not of_other_rank(a, b) and any(fits)


def _named_after(name: str, other: str) -> bool:
    """Whether ``name`` is a relative, or someone else of ``other``: 阿竹的妈妈, Kate's mum."""
    key, base = name_key(name), name_key(other)
    if kind_of(other) == "role" or not key.startswith(base) or key == base:
        return False
    rest = re.sub(r"^(?:的|他|她|家|'?s )+", "", key[len(base) :].strip())
    rest = rest.removeprefix("s ")
    return bool(rest) and (rest in terms() or (bool(roles_of(rest)) and len(rest) > 1))
