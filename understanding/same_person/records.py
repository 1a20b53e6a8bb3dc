"""A person's record as comparison sees it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from understanding.same_person.text_overlap import Words, read, without_subject
from understanding.text import normalise
from understanding.types import Person

# What is read of a contact with many memories: the newest ones, each up to so many characters.
MAX_FACTS, MAX_FACT = 8, 300


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
    def told(self) -> tuple[str, ...]:
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
        """What the facts and attribute values say, as weighted words."""
        return self.words_beside(())

    def words_beside(self, texts: Collection[str]) -> Words:
        """The same, without those of the facts ``texts``."""
        values = [value for values in self.attributes.values() for value in values]
        facts = (text for text in self.facts if text not in texts)
        return read([*facts, *values], without=self.names)

    @cached_property
    def role_words(self) -> Words:
        """The words of the relationship."""
        return read([self.relationship], without=self.names)

    @property
    def words_and_role(self) -> Words:
        """All words that the record says of the person."""
        return {**self.role_words, **self.words}


def record(
    person: Person,
    attributes: Mapping[str, Sequence[Mapping[str, Any]]],
    facts: Iterable[str],
) -> Record:
    """The record of a contact: who it is, the ``attributes`` as Contact holds them, and texts
    of memories about it, of which the first are read."""
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
