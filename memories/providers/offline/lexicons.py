"""Relations, given names, places and surnames as the offline provider reads them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

from contacts.lexicon import mapping, rows, words
from contacts.text import HAN, normalise
from memories.types import Subtype


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of person: ``kind`` is language-free, ``zh``/``en`` are its plain labels; the
    rest is as relations.tsv says."""

    kind: str
    zh: str
    en: str
    gender: str
    subtype: Subtype
    bare: bool
    labelled: bool = False
    of_topic: bool = False
    ended_zh: str = ""
    ended_en: str = ""


@lru_cache
def relations() -> dict[str, Relation]:
    """Every relation word, Chinese or English (folded, hyphens as spaces), with its kind."""
    known = {
        row["relation"]: Relation(
            kind=row["relation"],
            zh=row["zh"],
            en=row["en"],
            gender=row["gender"],
            subtype=Subtype(row["subtype"]),
            bare=bool(row["bare"]),
            labelled=bool(row["labelled"]),
            of_topic=bool(row["of_topic"]),
            ended_zh=row["ended_zh"],
            ended_en=row["ended_en"],
        )
        for row in rows("relations")
    }
    table: dict[str, Relation] = {}
    for row in rows("roles"):
        if row["relation"]:
            word = normalise(row["word"]) if row["language"] == "en" else row["word"]
            for form in (word, word.replace(" ", "-"), word.replace("-", " ")):
                table[form] = known[row["relation"]]
    return table


@lru_cache
def chinese_relation_words() -> tuple[str, ...]:
    """Chinese relation words, longest first."""
    return _longest_first(word for word in relations() if HAN.search(word))


@lru_cache
def english_relation_words() -> tuple[str, ...]:
    """English relation words, longest first."""
    return _longest_first(word for word in relations() if not HAN.search(word))


def _longest_first(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


# Whose given names count as such: the locales of Faker whose names are in Latin script.
_LOCALES = (
    "en_US en_GB en_IN en_NZ en_IE en_NG de_DE fr_FR es_ES es_MX it_IT pt_BR nl_NL sv_SE pl_PL"
).split()


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
    return {**table, **mapping("nicknames", "gender")}


@lru_cache
def surnames() -> frozenset[str]:
    """Chinese surnames of one or two characters."""
    return words("surnames", "reader")


@lru_cache
def english_places() -> frozenset[str]:
    """Places in Latin script."""
    return words("places_en", "known")


def demonyms() -> Mapping[str, str]:
    """English nationality words and the country of each."""
    return mapping("demonyms", "place")
