"""What taking in the people and memories of a file would do, worked out before anything is written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from accounts.models import EndUser
from contacts import relations
from contacts.address_books.entries import RELATIONS, Entry
from contacts.address_books.entry_matching import Circle, Known, Matched, match
from contacts.models import Relation
from imports.types import Dump, Statement
from memories.models import Memory
from memories.models.memory import content_hash
from understanding.statements.secrets import cleared
from understanding.text import truncate

# Graphemes of a note that are kept as a memory.
MAX_NOTE = 2000


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is not there yet, and whom it is about."""

    content: str
    key: str
    people: tuple[Known, ...]
    at: datetime | None
    metadata: Mapping[str, Any]
    note_of: Known | None = None


@dataclass(frozen=True, slots=True)
class NewRelation:
    subject: Known
    kind: str
    object: Known


@dataclass(frozen=True, slots=True)
class Plan:
    """``known_memories`` counts those that are there already."""

    dump: Dump
    matched: Sequence[Matched]
    memories: Sequence[NewMemory]
    relations: Sequence[NewRelation]
    known_memories: int

    @property
    def counts(self) -> dict[str, int]:
        found = dict.fromkeys(("new", "changed", "same", "undecided", "skipped"), 0)
        for one in self.matched:
            found[one.outcome] += 1
        return {
            "entries": len(self.matched),
            **found,
            "relations": len(self.relations),
            "memories": len(self.memories),
            "known_memories": self.known_memories,
            "left_out": self.dump.left_out,
            "unreadable": self.dump.skipped.count,
        }

    @property
    def figures(self) -> dict[str, Any]:
        """What a command tells of it."""
        counts = self.counts
        return {
            "format": self.dump.format,
            "entries": counts["entries"],
            "created": counts["new"],
            "updated": counts["changed"],
            "same": counts["same"],
            "undecided": counts["undecided"],
            "skipped": counts["skipped"],
            "relations": counts["relations"],
            "notes": counts["memories"],
            "left_out": counts["left_out"],
            "unreadable": counts["unreadable"],
        }


def plan(end_user: EndUser, dump: Dump, choices: Mapping[int, str] | None = None) -> Plan:
    """What would become of a file for an end user; ``choices`` as ``match`` takes them. Raises
    UnknownChoice."""
    stated = cleared(dump.statements)
    left_out = dump.left_out + len(dump.statements) - len(stated)
    dump = replace(
        dump,
        entries=cleared(dump.entries),
        statements=stated,
        ties=cleared(dump.ties),
        left_out=left_out,
    )
    entries = [_in_language(entry, end_user.language) for entry in dump.entries]
    matched, circle = match(end_user, entries, choices)
    known = {one.entry.number: one.known for one in matched if one.known is not None}
    memories = list(_stated(end_user, dump, matched, known))
    held = _held(end_user, memories)
    fresh: dict[str, NewMemory] = {}
    for memory in memories:
        if not _is_held(memory, held):
            fresh.setdefault(memory.key, memory)
    return Plan(
        dump,
        matched,
        list(fresh.values()),
        list(_relations(end_user, dump, matched, known, circle)),
        len({memory.key for memory in memories}) - len(fresh),
    )


def _in_language(entry: Entry, language: str) -> Entry:
    words = [_word(word, language) for word in entry.relationship.split(", ")]
    return replace(entry, relationship=", ".join(words))


def _word(kind: str, language: str) -> str:
    return RELATIONS.get(kind, kind) if language == "zh" else kind


def _stated(
    end_user: EndUser, dump: Dump, matched: Sequence[Matched], known: Mapping[int, Known]
) -> Iterator[NewMemory]:
    """All that a file says in words of those who are taken in, and of the user."""
    for one in matched:
        if one.known is not None:
            for note in one.entry.notes:
                yield _of_note(end_user, one.known, truncate(note, MAX_NOTE))
    for statement in dump.statements:
        people = tuple(known[number] for number in statement.of if number in known)
        if people or statement.of_user or not statement.of:
            yield _of_statement(statement, people)


def _of_note(end_user: EndUser, person: Known, note: str) -> NewMemory:
    line = " ".join(note.split())
    named = any(name in line for name in (person.name, *person.aliases))
    colon = "：" if end_user.language == "zh" else ": "
    content = line if named else f"{person.name}{colon}{line}"
    noted = {"vcard_note": note}
    return NewMemory(content, content_hash(content), (person,), None, noted, person)


def _of_statement(statement: Statement, people: tuple[Known, ...]) -> NewMemory:
    noted = {**statement.metadata, "imported": statement.ident}
    key = content_hash(statement.text)
    return NewMemory(statement.text, key, people, statement.at, noted)


@dataclass(frozen=True, slots=True)
class _Held:
    """What is there already: words, what was imported, and notes of whom, even if they were taken
    away since."""

    keys: frozenset[str]
    idents: frozenset[str]
    notes: frozenset[tuple[str, str]]


def _held(end_user: EndUser, memories: Sequence[NewMemory]) -> _Held:
    if not memories or end_user.pk is None:
        return _Held(frozenset(), frozenset(), frozenset())
    rows = Memory.objects.of(end_user)
    said = rows.active().filter(content_hash__in={memory.key for memory in memories})
    imported = rows.filter(metadata__has_key="imported").values_list("metadata__imported")
    notes = rows.filter(metadata__has_key="vcard_note")
    return _Held(
        frozenset(said.values_list("content_hash", flat=True)),
        frozenset(ident for (ident,) in imported),
        frozenset(notes.values_list("metadata__vcard_note", "metadata__vcard_of")),
    )


def _is_held(memory: NewMemory, held: _Held) -> bool:
    if memory.key in held.keys:
        return True
    if memory.note_of is not None:
        return (memory.metadata["vcard_note"], memory.note_of.key) in held.notes
    return memory.metadata["imported"] in held.idents


def _relations(
    end_user: EndUser,
    dump: Dump,
    matched: Sequence[Matched],
    known: Mapping[int, Known],
    circle: Circle,
) -> Iterator[NewRelation]:
    """The relations to people who are known then, each once, that nobody has stated yet."""
    there = set()
    if end_user.pk is not None:
        rows = Relation.objects.of(end_user).values_list("subject", "kind", "object")
        there = {(str(one), kind, str(other)) for one, kind, other in rows}
    for found in _named_relations(dump, matched, known, circle):
        kind = relations.cleaned(_word(found.kind, end_user.language))
        key = (found.subject.key, kind, found.object.key)
        if kind and found.subject is not found.object and key not in there:
            there.add(key)
            yield replace(found, kind=kind)


def _named_relations(
    dump: Dump, matched: Sequence[Matched], known: Mapping[int, Known], circle: Circle
) -> Iterator[NewRelation]:
    for one in matched:
        if one.known is None:
            continue
        for related in one.entry.related:
            found = [other for other in circle.find(related.name) if other is not one.known]
            if len(found) == 1:
                yield NewRelation(found[0], related.kind, one.known)
    for tie in dump.ties:
        if tie.subject in known and tie.object in known:
            yield NewRelation(known[tie.subject], tie.kind, known[tie.object])
