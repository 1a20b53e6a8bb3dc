"""People and memories of a file become contacts, relations and memories: one change, which undo
takes back. The same file again changes nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.fair_queue import put
from accounts.models import Change, EndUser
from contacts import edit, store
from contacts.address_books.entry_matching import Known
from contacts.models import Contact, Relation
from imports.models import Import
from imports.people_plan import NewMemory, NewRelation, Plan, plan
from imports.types import Dump, NotReadable
from memories import queue
from memories.corrections import auto_merge
from memories.models import Link, Memory
from memories.search import context_tokens
from memories.types import MemoryType, Subtype
from understanding.attributes import is_single

VERB = "import_people"
# Who said what an address book notes; what a dump holds was said by "import:" and its format.
NOTED_BY = "operator:vcard"
CHUNK = 500


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
