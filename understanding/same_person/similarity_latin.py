"""How two names in Latin letters, or one in them and one in Chinese, stand to one another."""

import re
from collections.abc import Sequence
from itertools import product
from uuid import UUID

from understanding import names
from understanding.lexicon import titles, words
from understanding.names import readings
from understanding.same_person.name_types import How, Kind, is_given, names_in, title_of
from understanding.types import Person

# A name spelt two ways sounds alike: vowels fall together, and these letters with each other.
_SPELLINGS = (
    ("ph", "f"), ("ck", "k"), ("sch", "s"), ("sh", "s"), ("ea", "a"), ("th", "t"), ("dj", "j"),
    ("ce", "se"), ("ci", "si"), ("c", "k"), ("q", "k"), ("z", "s"), ("x", "ks"), ("y", "i"),
    ("w", "v"), ("gh", ""), ("h", ""),
)  # fmt: skip
# Chinese syllables onto the consonants that they render in foreign names.
_RENDERED = (("zh", "j"), ("ch", "k"), ("sh", "s"), ("x", "s"), ("q", "k"), ("j", "k"), ("z", "s"),
             ("c", "s"), ("y", "i"), ("w", "v"), ("r", "l"), ("ng", "n"), ("h", ""))  # fmt: skip
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
        letters = [re.sub(r"[^a-z]", "", text) for text in (a, b)]
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
    for form, other in _SPELLINGS:
        name = name.replace(form, other)
    name = re.sub(r"[aeiou]+", "a", name)
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
    skeleton = _rendered(chinese)
    if len(skeleton) >= _TELLING and skeleton == _consonants(latin.split(" ")[0]):
        return "transliteration"
    return "other_name" if " " in latin and _is_pinyin(latin) else "other_script"


def _pinyin(chinese: str) -> set[str]:
    """A Chinese name in Latin letters without spaces, surname first or last or left out."""
    sounds_ = readings(chinese)
    size = len(names.surname_of(chinese))
    head, given = "".join(sounds_[:size]), "".join(sounds_[size:])
    spelt = {head + given, given + head} | ({given} if len(sounds_) - size > 1 else set())
    return spelt | {text.replace("v", "u") for text in spelt}


def _is_pinyin(latin: str) -> bool:
    keys = names.lookup_keys(Person(UUID(int=0), latin))
    return any(key.key.startswith(names.SOUND) for key in keys)


def _rendered(chinese: str) -> str:
    sounds_ = readings(chinese)
    return _consonants("".join(sounds_))


def _consonants(latin: str) -> str:
    for form, other in (("th", "s"), *_RENDERED, *_SPELLINGS):
        latin = latin.replace(form, other)
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[aeiou]+", "", latin)) or latin[:1]
