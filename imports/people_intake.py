"""Stores people and memories of a file as contacts, relations and memories: planned before anything
is written, then written as one change that can be undone. The same file again changes nothing."""

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
from imports.entry_matching import EntryOutcome, KnownContact, KnownPeople, match
from imports.models import Import
from imports.types import Dump, Entry, NotReadable
from memories import queue
from memories.corrections import auto_merge
from memories.models import Link, Memory
from memories.models.memory import content_hash
from memories.search import context_tokens
from memories.types import MemoryType, Subtype
from understanding.languages import wording
from understanding.statements.secrets import without_secrets
from understanding.text import truncate

VERB = "import_people"
# The speaker of notes in an address book; that of a dump's memories is "import:" and its format.
NOTED_BY = "operator:vcard"
CHUNK = 500
# Graphemes of a note that are kept as a memory.
MAX_NOTE = 2000
OUTCOMES = ("new", "changed", "same", "undecided", "skipped")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file adds: new ``memories``, each with the contacts that it is about, and
    ``relations``, all unsaved; ``known_memories`` counts the memories that are stored already."""

    dump: Dump
    matched: Sequence[EntryOutcome]
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
    """Returns what importing a file would change. ``choices`` as in ``match``. Raises UnknownChoice."""
    statements = without_secrets(dump.statements)
    dump = replace(
        dump,
        entries=without_secrets(dump.entries),
        statements=statements,
        ties=without_secrets(dump.ties),
        left_out=dump.left_out + len(dump.statements) - len(statements),
    )
    entries = [_in_language(entry, end_user.language) for entry in dump.entries]
    matched, known_people = match(end_user, entries, choices)
    by_number = {one.entry.number: one.known for one in matched if one.known is not None}
    drafts = list(_drafts(end_user, dump, matched, by_number))
    stored_ids = _stored_ids(end_user, [memory for memory, _ in drafts])
    new_memories: dict[str, tuple[Memory, Sequence[Contact]]] = {}
    for memory, people in drafts:
        if stored_ids.isdisjoint((memory.content_hash, _origin(memory))):
            new_memories.setdefault(memory.content_hash, (memory, people))
    return Plan(
        dump,
        matched,
        list(new_memories.values()),
        list(_relations(end_user, dump, matched, by_number, known_people)),
        len({memory.content_hash for memory, _ in drafts}) - len(new_memories),
    )


def _in_language(entry: Entry, language: str) -> Entry:
    """Returns the entry with its relationship in the language."""
    words = [_relation_word(word, language) for word in entry.relationship.split(", ")]
    return replace(entry, relationship=", ".join(words))


def _relation_word(kind: str, language: str) -> str:
    return RELATIONS.get(kind, kind) if language == "zh" else kind


def _drafts(
    end_user: EndUser,
    dump: Dump,
    matched: Sequence[EntryOutcome],
    by_number: Mapping[int, KnownContact],
) -> Iterator[tuple[Memory, Sequence[Contact]]]:
    """Yields unsaved memories for all notes and statements about people who are taken in, or about
    the user, each with the contacts that it is about."""
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
    for person, full_note in ((one.known, note) for one in matched for note in one.entry.notes):
        if person is not None:
            note, contact = truncate(full_note, MAX_NOTE), person.contact
            line = " ".join(note.split())
            has_name = any(name in line for name in person.all_names)
            text = line if has_name else f"{contact.name}{colon}{line}"
            draft = memory(text, NOTED_BY, [contact], vcard_note=note, vcard_of=str(contact.pk))
            draft.set_said_at(now)
            yield draft, [contact]
    for statement in dump.statements:
        people = [by_number[number].contact for number in statement.of if number in by_number]
        if people or statement.of_user or not statement.of:
            origin = {**statement.metadata, "imported": statement.ident}
            draft = memory(statement.text, f"import:{dump.format}", people, **origin)
            at = statement.at and min(statement.at, now).astimezone(end_user.zone)
            draft.set_said_at(at or now)
            yield draft, people


def _origin(memory: Memory) -> Any:
    """Returns what identifies a memory that was imported before, even if it was changed since: its
    imported id, or the text of its note and the contact."""
    metadata = memory.metadata
    return metadata.get("imported") or (metadata["vcard_note"], metadata["vcard_of"])


def _stored_ids(end_user: EndUser, memories: Sequence[Memory]) -> set[Any]:
    """Returns the hashes of these memories that are active already, and the origins of all imports."""
    if not memories or end_user.pk is None:
        return set()
    rows = Memory.objects.of(end_user)
    same_texts = rows.active().filter(content_hash__in={one.content_hash for one in memories})
    imported = rows.filter(metadata__has_key="imported")
    notes = rows.filter(metadata__has_key="vcard_note")
    return {
        *same_texts.values_list("content_hash", flat=True),
        *imported.values_list("metadata__imported", flat=True),
        *notes.values_list("metadata__vcard_note", "metadata__vcard_of"),
    }


def _relations(
    end_user: EndUser,
    dump: Dump,
    matched: Sequence[EntryOutcome],
    by_number: Mapping[int, KnownContact],
    known_people: KnownPeople,
) -> Iterator[Relation]:
    """Yields the new relations between people who are known after the import, each once."""
    from_entries = [
        (others[0], related.kind, one.known)
        for one in matched
        if one.known is not None
        for related in one.entry.related
        if len(others := [p for p in known_people.find(related.name) if p is not one.known]) == 1
    ]
    from_ties = [
        (by_number[tie.subject], tie.kind, by_number[tie.object])
        for tie in dump.ties
        if tie.subject in by_number and tie.object in by_number
    ]
    stored = Relation.objects.of(end_user) if end_user.pk else Relation.objects.none()
    known_keys = set(stored.values_list("subject", "kind", "object"))
    for subject, word, other in (*from_entries, *from_ties):
        kind = relations.cleaned(_relation_word(word, end_user.language))
        key = (subject.contact.pk, kind, other.contact.pk)
        if kind and subject is not other and key not in known_keys:
            known_keys.add(key)
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
    """Imports all of a file, or nothing. Returns the plan, and the change whose undo undoes it,
    None if there was nothing to do. Notes the result in ``import_``, or in a new row if anything
    changed. Raises UnknownChoice, and NotReadable if the user has been erased."""
    user = EndUser.objects.lock(end_user.pk)
    if user is None:
        raise NotReadable("user_forgotten")
    planned = plan(user, dump, choices)
    counts = planned.counts
    if not any(counts[name] for name in ("new", "changed", "relations", "memories")):
        if import_:
            import_.close(dump.format, counts, None)
        return planned, None
    with recording(user, VERB, actor) as (recorder, change):
        touched = {**_add_contacts(user, planned, recorder), **_add_values(user, planned, recorder)}
        mentioned = _add_relations(planned.relations, recorder) | _add_memories(
            user, planned, recorder
        )
        for contact in user.contacts.filter(pk__in=mentioned).light():
            contact.end_user = user
            store.save(contact, [])  # the card, which shows relations and notes
        change.subjects = [str(pk) for pk in touched | mentioned]
        put(settings.MIO_CONTACTS_CREATED, str(change.id), end_user_id=user.pk)
        if planned.memories:
            queue.enqueue("read_facts", user.pk)
            queue.enqueue("embed", user.pk)
    auto_merge.follow(user)
    (import_ or Import(end_user=user)).close(dump.format, counts, change)
    return planned, change


def _add_contacts(end_user: EndUser, planned: Plan, recorder: Recorder) -> dict[UUID, None]:
    """Stores the new contacts, and returns their ids in order."""
    added = [one.known.contact for one in planned.matched if one.known and one.outcome == "new"]
    for start in range(0, len(added), CHUNK):
        contacts = added[start : start + CHUNK]
        namesakes = {place for place, contact in enumerate(contacts) if contact.namesake}
        if taken := store.create_all(end_user, contacts, namesakes):
            raise AssertionError(f"names that were free are taken at {sorted(taken)}")
        recorder.watch(contacts, created=True)
    return dict.fromkeys(contact.pk for contact in added)


def _add_values(end_user: EndUser, planned: Plan, recorder: Recorder) -> dict[UUID, None]:
    """Saves what entries add to stored contacts, and returns the ids of these in order."""
    changed: dict[UUID, tuple[Contact, set[str]]] = {}
    for one in planned.matched:
        if one.outcome == "changed" and one.known is not None and not one.known.number:
            contact = one.known.contact
            changed.setdefault(contact.pk, (contact, set()))[1].update(one.adds)
    recorder.watch(end_user.contacts.filter(pk__in=changed).light())
    for contact, fields in changed.values():
        store.save(contact, sorted(fields))
    return dict.fromkeys(changed)


def _add_relations(rows: Sequence[Relation], recorder: Recorder) -> dict[UUID, None]:
    Relation.objects.bulk_create(rows, batch_size=CHUNK)
    recorder.watch(rows, created=True)
    return {pk: None for row in rows for pk in (row.subject_id, row.object_id)}


def _add_memories(end_user: EndUser, planned: Plan, recorder: Recorder) -> dict[UUID, None]:
    """Stores the memories, linked to the contacts that they are about; workers read their facts."""
    rows = [memory for memory, _ in planned.memories]
    tokens = context_tokens.tokens_of(end_user, rows)
    for row in rows:
        row.tokens = tokens[row.pk]
    Memory.objects.bulk_create(rows, batch_size=CHUNK)
    recorder.watch(rows, created=True)
    links = [
        Link(end_user=end_user, contact=contact, memory=memory, made_by=Link.MadeBy.OPERATOR)
        for memory, people in planned.memories
        for contact in {contact.pk: contact for contact in people}.values()
    ]
    Link.objects.bulk_create(links, batch_size=CHUNK)
    recorder.watch(links, created=True)
    return {link.contact_id: None for link in links}


@atomic()
def take_back(change: Change) -> None:
    """Undo hook of an import: deletes the links from older memories that a backfill made to the
    contacts that the import created, and marks the import as undone."""
    created = [row["id"] for row in change.rows
            if row["model"] == Contact._meta.label_lower and row["before"] is None]  # fmt: skip
    own_links = [row["id"] for row in change.rows if row["model"] == Link._meta.label_lower]
    backfilled = Link.objects.of(change.end_user_id).filter(
        contact__in=created, made_by=Link.MadeBy.BACKFILL, memory__created_at__lt=change.created_at
    )
    backfilled.exclude(pk__in=own_links).delete()
    Import.objects.of(change.end_user_id).filter(change=change.pk).update(state=Import.State.UNDONE)
