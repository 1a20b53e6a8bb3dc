"""People and memories of a file become contacts, relations and memories: planned before anything is
written, then taken in as one change, which undo takes back. The same file again changes nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.fair_queue import put
from accounts.models import Change, EndUser
from contacts import edit, relations, store
from contacts.address_books.entries import RELATIONS, Entry
from contacts.address_books.entry_matching import Circle, Known, Matched, match
from contacts.models import Contact, Relation
from imports.models import Import
from imports.types import Dump, NotReadable, Statement
from memories import queue
from memories.corrections import auto_merge
from memories.models import Link, Memory
from memories.models.memory import content_hash
from memories.search import context_tokens
from memories.types import MemoryType, Subtype
from understanding.attributes import is_single
from understanding.statements.secrets import cleared
from understanding.text import truncate

VERB = "import_people"
# Who said what an address book notes; what a dump holds was said by "import:" and its format.
NOTED_BY = "operator:vcard"
CHUNK = 500
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


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What was done, and the change to undo it by; None where there was nothing to do."""

    plan: Plan
    change: Change | None


@atomic()
def take_in(
    end_user: EndUser, dump: Dump, choices: Mapping[int, str] | None = None, *, actor: str
) -> TakenIn:
    """Takes in all that is planned, or nothing. Raises UnknownChoice, and NotReadable where the
    user has been forgotten."""
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        raise NotReadable("user_forgotten")
    wanted = plan(held, dump, choices)
    counts = wanted.counts
    if not any(counts[name] for name in ("new", "changed", "relations", "memories")):
        return TakenIn(wanted, None)
    with recording(held, VERB, actor) as (recorder, change):
        touched = {
            **_create(held, wanted, recorder),
            **_add_to(wanted, recorder),
        }
        told = _relate(held, wanted.relations, recorder) | _remember(held, wanted, recorder)
        _render(held, told)
        touched |= told
        change.subjects = [str(pk) for pk in touched]
        put(settings.MIO_CONTACTS_CREATED, str(change.id), end_user_id=held.pk)
        if wanted.memories:
            queue.enqueue("read_facts", held.pk)
            queue.enqueue("embed", held.pk)
    auto_merge.follow(held)
    return TakenIn(wanted, change)


def _create(end_user: EndUser, wanted: Plan, recorder: Recorder) -> dict[UUID, None]:
    """Makes the new contacts. Two telephone numbers of one are both right."""
    made: dict[UUID, None] = {}
    fresh = [
        (one.known, one.namesake) for one in wanted.matched if one.known and one.outcome == "new"
    ]
    for start in range(0, len(fresh), CHUNK):
        chunk, contacts = fresh[start : start + CHUNK], []
        for known, _ in chunk:
            named = {"name": known.name, "aliases": known.aliases}
            contact = edit.unsaved(end_user, {**named, **_values(known)})
            contact.side_by_side = sorted(
                key for key, held in known.attributes.items() if len(held) > 1 and is_single(key)
            )
            known.contact = contact
            contacts.append(contact)
        namesakes = {place for place, (_, namesake) in enumerate(chunk) if namesake}
        if taken := store.create_all(end_user, contacts, namesakes):
            raise AssertionError(f"names that were free are taken at {sorted(taken)}")
        recorder.watch(contacts, created=True)
        made |= dict.fromkeys(contact.pk for contact in contacts)
    return made


def _values(known: Known) -> dict[str, Any]:
    values: dict[str, Any] = {
        "attributes": {k: held for k, held in known.attributes.items() if held}
    }
    if known.relationship:
        values["relationship"] = known.relationship[:200]
    if known.gender:
        values["gender"] = known.gender
    return values


def _add_to(wanted: Plan, recorder: Recorder) -> dict[UUID, None]:
    """Adds to contacts what entries say of them and wasn't known."""
    told: dict[str, tuple[Known, dict[str, None]]] = {}
    for one in wanted.matched:
        if one.outcome == "changed" and one.known is not None and not one.known.number:
            fields = told.setdefault(one.known.key, (one.known, {}))[1]
            fields |= dict.fromkeys(one.adds)
    for known, fields in told.values():
        contact = _contact(known)
        recorder.watch([contact])
        values = {name: value for name, value in _values(known).items() if name in fields}
        if "aliases" in fields:
            contact.aliases = list(known.aliases)
        store.save(contact, [*edit.assign(contact, values), *({"aliases"} & fields.keys())])
    return {_contact(known).pk: None for known, _ in told.values()}


def _contact(known: Known) -> Contact:
    if known.contact is None:
        raise AssertionError(f"{known.key} has not been made")
    return known.contact


def _relate(
    end_user: EndUser, wanted: Iterable[NewRelation], recorder: Recorder
) -> dict[UUID, None]:
    rows = [
        Relation(
            end_user=end_user, subject=_contact(one.subject), kind=one.kind,
            object=_contact(one.object),
        )
        for one in wanted
    ]  # fmt: skip
    Relation.objects.bulk_create(rows, batch_size=CHUNK)
    recorder.watch(rows, created=True)
    return {pk: None for row in rows for pk in (row.subject_id, row.object_id)}


def _remember(end_user: EndUser, wanted: Plan, recorder: Recorder) -> dict[UUID, None]:
    """Stores the memories, linked to whom they are about; workers read their facts."""
    now = timezone.localtime(timezone=end_user.zone)
    rows = [_memory(end_user, one, wanted.dump.format, now) for one in wanted.memories]
    tokens = context_tokens.tokens_of(end_user, rows)
    for row in rows:
        row.tokens = tokens[row.pk]
    Memory.objects.bulk_create(rows, batch_size=CHUNK)
    recorder.watch(rows, created=True)
    links = [
        Link(end_user=end_user, contact=contact, memory=row, made_by=Link.MadeBy.OPERATOR)
        for one, row in zip(wanted.memories, rows, strict=True)
        for contact in {known.key: _contact(known) for known in one.people}.values()
    ]
    Link.objects.bulk_create(links, batch_size=CHUNK)
    recorder.watch(links, created=True)
    return {link.contact_id: None for link in links}


def _render(end_user: EndUser, contact_ids: Iterable[UUID]) -> None:
    """Renders the cards, which show relations and notes."""
    for contact in end_user.contacts.filter(pk__in=list(contact_ids)).light():
        contact.end_user = end_user
        store.save(contact, [])


def _memory(end_user: EndUser, one: NewMemory, form: str, now: Any) -> Memory:
    note_of = {"vcard_of": str(_contact(one.note_of).pk)} if one.note_of else {}
    memory = Memory(
        end_user=end_user,
        content=one.content,
        content_hash=one.key,
        type=MemoryType.MISCELLANEOUS,
        subtype=Subtype.OTHER if one.people else Subtype.SELF,
        speaker=NOTED_BY if one.note_of else f"import:{form}",
        metadata={**one.metadata, **note_of},
        learnt_day=end_user.activity_days,
        unread=True,
    )
    memory.say(min(one.at, now).astimezone(end_user.zone) if one.at else now)
    return memory


@atomic()
def take_back(change: Change) -> None:
    """What the undo of an import does besides putting rows back: links that machines made of older
    memories to its people go with these."""
    made = [row["id"] for row in change.rows
            if row["model"] == Contact._meta.label_lower and row["before"] is None]  # fmt: skip
    own = [row["id"] for row in change.rows if row["model"] == Link._meta.label_lower]
    older = Link.objects.of(change.end_user_id).filter(
        contact__in=made,
        made_by=Link.MadeBy.BACKFILL,
        memory__created_at__lt=change.created_at,
    )
    older.exclude(pk__in=own).delete()
    Import.objects.of(change.end_user_id).filter(change=change.pk).update(state=Import.State.UNDONE)
