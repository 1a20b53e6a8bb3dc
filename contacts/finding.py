"""Finding a person while their name is being typed: by characters, pinyin or initials.

A person has a key for every part of their names that somebody may begin with (小红: 小红, 红,
xiaohong, hong, xh). What is typed is the beginning of such a key, so one range of the index
that finds names in texts finds it as well. No text holds these keys: they carry a prefix.
"""

from collections.abc import Iterator

from contacts import attribute_index
from contacts.names import is_cjk, is_han, name_key, readings, syllable
from contacts.types import NameKey, Person

PREFIX = "find:"
# Bounds the keys of one name, and of one person with many aliases.
MAX_PARTS, MAX_KEYS, MAX_LENGTH = 8, 160, 60
MAX_SORT_KEY = 200


def keys_of(person: Person) -> Iterator[NameKey]:
    """Every key that typing one of the person's names or aliases may begin."""
    found: dict[str, str] = {}
    for text in (person.name, *person.aliases):
        for form in _forms(name_key(text)):
            found.setdefault(form[:MAX_LENGTH], text)
    for form in list(found)[:MAX_KEYS]:
        # "fuzzy": where somebody looks for a name, these say nothing.
        yield NameKey(PREFIX + form, "fuzzy", found[form])


def typed(text: str) -> str:
    """What was typed as the beginning of a key, "" when it holds no letter or digit."""
    form = name_key(text).replace(" ", "")
    return PREFIX + form[:MAX_LENGTH] if form else ""


def company(text: str) -> list[str]:
    """The keys of people who work at what was typed; the first may be the beginning of one."""
    return attribute_index.keys_for("company", text)


def sort_key(name: str) -> str:
    """By what a list orders a name: Chinese by how it is read, syllable by syllable, among
    the words of other scripts."""
    return " ".join(_read(name_key(name))[1])[:MAX_SORT_KEY]


def _read(key: str) -> tuple[list[str], list[str]]:
    """The units of a name and how each is read."""
    units = _units(key)
    sounds = readings(key) if key and all(map(is_han, key)) else []
    if len(sounds) != len(units):
        sounds = [_sound(unit) for unit in units]
    return units, sounds


def _forms(key: str) -> Iterator[str]:
    units, sounds = _read(key)
    initials = [sound[:1] for sound in sounds]
    for start in range(min(len(units), MAX_PARTS)):
        yield "".join(units[start:])
        sound = "".join(sounds[start:])
        yield sound
        if "v" in sound:  # 吕 is typed lv or lu
            yield sound.replace("v", "u")
        if len(units) - start > 1:
            yield "".join(initials[start:])


def _units(key: str) -> list[str]:
    """The characters of a Chinese name and the words of another."""
    spaced = "".join(f" {char} " if is_cjk(char) else char for char in key)
    return spaced.split()


def _sound(unit: str) -> str:
    return syllable(unit) if len(unit) == 1 and is_han(unit) else unit
