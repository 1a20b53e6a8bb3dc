"""The word tables of the offline provider, read once from the files beside this module."""

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.resources import files

from contacts.text import normalise
from memories.types import Subtype


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of person: ``kind`` is language-free, ``zh``/``en`` are its plain labels."""

    kind: str
    zh: str
    en: str
    gender: str
    subtype: Subtype
    bare: bool


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath("lexicons").joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@lru_cache
def relations() -> dict[str, Relation]:
    """Every relation word, Chinese or English (folded, hyphens as spaces), with its kind."""
    table: dict[str, Relation] = {}
    for line in _lines("relations.tsv"):
        kind, zh, en, gender, subtype, bare, zh_words, en_words = line.split("\t")
        name = {"f": "female", "m": "male"}.get(gender, "")
        relation = Relation(kind, zh, en, name, Subtype(subtype), bare == "yes")
        for word in zh_words.split():
            table[word] = relation
        for word in en_words.split():
            table[normalise(word)] = relation
            table[normalise(word).replace("-", " ")] = relation
    return table


@lru_cache
def chinese_relation_words() -> tuple[str, ...]:
    """Chinese relation words, longest first."""
    words = [word for word in relations() if not word.isascii()]
    words = [word for word in words if any("一" <= char <= "鿿" for char in word)]
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


@lru_cache
def english_relation_words() -> tuple[str, ...]:
    """English relation words, longest first."""
    chinese = set(chinese_relation_words())
    words = [word for word in relations() if word not in chinese]
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


# Whose given names count as such: the locales of Faker whose names are in Latin script.
_LOCALES = (
    "en_US en_GB en_IN en_NZ en_IE en_NG de_DE fr_FR es_ES es_MX it_IT pt_BR nl_NL sv_SE pl_PL"
).split()
# Short and romanised names that are common in chats and in no locale. Compiled by hand.
_MORE_NAMES = {
    "female": "aiko cici coco gigi haruka jisoo lulu mei minji momo sakura vivian yuki",
    "male": "anil chidi dmitri eason gabe hiro kenji kofi kwame raj sanjay tariq vikram",
    "": "hyun jojo ling wei will art candy",
}


@lru_cache
def given_names() -> dict[str, str]:
    """Folded given names in Latin script with gender (female, male or empty), from the
    locales of the Faker package; a name of both is what it is in twice as many locales."""
    counts: dict[str, list[int]] = {}
    for locale in _LOCALES:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for place, column in enumerate(("first_names_female", "first_names_male")):
            for name in {normalise(name) for name in getattr(provider, column, ())}:
                counts.setdefault(name, [0, 0])[place] += 1
    table = {
        name: "female" if f >= 2 * m else "male" if m >= 2 * f else ""
        for name, (f, m) in counts.items()
    }
    return table | {name: gender for gender, names in _MORE_NAMES.items() for name in names.split()}


@lru_cache
def surnames() -> frozenset[str]:
    """Chinese surnames of one or two characters."""
    single, double = _lines("surnames_zh.txt")
    return frozenset(single) | frozenset(double.split())


@lru_cache
def english_places() -> frozenset[str]:
    """Places in Latin script."""
    return frozenset(line.split("|")[0] for line in _lines("places_en.txt"))


@lru_cache
def demonyms() -> dict[str, str]:
    """English nationality words and the country of each."""
    rows = (line.split("|") for line in _lines("places_en.txt") if "|" in line)
    return {row[1]: row[0] for row in rows}
