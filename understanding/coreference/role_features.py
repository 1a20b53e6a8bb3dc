"""Role words and genders of ``understanding.roles`` as pronoun resolution asks for them."""

from functools import lru_cache

from understanding.lexicon import titles, words
from understanding.lexicon.rules import patterns
from understanding.roles import Role, roles_of
from understanding.types import Person

_LEX = patterns(__file__)


def noun_gender(noun: str) -> str:
    """The gender that a common noun for a person carries, or nothing."""
    if _LEX.female_noun.search(noun):
        return "female"
    return "male" if _LEX.male_noun.search(noun) else ""


def gender_of(word: str) -> str:
    """The gender that a role word implies, or nothing."""
    genders = {role.gender for role in roles_of(word)}
    return genders.pop() if len(genders) == 1 else ""


def is_called(person: Person, word: str) -> bool:
    """Whether ``person`` is what the role word says: by relationship, alias or title."""
    asked = roles_of(word)
    return any(
        word in text.lower() or any(a.fits(b) for a in asked for b in roles_of(text))
        for text in (person.relationship, *person.aliases)
        if text
    )


def same_kind(word: str, kind: str) -> bool:
    """Whether a relation of this ``kind`` may be spoken of as ``word``."""
    if word == kind:
        return True
    stated = roles_of(kind) or (Role(kind, ""),)
    return any(asked.fits(role) or role.fits(asked) for asked in roles_of(word) for role in stated)


def is_role(word: str) -> bool:
    """Whether ``word`` is what somebody is to another, or an occupation."""
    return bool(roles_of(word)) or word in _LISTED


_LISTED = words("strangers", "people_zh", "people_en") - words("strangers", "known_zh", "known_en")
_OLD, _YOUNG = words("role_ages", "old"), words("role_ages", "young")


def noun_age(text: str) -> str:
    """Whether a phrase is of the old or the young, or nothing."""
    if _LEX.old.search(text):
        return "old"
    return "young" if _LEX.young.search(text) else ""


@lru_cache(maxsize=16384)
def person_age(person: Person) -> str:
    """Whether what somebody is to the user makes them old or young, or nothing."""
    roles = roles_of(person.relationship)
    if any(role.kind in _OLD or "older" in role.tags for role in roles):
        return "old"
    if any(role.kind in _YOUNG or "younger" in role.tags for role in roles):
        return "young"
    return ""


@lru_cache(maxsize=16384)
def person_gender(person: Person) -> str:
    """What is recorded, else what the relationship or a form of address says."""
    if person.gender:
        return person.gender
    texts = (person.relationship, *person.aliases, person.name)
    for text in texts:
        if gender := gender_of(text):
            return gender
    for text in texts:
        for size in (2, 1):
            title = titles("zh").get(text[-size:])
            if title and title.gender and len(text) > size:
                return title.gender
    return ""
