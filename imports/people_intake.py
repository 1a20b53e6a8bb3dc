"""People and memories of a file become contacts, relations and memories: planned before anything is
written, then taken in as one change, which undo takes back. The same file again changes nothing."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.fair_queue import put
from accounts.models import Change, EndUser
from contacts import relations, store
from contacts.models import Contact, Relation
from imports.dumps.person_fields import RELATIONS
from imports.entry_matching import Circle, Known, Matched, match
from imports.models import Import
from imports.types import Dump, Entry, NotReadable
from memories import queue
from memories.corrections import auto_merge
from memories.models import Link, Memory
from memories.models.memory import content_hash
from memories.search import context_tokens
from memories.types import MemoryType, Subtype
from understanding.languages import wording
from understanding.statements.secrets import cleared
from understanding.text import truncate

VERB = "import_people"
# Who said what an address book notes; what a dump holds was said by "import:" and its format.
NOTED_BY = "operator:vcard"
CHUNK = 500
# Graphemes of a note that are kept as a memory.
MAX_NOTE = 2000
OUTCOMES = ("new", "changed", "same", "undecided", "skipped")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file brings: new ``memories``, each with whom it is about, and ``relations``, none of
    them stored; ``known_memories`` counts those that are there already."""

    dump: Dump
    matched: Sequence[Matched]
    memories: Sequence[tuple[Memory, Sequence[Contact]]]
    relations: Sequence[Relation]
    known_memories: int

    @property
    def counts(self) -> dict[str, int]:
        outcomes = Counter[str](one.outcome for one in self.matched)
        return {
            "entries": len(self.matched),
            **{outcome: outcomes[outcome] for outcome in OUTCOMES},
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
    dump = replace(
        dump,
        entries=cleared(dump.entries),
        statements=stated,
        ties=cleared(dump.ties),
        left_out=dump.left_out + len(dump.statements) - len(stated),
    )
    entries = [_in_language(entry, end_user.language) for entry in dump.entries]
    matched, circle = match(end_user, entries, choices)
    known = {one.entry.number: one.known for one in matched if one.known is not None}
    said = list(_said(end_user, dump, matched, known))
    there = _there(end_user, [memory for memory, _ in said])
    fresh: dict[str, tuple[Memory, Sequence[Contact]]] = {}
    for memory, people in said:
        if there.isdisjoint((memory.content_hash, _origin(memory))):
            fresh.setdefault(memory.content_hash, (memory, people))
    return Plan(
        dump,
        matched,
        list(fresh.values()),
        list(_relations(end_user, dump, matched, known, circle)),
        len({memory.content_hash for memory, _ in said}) - len(fresh),
    )


def _in_language(entry: Entry, language: str) -> Entry:
    words = [_word(word, language) for word in entry.relationship.split(", ")]
    return replace(entry, relationship=", ".join(words))


def _word(kind: str, language: str) -> str:
    return RELATIONS.get(kind, kind) if language == "zh" else kind


def _said(
    end_user: EndUser, dump: Dump, matched: Sequence[Matched], known: Mapping[int, Known]
) -> Iterator[tuple[Memory, Sequence[Contact]]]:
    """All that a file says in words of those who are taken in, and of the user, as memories
    (unsaved)."""
    now = timezone.localtime(timezone=end_user.zone)

    def memory(text: str, speaker: str, people: Sequence[Contact], **metadata: Any) -> Memory:
        return Memory(
            end_user=end_user,
            content=text,
            content_hash=content_hash(text),
            type=MemoryType.MISCELLANEOUS,
            subtype=Subtype.OTHER if people else Subtype.SELF,
            speaker=speaker,
            metadata=metadata,
            learnt_day=end_user.activity_days,
            unread=True,
        )

    colon = wording(end_user.language)["colon"]
    for person, whole in ((one.known, note) for one in matched for note in one.entry.notes):
        if person is not None:
            note, contact = truncate(whole, MAX_NOTE), person.contact
            line = " ".join(note.split())
            named = any(name in line for name in person.all_names)
            text = line if named else f"{contact.name}{colon}{line}"
            noted = memory(text, NOTED_BY, [contact], vcard_note=note, vcard_of=str(contact.pk))
            noted.say(now)
            yield noted, [contact]
    for statement in dump.statements:
        people = [known[number].contact for number in statement.of if number in known]
        if people or statement.of_user or not statement.of:
            origin = {**statement.metadata, "imported": statement.ident}
            stated = memory(statement.text, f"import:{dump.format}", people, **origin)
            at = statement.at and min(statement.at, now).astimezone(end_user.zone)
            stated.say(at or now)
            yield stated, people


def _origin(memory: Memory) -> Any:
    """What tells a memory that was imported before, whatever became of it since."""
    metadata = memory.metadata
    return metadata.get("imported") or (metadata["vcard_note"], metadata["vcard_of"])


def _there(end_user: EndUser, memories: Sequence[Memory]) -> set[Any]:
    """The hashes of these memories that hold already, and the origins of all that was imported."""
    if not memories or end_user.pk is None:
        return set()
    rows = Memory.objects.of(end_user)
    said = rows.active().filter(content_hash__in={one.content_hash for one in memories})
    imported = rows.filter(metadata__has_key="imported")
    notes = rows.filter(metadata__has_key="vcard_note")
    return {
        *said.values_list("content_hash", flat=True),
        *imported.values_list("metadata__imported", flat=True),
        *notes.values_list("metadata__vcard_note", "metadata__vcard_of"),
    }


def _relations(
    end_user: EndUser,
    dump: Dump,
    matched: Sequence[Matched],
    known: Mapping[int, Known],
    circle: Circle,
) -> Iterator[Relation]:
    """The relations to people who are known then, each once, that nobody has stated yet."""
    named = [
        (found[0], related.kind, one.known)
        for one in matched
        if one.known is not None
        for related in one.entry.related
        if len(found := [who for who in circle.find(related.name) if who is not one.known]) == 1
    ]
    tied = [
        (known[tie.subject], tie.kind, known[tie.object])
        for tie in dump.ties
        if tie.subject in known and tie.object in known
    ]
    stated = Relation.objects.of(end_user) if end_user.pk else Relation.objects.none()
    there = set(stated.values_list("subject", "kind", "object"))
    for subject, word, other in (*named, *tied):
        kind = relations.cleaned(_word(word, end_user.language))
        key = (subject.contact.pk, kind, other.contact.pk)
        if kind and subject is not other and key not in there:
            there.add(key)
            yield Relation(
                end_user=end_user, subject=subject.contact, kind=kind, object=other.contact
            )


@atomic()
def take_in(
    end_user: EndUser,
    dump: Dump,
    choices: Mapping[int, str] | None = None,
    *,
    actor: str,
    import_: Import | None = None,
) -> tuple[Plan, Change | None]:
    """Takes in all that is planned, or nothing; returns the plan, and the change to undo it by, None
    where there was nothing to do. Notes it in ``import_``, or in a new row where something was.
    Raises UnknownChoice, and NotReadable where the user has been forgotten."""
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        raise NotReadable("user_forgotten")
    wanted = plan(held, dump, choices)
    counts = wanted.counts
    if not any(counts[name] for name in ("new", "changed", "relations", "memories")):
        if import_:
            import_.close(dump.format, counts, None)
        return wanted, None
    with recording(held, VERB, actor) as (recorder, change):
        touched = {**_create(held, wanted, recorder), **_add_to(held, wanted, recorder)}
        told = _relate(wanted.relations, recorder) | _remember(held, wanted, recorder)
        for contact in held.contacts.filter(pk__in=told).light():
            contact.end_user = held
            store.save(contact, [])  # the card, which shows relations and notes
        change.subjects = [str(pk) for pk in touched | told]
        put(settings.MIO_CONTACTS_CREATED, str(change.id), end_user_id=held.pk)
        if wanted.memories:
            queue.enqueue("read_facts", held.pk)
            queue.enqueue("embed", held.pk)
    auto_merge.follow(held)
    (import_ or Import(end_user=held)).close(dump.format, counts, change)
    return wanted, change


def _create(end_user: EndUser, wanted: Plan, recorder: Recorder) -> dict[UUID, None]:
    fresh = [one.known.contact for one in wanted.matched if one.known and one.outcome == "new"]
    for start in range(0, len(fresh), CHUNK):
        contacts = fresh[start : start + CHUNK]
        namesakes = {place for place, contact in enumerate(contacts) if contact.namesake}
        if taken := store.create_all(end_user, contacts, namesakes):
            raise AssertionError(f"names that were free are taken at {sorted(taken)}")
        recorder.watch(contacts, created=True)
    return dict.fromkeys(contact.pk for contact in fresh)


def _add_to(end_user: EndUser, wanted: Plan, recorder: Recorder) -> dict[UUID, None]:
    added: dict[UUID, tuple[Contact, set[str]]] = {}
    for one in wanted.matched:
        if one.outcome == "changed" and one.known is not None and not one.known.number:
            contact = one.known.contact
            added.setdefault(contact.pk, (contact, set()))[1].update(one.adds)
    recorder.watch(end_user.contacts.filter(pk__in=added).light())
    for contact, fields in added.values():
        store.save(contact, sorted(fields))
    return dict.fromkeys(added)


def _relate(rows: Sequence[Relation], recorder: Recorder) -> dict[UUID, None]:
    Relation.objects.bulk_create(rows, batch_size=CHUNK)
    recorder.watch(rows, created=True)
    return {pk: None for row in rows for pk in (row.subject_id, row.object_id)}


def _remember(end_user: EndUser, wanted: Plan, recorder: Recorder) -> dict[UUID, None]:
    """Stores the memories, linked to whom they are about; workers read their facts."""
    rows = [memory for memory, _ in wanted.memories]
    tokens = context_tokens.tokens_of(end_user, rows)
    for row in rows:
        row.tokens = tokens[row.pk]
    Memory.objects.bulk_create(rows, batch_size=CHUNK)
    recorder.watch(rows, created=True)
    links = [
        Link(end_user=end_user, contact=contact, memory=memory, made_by=Link.MadeBy.OPERATOR)
        for memory, people in wanted.memories
        for contact in {contact.pk: contact for contact in people}.values()
    ]
    Link.objects.bulk_create(links, batch_size=CHUNK)
    recorder.watch(links, created=True)
    return {link.contact_id: None for link in links}


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
