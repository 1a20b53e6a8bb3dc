"""How two names of which one or both are in Latin letters stand to one another."""

import re
from uuid import UUID

from contacts import names
from contacts.lexicon import titles, titles_used
from contacts.names import readings
from contacts.resolution.name_types import How, Kind, title_of
from contacts.resolution.phonetic_zh import same_nickname
from contacts.types import Person

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


def both_latin(a: str, b: str, kinds: set[Kind]) -> How:
    (last_a, title_a), (last_b, title_b) = title_of(a), title_of(b)
    if title_a and title_b:
        genders = {titles("en")[title_a].gender, titles("en")[title_b].gender}
        alike = last_a == last_b and genders != {"male", "female"}
        return "titled_name" if alike else "other_title" if last_a == last_b else "other_name"
    if title_a or title_b:
        last, title, name = (last_a, title_a, b) if title_a else (last_b, title_b, a)
        fits = last in name.split(" ") and (
            title in titles_used("given") or last == name.split(" ")[-1]
        )
        return "titled_name" if fits else "other_name"
    if "handle" in kinds:
        letters = [re.sub(r"[^a-z]", "", text) for text in (a, b)]
        return "spelling" if letters[0] == letters[1] else "other_byname"
    how = _latin_names(a.split(" "), b.split(" "))
    return "nickname" if how == "other_name" and same_nickname(a, b) else how


def _latin_names(a: list[str], b: list[str]) -> How:
    if len(a) > len(b):
        a, b = b, a
    if sorted(a) == sorted(b):
        return "pinyin"
    if len(a) > 1 and len(b) > 1:
        given, family = _given_names(a[0], b[0]), _families(a[1:], b[1:])
        if not given or not family:
            return "other_name"
        return "part_of_name" if given == "same_name" else given
    if a[0] == b[0] or a[0] == b[-1]:
        return "part_of_name"
    return _given_names(a[0], b[0]) or "other_name"


def _families(a: list[str], b: list[str]) -> bool:
    """The same family name, one of a double name, or an initial of it."""
    shared = {part for word in a for part in word.split("-")} & {p for w in b for p in w.split("-")}
    initials = a[-1][0] == b[-1][0] and min(len(a[-1].strip(".")), len(b[-1].strip("."))) == 1
    return bool(shared) or initials


def _given_names(a: str, b: str) -> How | None:
    if a == b:
        return "same_name"
    if b in names.nicknamer().nicknames_of(a) or a in names.nicknamer().nicknames_of(b):
        return "diminutive"
    if min(len(a), len(b)) >= 4 and (a.endswith(b) or b.endswith(a)):
        return "diminutive"
    genders = {a[-1], b[-1]} == {"a", "o"}
    alike = a[0] == b[0] or sounds(a)[:1] == sounds(b)[:1] not in ("a", "h")
    spelt = sounds(a) == sounds(b) or _misspelt(a, b)
    return "spelling" if spelt and alike and not genders and min(len(a), len(b)) > 2 else None


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
    (head, title), (last, latin_title) = title_of(chinese), title_of(latin)
    if title and latin_title:
        first, second = titles("zh").get(title), titles("en")[latin_title]
        sound = "".join(readings(head)) == last
        fits = not first or "*" in second.kinds or first.kinds & second.kinds
        return "titled_name" if sound and fits else "other_name"
    if title or latin_title:
        reading = "".join(readings(names.surname_of(chinese) or head))
        return "titled_name" if reading and reading in latin.split(" ") else "other_script"
    if latin.replace(" ", "") in _pinyin(chinese):
        return "pinyin"
    if same_nickname(chinese, latin):
        return "nickname"
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
