"""The reference memory server of the Model Context Protocol: ``memory.jsonl``, a line for each
entity with its observations and for each relation between two.

An entity whose type is a person's becomes an entry, what is observed of it memories, relations
between people relations; what it says of things are memories that name them.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from accounts.reasons import Reason
from imports.dumps.mem0 import MAX_MEMORIES, clean_text
from imports.dumps.person_fields import MAX_ENTRIES, RELATIONS, clean
from imports.formats.json_stream import json_lines, text_of
from imports.source import Source
from imports.types import Dump, Entry, NotReadable, Statement, Tie
from understanding import names
from understanding.lexicon import rows, words
from understanding.roles import roles_of
from understanding.text import is_chinese

NAME = "memory-graph"
_KINDS = {row["type"]: row for row in rows("graph_relations")}
_PERSON = words("person_types")
_LOOKED_AT = 20  # lines
_USER = 0  # in place of an entry's number


@dataclass(slots=True)
class _Entity:
    name: str
    is_person: bool
    role: str = ""
    observed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Graph:
    """What the lines say, entities of one name as one; ``relations``: from, type, to."""

    entities: dict[str, _Entity] = field(default_factory=dict)
    relations: list[tuple[str, str, str]] = field(default_factory=list)


def sniff(head: str) -> float:
    lines = [line for line in head.splitlines()[:_LOOKED_AT] if line.startswith("{")]
    marks = ('"entityType"', '"relationType"')
    return 0.95 if any(mark in line for mark in marks for line in lines) else 0.0


def read(source: Source, me: str | None) -> Dump:
    graph = _graph(source)
    people = [one for one in graph.entities.values() if one.is_person]
    if not graph.entities and not graph.relations:
        raise NotReadable("dump_empty")
    owners = {one.name: len(one.observed) for one in people}
    own = names.name_key(me) if me else ""
    if me and own not in {names.name_key(one.name) for one in people}:
        raise NotReadable("dump_no_such_owner", name=me, owners=", ".join(owners))
    return replace(_GraphReader(graph, own).dump(owners), skipped=source.skipped)


def _graph(source: Source) -> _Graph:
    graph, count = _Graph(), 0
    for number, row in json_lines(source):
        observed = _add_entity(graph, row) if row.get("type") == "entity" else None
        parts = [clean(text_of(row.get(key))) for key in ("from", "relationType", "to")]
        if observed is not None:
            count += observed
        elif row.get("type") == "relation" and all(parts):
            count += 1
            graph.relations.append((parts[0], parts[1], parts[2]))
        else:
            source.skipped.add(Reason("dump_line", number=number))
        if count > MAX_MEMORIES or len(graph.entities) > MAX_ENTRIES:
            raise NotReadable("dump_crowd", limit=MAX_MEMORIES)
    return graph


def _add_entity(graph: _Graph, row: Mapping[str, Any]) -> int | None:
    """Adds an entity and returns the number of its observations; None if the row is no entity."""
    name, kind = clean(text_of(row.get("name"))), clean(text_of(row.get("entityType")))
    observed = row.get("observations", [])
    key = names.name_key(name)
    if not key or not isinstance(observed, list) or not all(isinstance(o, str) for o in observed):
        return None
    word = kind.casefold().replace("_", " ").replace("-", " ")
    role = word if roles_of(word) else ""
    entity = graph.entities.setdefault(key, _Entity(name, False))
    entity.is_person = entity.is_person or word in _PERSON or bool(role)
    entity.role = entity.role or role
    entity.observed += [text for one in observed if (text := clean_text(one))]
    return len(observed)


class _GraphReader:
    """Turns a graph into entries, statements and ties. ``own`` is the key of the user's name, "" where
    the user is nobody of the graph."""

    def __init__(self, graph: _Graph, own: str) -> None:
        self.graph, self.own = graph, own
        people = [key for key, one in graph.entities.items() if one.is_person and key != own]
        self.numbers = {key: number for number, key in enumerate(people, 1)}
        self.relationships: dict[int, list[str]] = {
            number: [role] if (role := graph.entities[key].role) else []
            for key, number in self.numbers.items()
        }
        self.ties: list[Tie] = []
        self.statements: dict[str, Statement] = {}

    def dump(self, owners: Mapping[str, int]) -> Dump:
        for key, entity in self.graph.entities.items():
            for text in entity.observed:
                self._state(self._about(key, text), [key])
        for first, kind, second in self.graph.relations:
            self._relate(first, kind, second)
        entries = [
            Entry(number, self.graph.entities[key].name,
                  relationship=", ".join(dict.fromkeys(self.relationships[number])))
            for key, number in self.numbers.items()
        ]  # fmt: skip
        return Dump(
            NAME, tuple(entries), tuple(self.statements.values()), tuple(dict.fromkeys(self.ties)),
            owners, True,
        )  # fmt: skip

    def _number(self, key: str) -> int | None:
        return _USER if self.own and key == self.own else self.numbers.get(key)

    def _about(self, key: str, text: str) -> str:
        name = self._called(key, text)
        if name in text:
            return text
        return f"{name}{'：' if is_chinese(text) else ': '}{text}"

    def _called(self, key: str, text: str) -> str:
        if self._number(key) == _USER:
            return "用户" if is_chinese(text) else "The user"
        return self.graph.entities[key].name

    def _state(self, text: str, keys: list[str]) -> None:
        text = clean_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        numbers = [number for key in keys if (number := self._number(key)) is not None]
        people = tuple(number for number in numbers if number != _USER)
        self.statements.setdefault(
            digest, Statement(text, f"{NAME}:{digest}", people, _USER in numbers)
        )

    def _relate(self, first: str, kind: str, second: str) -> None:
        """A relation between two people, or what somebody is to the user; of a thing a memory."""
        keys = [names.name_key(first), names.name_key(second)]
        one, other = map(self._number, keys)
        if one is None or other is None or one == other:
            self._sentence(first, kind, second, keys)
            return
        relation = _read(kind)
        subject, thing = (other, one) if relation.swapped else (one, other)
        if _USER not in (subject, thing):
            self.ties.append(Tie(subject, relation.kind or _words(kind), thing))
        elif word := relation.kind if thing == _USER else relation.inverse:
            self.relationships[subject or thing].append(word)
        else:
            self._sentence(first, kind, second, keys)

    def _sentence(self, first: str, kind: str, second: str, keys: list[str]) -> None:
        words = _words(kind)
        space = "" if is_chinese(words) else " "
        parts = [
            self._called(key, words) if key in self.graph.entities else name
            for key, name in zip(keys, (first, second), strict=True)
        ]
        self._state(f"{parts[0]}{space}{words}{space}{parts[1]}", keys)


class _Kind(NamedTuple):
    """What the one is to the other, and the other to the one, "" where there is no word for it;
    ``swapped``: of the second to the first."""

    kind: str
    inverse: str
    swapped: bool = False


def _words(kind: str) -> str:
    """A type as words: ``worksWith``, ``WORKS_WITH`` are works with."""
    spaced = (
        f" {char}" if before.islower() and char.isupper() else char
        for before, char in pairwise(f" {kind}")
    )
    return " ".join("".join(spaced).replace("_", " ").casefold().split())


def _read(kind: str) -> _Kind:
    text = _words(kind)
    if text.startswith("has ") and _of_word(_bare(text[4:]))[0]:
        return _Kind(*_of_word(_bare(text[4:])), swapped=True)
    for word in (text, text.removeprefix("is "), _bare(text)):
        if row := _KINDS.get(word):
            return _Kind(*_of_word(word), swapped=row["of"] == "second")
    return _Kind(*_of_word(_bare(text)))


def _bare(text: str) -> str:
    """What is left of "is the sister of" without the words around its noun."""
    if is_chinese(text):
        return text.lstrip("是的").removesuffix("的")
    words = text.split()
    for around in (("is", "are", "was"), ("a", "an", "the")):
        words = words[1:] if len(words) > 1 and words[0] in around else words
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in ("of", "to") else words)


def _of_word(word: str) -> tuple[str, str]:
    """The kind and its inverse that a word stands for."""
    if row := _KINDS.get(word):
        return row["kind"], row["kind"] if row["mutual"] else row["inverse"]
    return (word, "") if word in RELATIONS or roles_of(word) else ("", "")
