"""The file ``memory.jsonl`` of the reference memory server of the Model Context Protocol: a line
for each entity with its observations, and for each relation between two entities.

An entity whose type is a person's becomes an entry, its observations memories, relations between
people relations; what the file states about things becomes memories that name them."""

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
from understanding.languages import language_of_text, wording
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
    """The content of a file, entities of one name as one. ``relations`` are (from, type, to)."""

    entities: dict[str, _Entity] = field(default_factory=dict)
    relations: list[tuple[str, str, str]] = field(default_factory=list)


def sniff(head: str) -> float:
    lines = [line for line in head.splitlines()[:_LOOKED_AT] if line.startswith("{")]
    marks = ('"entityType"', '"relationType"')
    return 0.95 if any(mark in line for mark in marks for line in lines) else 0.0


def read(source: Source, me: str | None) -> Dump:
    graph = _read_graph(source)
    people = [one for one in graph.entities.values() if one.is_person]
    if not graph.entities and not graph.relations:
        raise NotReadable("dump_empty")
    owners = {one.name: len(one.observed) for one in people}
    user_key = names.name_key(me) if me else ""
    if me and user_key not in {names.name_key(one.name) for one in people}:
        raise NotReadable("dump_no_such_owner", name=me, owners=", ".join(owners))
    return replace(_GraphReader(graph, user_key).dump(owners), skipped=source.skipped)


def _read_graph(source: Source) -> _Graph:
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
    """Turns a graph into entries, statements and ties. ``user_key`` is the key of the user's name,
    "" if the user is nobody in the graph."""

    def __init__(self, graph: _Graph, user_key: str) -> None:
        self.graph, self.user_key = graph, user_key
        people = [key for key, one in graph.entities.items() if one.is_person and key != user_key]
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
                self._add_statement(self._with_name(key, text), [key])
        for first, kind, second in self.graph.relations:
            self._add_relation(first, kind, second)
        entries = [
            Entry(number, self.graph.entities[key].name,
                  relationship=", ".join(dict.fromkeys(self.relationships[number])))
            for key, number in self.numbers.items()
        ]  # fmt: skip
        return Dump(
            NAME, tuple(entries), tuple(self.statements.values()), tuple(dict.fromkeys(self.ties)),
            owners, True,
        )  # fmt: skip

    def _number_of(self, key: str) -> int | None:
        """Returns the number of a person, _USER for the user, None for a thing."""
        return _USER if self.user_key and key == self.user_key else self.numbers.get(key)

    def _with_name(self, key: str, text: str) -> str:
        """Returns a text about an entity, with the name before it if the text lacks it."""
        name = self._name_for(key, text)
        if name in text:
            return text
        return f"{name}{wording(language_of_text(text))['colon']}{text}"

    def _name_for(self, key: str, text: str) -> str:
        """Returns an entity's name; the user's is "The user" in the language of ``text``."""
        if self._number_of(key) == _USER:
            return wording(language_of_text(text))["user"].capitalize()
        return self.graph.entities[key].name

    def _add_statement(self, text: str, keys: list[str]) -> None:
        text = clean_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        numbers = [number for key in keys if (number := self._number_of(key)) is not None]
        people = tuple(number for number in numbers if number != _USER)
        self.statements.setdefault(
            digest, Statement(text, f"{NAME}:{digest}", people, _USER in numbers)
        )

    def _add_relation(self, first: str, kind: str, second: str) -> None:
        """Adds a relation of two people or of somebody to the user, or a memory about a thing."""
        keys = [names.name_key(first), names.name_key(second)]
        number, other = map(self._number_of, keys)
        if number is None or other is None or number == other:
            self._add_sentence(first, kind, second, keys)
            return
        relation = _read_kind(kind)
        subject, target = (other, number) if relation.swapped else (number, other)
        if _USER not in (subject, target):
            self.ties.append(Tie(subject, relation.kind or _words(kind), target))
        elif word := relation.kind if target == _USER else relation.inverse:
            self.relationships[subject or target].append(word)
        else:
            self._add_sentence(first, kind, second, keys)

    def _add_sentence(self, first: str, kind: str, second: str, keys: list[str]) -> None:
        words = _words(kind)
        space = wording(language_of_text(words))["space"]
        parts = [
            self._name_for(key, words) if key in self.graph.entities else name
            for key, name in zip(keys, (first, second), strict=True)
        ]
        self._add_statement(f"{parts[0]}{space}{words}{space}{parts[1]}", keys)


class _Kind(NamedTuple):
    """What the first entity is to the second (if ``swapped``, the second to the first), and the
    inverse; "" if there is no word for it."""

    kind: str
    inverse: str
    swapped: bool = False


def _words(kind: str) -> str:
    """Returns a type as words: ``worksWith`` and ``WORKS_WITH`` are "works with"."""
    spaced = (
        f" {char}" if before.islower() and char.isupper() else char
        for before, char in pairwise(f" {kind}")
    )
    return " ".join("".join(spaced).replace("_", " ").casefold().split())


def _read_kind(kind: str) -> _Kind:
    text = _words(kind)
    if text.startswith("has ") and _kind_and_inverse(_bare(text[4:]))[0]:
        return _Kind(*_kind_and_inverse(_bare(text[4:])), swapped=True)
    for word in (text, text.removeprefix("is "), _bare(text)):
        if row := _KINDS.get(word):
            return _Kind(*_kind_and_inverse(word), swapped=row["of"] == "second")
    return _Kind(*_kind_and_inverse(_bare(text)))


def _bare(text: str) -> str:
    """Returns the noun of "is the sister of", without the words around it."""
    if is_chinese(text):
        return text.lstrip("是的").removesuffix("的")
    words = text.split()
    for around in (("is", "are", "was"), ("a", "an", "the")):
        words = words[1:] if len(words) > 1 and words[0] in around else words
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in ("of", "to") else words)


def _kind_and_inverse(word: str) -> tuple[str, str]:
    """Returns the kind that a word stands for, and its inverse; "" for none."""
    if row := _KINDS.get(word):
        return row["kind"], row["kind"] if row["mutual"] else row["inverse"]
    return (word, "") if word in RELATIONS or roles_of(word) else ("", "")
