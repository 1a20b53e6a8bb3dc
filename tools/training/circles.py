"""Pairs of records in one circle of contacts of the corpus: people who stand side by side are two, as
nearly all pairs of a user's people are; two names of one person, each as a record of its own, are one."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from tools.training import by_author
from understanding.same_person.features import Sign, signs
from understanding.same_person.records import Record, record
from understanding.same_person.text_overlap import rarity_of
from understanding.types import Person

FILES = ("mentions", "pronouns", "extraction")
# A person of a case; two cases mean one by the same name and relationship.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Circle:
    """The people of an author with the messages that are about each, and the pairs of them that
    stand in one case side by side. ``rarity`` and ``crowd`` are as ``signs`` takes them."""

    records: Mapping[Key, Record]
    pairs: tuple[tuple[Key, Key], ...]
    rarity: Mapping[str, float]
    crowd: Mapping[str, float]

    @property
    def apart(self) -> Iterator[list[Sign]]:
        """The signs of each pair of two people."""
        for first, second in self.pairs:
            yield self._signs(self.records[first], self.records[second])

    @property
    def twice(self) -> Iterator[list[Sign]]:
        """The signs of each person who has aliases and one of these, as if they had been met
        under both: the messages that say the alias are about the one, all others about the other."""
        for person in self.records.values():
            for alias in person.aliases:
                with_alias = tuple(text for text in person.facts if alias in text)
                yield self._signs(
                    replace(
                        person,
                        aliases=tuple(name for name in person.aliases if name != alias),
                        facts=tuple(text for text in person.facts if text not in with_alias),
                    ),
                    Record(alias, facts=with_alias),
                )

    def _signs(self, first: Record, second: Record) -> list[Sign]:
        return signs(first, second, self.rarity, self.crowd)


def circles(*others: Path) -> dict[str, Circle]:
    """The circle of each author of the corpus, and of those of other folders."""
    mentions, pronouns, talks = (by_author.authors(name, *others) for name in FILES)
    return {
        name: _circle([*mentions[name], *pronouns[name], *map(_as_case, talks[name])])
        for name in mentions
    }


def _as_case(talk: by_author.Case) -> by_author.Case:
    """A talk of ``extraction`` as a case of its people, and what it says about each."""
    gold = talk["gold"]
    contacts = [{"key": one["name"], **one} for one in gold["contacts"]]
    said = [(memory["content"], memory["person"]) for memory in gold["memories"]]
    return {"contacts": contacts, "said": said}


def _circle(cases: list[by_author.Case]) -> Circle:
    people: dict[Key, Person] = {}
    messages: dict[Key, list[str]] = defaultdict(list)
    attributes: dict[Key, dict[str, list[Any]]] = defaultdict(dict)
    pairs: dict[tuple[Key, Key], None] = {}
    for case in cases:
        keys = {one["key"]: (one["name"], one["relationship"]) for one in case["contacts"]}
        people |= {keys[one["key"]]: _person(one) for one in case["contacts"]}
        pairs |= dict.fromkeys(_apart(keys.values()))
        for one in case["contacts"]:
            values = one.get("attributes", {}).items()
            attributes[keys[one["key"]]] |= {key: [{"value": value}] for key, value in values}
        said = (
            case["said"] if "said" in case else [(case["message"], key) for key in case["expect"]]
        )
        for text, key in said:
            if key in keys:
                messages[keys[key]].append(text)
    records = {
        key: record(one, attributes[key], dict.fromkeys(messages[key]))
        for key, one in people.items()
    }
    rarity = rarity_of([one.words_and_role for one in records.values()])
    crowd = rarity_of([{one.relationship: 1.0} for one in records.values()])
    return Circle(records, tuple(pairs), rarity, crowd)


def _apart(keys: Any) -> Iterator[tuple[Key, Key]]:
    yield from (pair for pair in combinations(sorted(set(keys)), 2) if pair[0][0] != pair[1][0])


def _person(one: Mapping[str, Any]) -> Person:
    return Person(
        uuid5(NAMESPACE_OID, one["name"]),
        one["name"],
        tuple(one.get("aliases", ())),
        one["relationship"],
        one.get("gender") or "",
    )
