"""Persons, name keys and mentions: what matching works on, free of Django."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from accounts.reasons import Reason

How = Literal[
    "name",
    "alias",
    "kinship",
    "fuzzy",
    "pronoun",
    "semantic",
    "conversation",
    "reference",
    "model",
]


@dataclass(frozen=True, slots=True)
class Person:
    """A contact as matching sees it. ``gender`` is female, male or empty (unknown);
    ``relationship`` is to the end user, in the end user's words."""

    id: UUID
    name: str
    aliases: tuple[str, ...] = ()
    relationship: str = ""
    gender: str = ""


@dataclass(frozen=True, slots=True)
class NameKey:
    """One normalised way to find a person: ``key`` is what is looked up, ``how`` what a hit
    would be (a ``How``, or semantic for what is known of a person), ``text`` the name, alias,
    relationship or value that it was made from."""

    key: str
    how: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a person, as it comes back from the index of a user's names."""

    key: NameKey
    person: Person


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that refers to a person. ``start`` and ``end`` count code points of
    the text as given, and are 0 for whom no words of it name: only the conversation before it is
    about them, or memories that fit it;
    ``confidence`` is in 0..1; ``reason`` says why, for people."""

    person: Person
    start: int
    end: int
    text: str
    how: How
    confidence: float
    reason: Reason | str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A turn of a conversation with the mentions found in it. ``role`` is user or assistant;
    ``understood`` are those whom somebody who read the whole conversation found it to be about."""

    role: str
    text: str
    mentions: tuple[Mention, ...] = ()
    understood: tuple[Person, ...] = ()
