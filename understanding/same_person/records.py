"""The record of a person, as comparison reads it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from understanding.same_person.text_overlap import Words, read, without_subject
from understanding.text import normalise
from understanding.types import Person

MAX_FACTS, MAX_FACT = 8, 300  # the newest facts of a contact, and characters of each


@dataclass(frozen=True)
class Record:
    """One person as recorded. ``facts`` are short free texts about them;
    ``attributes`` maps a key to its values, the current one first."""

    name: str
    aliases: tuple[str, ...] = ()
    relationship: str = ""
    gender: str = ""
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facts: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Everything the person is called, the name first."""
        return (self.name, *self.aliases)

    @cached_property
    def subjectless_facts(self) -> tuple[str, ...]:
        """The facts without the person's own name or role as their subject."""
        subjects = [*self.names, *(self.relationship + name for name in self.names)]
        return tuple(without_subject(text, subjects) for text in self.facts)

    @cached_property
    def normal_facts(self) -> tuple[str, ...]:
        """The facts in their normal form, in the same order."""
        return tuple(map(normalise, self.facts))

    @cached_property
    def normal_names(self) -> tuple[str, ...]:
        """The names in their normal form, in the same order."""
        return tuple(map(normalise, self.names))

    @cached_property
    def words(self) -> Words:
        """The words of the facts and attribute values, with their weights."""
        return self.words_beside(())

    def words_beside(self, texts: Collection[str]) -> Words:
        """The words of attribute values and of all facts except ``texts``, with their weights."""
        values = [value for values in self.attributes.values() for value in values]
        facts = (text for text in self.facts if text not in texts)
        return read([*facts, *values], without=self.names)

    @cached_property
    def role_words(self) -> Words:
        """The words of the relationship."""
        return read([self.relationship], without=self.names)

    @property
    def words_and_role(self) -> Words:
        """The words of the relationship, facts and attribute values, with their weights."""
        return {**self.role_words, **self.words}


def record(
    person: Person, attributes: Mapping[str, Sequence[Mapping[str, Any]]], facts: Iterable[str]
) -> Record:
    """Builds the record of a contact from the person, ``attributes`` as in ``Contact.attributes``,
    and texts of memories about them, of which the first ``MAX_FACTS`` are read."""
    return Record(
        name=person.name,
        aliases=person.aliases,
        relationship=person.relationship,
        gender=person.gender,
        attributes={
            key: tuple(str(v["value"]) for v in values) for key, values in attributes.items()
        },
        facts=tuple(text[:MAX_FACT] for text in islice(facts, MAX_FACTS)),
    )
