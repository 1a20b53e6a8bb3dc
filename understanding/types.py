"""Persons, name keys and mentions: the types of matching, free of Django."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from accounts.reasons import Reason

How = Literal[
    "name", "alias", "kinship", "fuzzy", "pronoun", "semantic", "conversation", "reference", "model"
]


@dataclass(frozen=True, slots=True)
class Person:
    """A contact for matching. ``gender`` is female, male or empty (unknown); ``relationship`` is to
    the end user, in the end user's words."""

    id: UUID
    name: str
    aliases: tuple[str, ...] = ()
    relationship: str = ""
    gender: str = ""


@dataclass(frozen=True, slots=True)
class NameKey:
    """One normalised way to find a person: ``key`` is looked up, ``how`` is the kind of a hit (a
    ``How``, or semantic for a known value), ``text`` the name, alias, relationship or value that
    the key was made from."""

    key: str
    how: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a person, as the index of a user's names returns it."""

    key: NameKey
    person: Person


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that refers to a person. ``start`` and ``end`` count code points of the
    text as given; both are 0 if no words refer to the person and only the conversation or fitting
    memories do. ``confidence`` is in 0..1; ``reason`` explains it to people."""

    person: Person
    start: int
    end: int
    text: str
    how: How
    confidence: float
    reason: Reason | str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A turn of a conversation with its mentions. ``role`` is user or assistant; ``understood`` are
    the people whom the turn is about according to a reader of the whole conversation."""

    role: str
    text: str
    mentions: tuple[Mention, ...] = ()
    understood: tuple[Person, ...] = ()
