"""How two names relate: the same, one made from the other, or unrelated."""

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
_ENDINGS = "儿子仔妞妮宝"  # of nicknames: 红儿, 浩子, 豪仔, 芳妮儿


def both_chinese(a: str, b: str) -> How:
    """Returns how two Chinese name keys relate."""
    (head_a, title_a), (head_b, title_b) = title_of(a), title_of(b)
    if title_a and title_b:
        return _relate_titled(head_a, title_a, head_b, title_b)
    if title_a or title_b:
        return _relate_title_and_name(head_a, b) if title_a else _relate_title_and_name(head_b, a)
    for short, full in ((a, b), (b, a)):
        how = _relate_nickname(short, full)
        if how:
            return how
        if _is_part(short, full):
            return "part_of_name"
    if _sounds_like(a, b):
        return "homophone"
    return _unrelated(a, b)


def are_homophones(a: str, b: str) -> bool:
    """Whether two name keys are full Chinese names of the same sound, in other characters."""
    full = {kind_of(key) for key in (a, b) if key and all(map(is_han, key))} == {"full"}
    return full and a != b and len(a) == len(b) and readings(a) == readings(b)


def _unrelated(a: str, b: str) -> How:
    """Returns how two Chinese names differ of which neither is made from the other."""
    if {kind_of(a), kind_of(b)} != {"full"}:
        return "different_name" if _same_byname_pattern(a, b) else "other_byname"
    first, second = names.surname_of(a), names.surname_of(b)
    if first == second:
        return "shared_surname"
    return "shared_given" if a[len(first) :] == b[len(second) :] else "other_name"


def _relate_titled(head_a: str, title_a: str, head_b: str, title_b: str) -> How:
    """Returns how two Chinese names with titles relate; ``head`` is what precedes the title."""
    if readings(head_a) != readings(head_b):
        return "different_name" if _is_surname(head_a) and _is_surname(head_b) else "other_name"
    first, second = titles("zh").get(title_a), titles("zh").get(title_b)
    incompatible = (
        first
        and second
        and ({first.gender, second.gender} == {"male", "female"} or not first.kinds & second.kinds)
    )
    return "other_title" if incompatible or head_a != head_b else "titled_name"


def _relate_title_and_name(head: str, name: str) -> How:
    """Returns how an untitled name relates to a titled one with this ``head``, mostly a surname."""
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


def _relate_nickname(short: str, full: str) -> How | None:
    """Returns "nickname" if ``short`` is a nickname of ``full`` or both have one core (小棠, 阿棠, 棠棠,
    棠子 of 贺小棠), "titled_name" if it is made of the surname (老俞, 小俞 of 俞建章), else None."""
    core = core_of(short)
    other_core = core_of(full)
    if not core or short == full:
        return None
    if other_core:
        opposed = short[0] + full[0] in ("大小", "小大", "老小", "小老")
        return "nickname" if core == other_core and not opposed else None
    surname = names.surname_of(full)
    if not surname or is_word(full):
        return None
    if core in full[len(surname) :]:
        return "nickname"
    return "titled_name" if core == surname and short[0] in PREFIXES[:3] else None


def core_of(key: str) -> str:
    """Returns the character that a nickname is built on: 红 of 小红, 阿红, 红红, 红儿, 红子; "" if none."""
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
    """Whether ``part`` is the given name or the end of ``full``: 浩然 of 郑浩然, 陈佩珊 of 何陈佩珊."""
    if len(part) < 2 or len(full) <= len(part) or (is_word(part) and len(full) <= 3):
        return len(part) == 2 and len(full) == 3 and full.endswith(part)
    return full.endswith(part) or (full.startswith(part) and not names.surname_of(full))


def _same_byname_pattern(a: str, b: str) -> bool:
    """Whether two nicknames follow one pattern that tells people apart: 小丽 and 小美, 大双 and 小双."""
    core_a, core_b = core_of(a), core_of(b)
    if core_a and core_b:
        return core_a == core_b or (a[0] == b[0] or (a[0] == a[1] and b[0] == b[1]))
    return False


def _sounds_like(a: str, b: str) -> bool:
    """Whether names sound (nearly) alike, or one like the given name of the other: 冬升, 韩东升."""
    short, long = sorted((a, b), key=len)
    if len(long) - len(short) > 1 or len(short) < 2:
        return False
    if len(short) < len(long) and not names.surname_of(long):
        return False
    tail = readings(long)[-len(short) :]
    return all(_regional(x) == _regional(y) for x, y in zip(readings(short), tail, strict=False))


def _regional(syllable: str) -> str:
    """The syllable as regional speech says it, which merges some sounds."""
    return _replaced(syllable, _NEAR_SOUNDS)


def _replaced(text: str, forms: Iterable[tuple[str, str]]) -> str:
    for form, other in forms:
        text = text.replace(form, other)
    return text


# Consonants that two names must share to sound alike: one alone (红红, Anna: n) says nothing.
_LEAST_CONSONANTS = 2
# First letters that a short form keeps at least, letters that it adds at most: Nandu of Nandini.
_KEPT, _ADDED = 3, 2


def both_latin(a: str, b: str, kinds: set[Kind]) -> How:
    """Returns how two name keys in Latin letters relate; ``kinds`` are the kinds of both names."""
    (last_a, title_a), (last_b, title_b) = title_of(a), title_of(b)
    if title_a and title_b and last_a == last_b:
        genders = {titles("en")[title_a].gender, titles("en")[title_b].gender}
        return "other_title" if genders == {"male", "female"} else "titled_name"
    if "handle" in kinds:
        letters = ["".join(filter(ascii_lowercase.count, text)) for text in (a, b)]
        return "spelling" if letters[0] == letters[1] else "other_byname"
    short, long = names_in(a), names_in(b)
    if len(short) > len(long):
        short, long, title_a, title_b = long, short, title_b, title_a
    if sorted(short) == sorted(long):
        return "part_of_name" if short == long else "pinyin"
    if len(short) > 1:
        return _relate_full_names(short, long)
    if short[0] in long:
        return "titled_name" if title_a and short[0] == long[-1] else "part_of_name"
    if len(short[0]) <= 3 and short[0] == "".join(word[0] for word in long):
        return "short_form"
    relations = [how for word in long if (how := _relate_given_names(short[0], word))]
    if relations:
        return min(relations, key=("diminutive", "spelling", "short_form").index)
    return "other_name" if title_a or title_b or _may_be_byname(short, long) else "different_name"


def _may_be_byname(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one of two unrelated names may be a nickname of the other: an initial, a word
    (Biscuit), or what shares letters with it (Gazza, Gary) and is no given name itself."""
    pairs = list(product(first, second))
    unusual_words = {word for word in (*first, *second) if not is_given(word)}
    if any(len(word) < 3 or word in words("english_words") for word in unusual_words):
        return True
    return any(_shares_letters(a, b) for a, b in pairs if not (is_given(a) and is_given(b)))


def _shares_letters(a: str, b: str) -> bool:
    """Whether both begin alike, share three letters in a row, or one is spelt within the other."""
    short, long = sorted((a, b), key=len)
    letters = iter(long)
    runs = (short[at : at + 3] for at in range(len(short) - 2))
    return a[0] == b[0] or any(run in long for run in runs) or all(x in letters for x in short)


def _relate_full_names(a: Sequence[str], b: Sequence[str]) -> How:
    """Returns how two names with surnames relate: both parts have to fit."""
    given: How | None = "same_name" if a[0] == b[0] else _relate_given_names(a[0], b[0])
    family = _same_family(a[1:], b[1:])
    if given and family:
        return "part_of_name" if given == "same_name" else given
    if given == "same_name":
        return "shared_given"
    return "shared_surname" if family else "other_name"


def _same_family(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether surnames fit: the same, one of a double name, another spelling, or an initial."""
    shared = {part for word in a for part in word.split("-")} & {p for w in b for p in w.split("-")}
    initials = a[-1][0] == b[-1][0] and min(len(a[-1].strip(".")), len(b[-1].strip("."))) == 1
    return bool(shared) or initials or sounds(a[-1]) == sounds(b[-1])


def _relate_given_names(a: str, b: str) -> How | None:
    """Returns how two different given names are forms of one name; None if they are not."""
    namer = names.nicknamer()
    if b in namer.nicknames_of(a) or a in namer.nicknames_of(b):
        return "diminutive"
    short, long = sorted((a, b), key=len)
    if len(short) >= 4 and long.endswith(short):
        return "diminutive"
    begin_alike = a[0] == b[0] or sounds(a)[:1] == sounds(b)[:1] not in ("a", "h")
    # Two names of at least six letters that differ by one edit, but not at either end.
    is_misspelt = len(short) >= 6 and (a[0], a[-1]) == (b[0], b[-1]) and names.one_edit(a, b)
    same_spelling = sounds(a) == sounds(b) or is_misspelt
    if same_spelling and begin_alike and {a[-1], b[-1]} != {"a", "o"} and len(short) > 2:
        return "spelling"
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(short))
    if shared >= min(_KEPT, len(short)) and shared > 1 and len(short) - shared <= _ADDED:
        return "short_form"
    return None


def sounds(name: str) -> str:
    """Returns a key that spellings of one name share: consonants without doubled and silent ones,
    every run of vowels as one sign, none at the end."""
    name = re.sub(r"[aeiou]+", "a", _replaced(name, _SPELLINGS))
    return re.sub(r"(.)\1+", r"\1", name).rstrip("a")


def two_scripts(chinese: str, latin: str) -> How:
    """Returns how a Chinese name key and one in Latin letters relate."""
    (head, title), (last, latin_title) = title_of(chinese), title_of(latin)
    if title and latin_title:
        first, second = titles("zh").get(title), titles("en")[latin_title]
        sound = "".join(readings(head)) == last
        fits = not first or "*" in second.kinds or first.kinds & second.kinds
        return "titled_name" if sound and fits else "other_script"
    if title or latin_title:
        reading = "".join(readings(names.surname_of(chinese) or head))
        return "titled_name" if reading and reading in latin.split(" ") else "other_script"
    if latin.replace(" ", "") in _pinyin_spellings(chinese):
        return "pinyin"
    skeleton = _consonants("".join(readings(chinese)))
    if len(skeleton) >= _LEAST_CONSONANTS and skeleton == _consonants(latin.split(" ")[0]):
        return "transliteration"
    keys = names.lookup_keys(Person(UUID(int=0), latin))
    is_pinyin = any(key.key.startswith(names.SOUND) for key in keys)
    return "other_name" if " " in latin and is_pinyin else "other_script"


def _pinyin_spellings(chinese: str) -> set[str]:
    """A Chinese name in Latin letters without spaces, with the surname first, last or left out."""
    syllables = readings(chinese)
    size = len(names.surname_of(chinese))
    head, given = "".join(syllables[:size]), "".join(syllables[size:])
    spellings = {head + given, given + head} | ({given} if len(syllables) - size > 1 else set())
    return spellings | {text.replace("v", "u") for text in spellings}


def _consonants(latin: str) -> str:
    """The consonants of a Latin name, those that Chinese renders alike as one."""
    latin = _replaced(latin, (("th", "s"), *_RENDERED, *_SPELLINGS))
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[aeiou]+", "", latin)) or latin[:1]


# Names too different to be of one person: only a statement makes one person of two who bear them.
_OTHER_FULL_NAMES: frozenset[How] = frozenset({"shared_surname", "shared_given", "other_full_name"})
PLAINLY_DIFFERENT: frozenset[How] = frozenset({"different_name", "other_full_name"})
# One name is a form of the other.
MADE_FROM: frozenset[How] = frozenset(
    {"nickname", "part_of_name", "short_form", "diminutive", "titled_name", "spelling"}
)
# Relations too weak to count beside another pair of names that is plainly different.
_UNRELATED: frozenset[How] = frozenset({"other_byname", "other_script", "other_name"})
# At least one of the two is only a role.
_UNNAMED: frozenset[How] = frozenset({"unnamed", "both_unnamed"})
# From the strongest evidence for one person to the strongest against; the first one counts.
STRENGTH: tuple[How, ...] = get_args(How)
_BRACKET = re.compile(r"[()（）]")
_LATIN_PART = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]+)*")
# What equal names say, by their kind: less if many people answer to such a name.
_EQUAL_NAMES: dict[Kind, How] = {
    **dict.fromkeys(("full", "handle"), "same_name"),
    **dict.fromkeys(("byname", "titled"), "same_byname"),
    "role": "same_role_word",
}


@dataclass(frozen=True, slots=True)
class Naming:
    """How two names relate, and the two names."""

    how: How
    first: str
    second: str


def relate(first: tuple[str, ...], second: tuple[str, ...]) -> Naming:
    """Returns the strongest relation of a name of one person to a name of the other. If one is
    named after the other (阿竹的妈妈), they are two people whatever their other names."""
    pairs = [Naming(_relate_names(a, b), a, b) for a, b in product(first, second)]
    related = next((pair for pair in pairs if pair.how == "relative_of"), None)
    if related:
        return related
    # A record that has a name is not unnamed for having a role as an alias.
    strongest = _strongest(pairs)
    different = next((pair for pair in pairs if pair.how in PLAINLY_DIFFERENT), None)
    if different and strongest.how in _UNRELATED:
        return different
    if strongest.how in _UNNAMED:
        return _strongest([pair for pair in pairs if pair.how not in _UNNAMED] or pairs)
    return strongest


def has_other_full_name(name: str, known: Iterable[str]) -> bool:
    """Whether a full name and those among ``known`` belong to two people (Nora and Ewan Calloway)."""
    full_names = tuple(filter(is_full, known)) if is_full(name) else ()
    return bool(full_names) and relate((name,), full_names).how in _OTHER_FULL_NAMES


def _strongest(pairs: Sequence[Naming]) -> Naming:
    return min(pairs, key=lambda pair: STRENGTH.index(pair.how))


@lru_cache(maxsize=16384)
def _spellings(name: str) -> tuple[str, ...]:
    """The name and the names that it consists of: 周美凤 (Mrs Chew), 肥May."""
    parts = [part.strip() for part in _BRACKET.split(name)]
    latin = _LATIN_PART.findall(name) if HAN.search(name) else []
    return tuple(dict.fromkeys(part for part in (name, *parts, *latin) if part))


@lru_cache(maxsize=65536)
def _relate_names(first: str, second: str) -> How:
    """Returns the strongest relation between a spelling of one name and a spelling of the other."""
    spellings = product(_spellings(first), _spellings(second))
    how = min((_relate_spellings(a, b) for a, b in spellings), key=STRENGTH.index)
    unrelated = how in ("other_name", "different_name")
    return "other_full_name" if unrelated and is_full(first) and is_full(second) else how


@lru_cache(maxsize=65536)
def _relate_spellings(first: str, second: str) -> How:
    """Returns how two spellings relate."""
    a, b = name_key(first), name_key(second)
    if not a or not b:
        return "other_byname"
    if a == b:
        return _EQUAL_NAMES[kind_of(first)]
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
    """Whether two role words may mean the same role."""
    fits = (x.kind == y.kind and (x.fits(y) or y.fits(x))
            for x in roles_of(a) for y in roles_of(b))  # fmt: skip
    return not of_other_rank(a, b) and any(fits)


def _named_after(name: str, other: str) -> bool:
    """Whether ``name`` describes somebody by a relation to ``other``: 阿竹的妈妈, Kate's mum."""
    key, base = name_key(name), name_key(other)
    if kind_of(other) == "role" or not key.startswith(base) or key == base:
        return False
    role = re.sub(r"^(?:的|他|她|家|'?s )+", "", key[len(base) :].strip())
    role = role.removeprefix("s ")
    return bool(role) and (role in terms() or (bool(roles_of(role)) and len(role) > 1))
