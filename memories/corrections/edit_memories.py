"""Corrections of memories: add, edit, outdate, move, unlink. Each is one transaction with one
Change row that can be undone, and recomputes profiles, cards and keys of the contacts.

``actor`` says who: ``operator:NAME``, ``app:NAME`` or a part of Mio (``extractor``).
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Q
from django.utils import timezone

from accounts import time_zones
from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.citus import broken_constraint
from accounts.models import Change, EndUser
from accounts.reasons import CodedError, Reason
from contacts import relations, store
from contacts.models import Contact, Relation
from memories import graph, queue
from memories.corrections import derived
from memories.models import Edge, Link, Memory
from memories.models.memory import content_hash
from memories.types import StoredFact, Subtype
from understanding.attributes import is_single
from understanding.statements import secrets
from understanding.text import normalise

Status = Memory.Status
# The key in Memory.metadata under which an importance that a person set is kept.
PINNED = "pinned_importance"
MOST_NOTED = 8192  # bytes of Memory.metadata as JSON, Mio's own keys included
# Probability that an outdated memory is no longer true (TiMemory, "forgetting confidence"), by who
# states it. Chosen for Mio; below 1, ``restore_superseded`` may reactivate the memory.
CERTAINTY = {
    "operator": 1.0,  # a person looked at it
    "app": 1.0,  # the app knows its user
    "user": 0.95,  # taken back explicitly, but what "that" refers to was read from the chat
}
MACHINE_CERTAINTY = 0.9  # any other part of Mio: it compared two memories, and may be wrong
_VALIDITY = ["status", "valid_to", "outdated_at", "outdated_confidence", "facts", "updated_at"]


class InvalidCorrection(CodedError):
    """The requested correction is impossible; the message says why."""


@dataclass(frozen=True, slots=True)
class Ending:
    """When memories or facts ended: that was ``learnt_at`` (default: now), with a ``certainty``
    (default: by the actor, see CERTAINTY), and they were true ``until`` (default: until it was
    learnt), at least until they were said."""

    learnt_at: datetime | None = None
    until: datetime | None = None
    certainty: float | None = None


ENDED_NOW = Ending()


def locked(end_user: EndUser) -> EndUser:
    """Locks and returns the end user. Raises InvalidCorrection if the user was erased meanwhile."""
    locked_user = EndUser.objects.lock(end_user.pk)
    if locked_user is None:
        raise InvalidCorrection(Reason("user_forgotten"))
    return locked_user


def check_content(*contents: str) -> None:
    """Raises InvalidCorrection if the content of a memory contains a secret."""
    for content in contents:
        if reason := secrets.refusal(content=content):
            raise InvalidCorrection(reason)


@atomic()
def outdate(
    end_user: EndUser,
    memories: Sequence[Memory],
    *,
    actor: str,
    why: str = "",
    by: UUID | None = None,
    ending: Ending = ENDED_NOW,
    ended: Mapping[UUID, Collection[StoredFact]] = MappingProxyType({}),
    keep: Collection[Memory] = (),
) -> Change | None:
    """Marks memories, or of those in ``ended`` only these facts, as no longer true and superseded
    by the memory ``by``; profiles forget them. The change also touches the rows of ``keep``:
    changes of these are undone newest first. Returns None if there is nothing to do."""
    memories = [memory for memory in memories if memory.status == Status.ACTIVE]
    if not memories:
        return None
    ids = [memory.id for memory in memories]
    with recording(end_user, "outdate", actor, why, ids) as (recorder, change):
        recorder.watch(memories)
        recorder.keep(keep)
        for memory in memories:
            if memory.pk in ended:
                end_facts(memory, ended[memory.pk], ending, by)
            else:
                memory.status = Status.OUTDATED
                _mark_outdated(memory, actor, ending)
            memory.save(update_fields=_VALIDITY)
        outdated_ids = [pk for pk in ids if pk not in ended]
        if by is not None:
            edge = Edge(reason=why)
            edges = {(by, str(Edge.Kind.SUPERSEDES), pk): edge for pk in outdated_ids}
            relate(end_user, edges, recorder)
        derived.unlearn(end_user, outdated_ids, recorder)
        derived.unlearn_facts(end_user, [m for m in memories if m.pk in ended], recorder)
    return change


def _mark_outdated(memory: Memory, actor: str, ending: Ending) -> None:
    """Marks a memory (unsaved) as outdated."""
    learnt_at, until, certainty = ending.learnt_at, ending.until, ending.certainty
    memory.outdated_at = min(learnt_at or timezone.now(), timezone.now())
    ended_at = max(until, memory.said_at) if until else learnt_at or memory.outdated_at
    memory.valid_to = memory.valid_to or ended_at
    default = CERTAINTY.get(actor.partition(":")[0], MACHINE_CERTAINTY)
    memory.outdated_confidence = default if certainty is None else min(max(certainty, 0.0), 1.0)


def end_facts(
    memory: Memory,
    ended: Collection[StoredFact],
    ending: Ending = ENDED_NOW,
    by: UUID | None = None,
) -> None:
    """Marks facts of a memory (unsaved) as outdated and superseded by the memory ``by``."""
    learnt_at = min(ending.learnt_at or timezone.now(), timezone.now())
    statements = {fact.statement for fact in ended}
    for row in memory.facts:
        fact = memory.stored_fact(row)
        if fact.statement in statements and not fact.outdated:
            times = {
                "valid_from": fact.valid_from or memory.began_at,
                "valid_to": fact.valid_to or max(ending.until or learnt_at, memory.said_at),
                "outdated_at": learnt_at,
            }
            row |= {name: moment.astimezone(UTC).isoformat() for name, moment in times.items()}
            row |= {"superseded_by": str(by)} if by else {}


def end_values(contact: Contact, values: Mapping[str, Collection[str]], recorder: Recorder) -> None:
    """Ends these values of a contact, by key, which a person removed or replaced, in the memories
    that state them, so that no card quotes them as true any more."""
    linked = Memory.objects.of(contact.end_user).active().facts().filter(links__contact=contact)
    for key, dropped in values.items():
        dropped_values = {normalise(value) for value in dropped}
        for memory in linked.defer("tokens").filter(
            facts__contains=[{"key": key, "person": str(contact.pk)}]
        ):
            ended = [
                fact
                for fact in memory.as_stored().current
                if (fact.key, fact.person) == (key, contact.pk)
                and normalise(fact.value) in dropped_values
            ]
            if ended:
                recorder.watch([memory])
                end_facts(memory, ended)
                memory.save(update_fields=["facts", "updated_at"])


def _reactivate_facts(memory: Memory, superseding_ids: Collection[UUID]) -> None:
    """Removes the outdated marks from a memory's facts (unsaved) that these memories superseded."""
    marks = {str(pk) for pk in superseding_ids}
    for row in memory.facts:
        if row.get("superseded_by") not in marks:
            continue
        for name in ("superseded_by", "outdated_at", "valid_to"):
            del row[name]
        if row["valid_from"] == memory.began_at.astimezone(UTC).isoformat():
            del row["valid_from"]


def _set_outdated_columns(memory: Memory, actor: str, learnt_at: datetime | None) -> None:
    """Makes the outdated columns of a memory (unsaved) agree with its edited status."""
    if memory.status == Status.OUTDATED and memory.outdated_at is None:
        _mark_outdated(memory, actor, Ending(learnt_at))
    elif memory.status == Status.ACTIVE and memory.outdated_at is not None:
        if memory.valid_to and memory.said_at <= memory.valid_to <= memory.outdated_at:
            memory.valid_to = None  # set by ``_mark_outdated``, not stated
        memory.outdated_at, memory.outdated_confidence = None, 1.0


def relate(
    end_user: EndUser, wanted: Mapping[tuple[UUID, str, UUID], Edge], recorder: Recorder
) -> None:
    """Creates those of these edges, by (source, kind, target), that do not exist yet."""
    sources, targets = {key[0] for key in wanted}, {key[2] for key in wanted}
    edges = Edge.objects.of(end_user).filter(source__in=sources, target__in=targets)
    existing = set(edges.values_list("source", "kind", "target"))
    Edge.objects.bulk_create(
        [
            Edge(
                end_user=end_user, source_id=source, kind=kind, target_id=target,
                confidence=edge.confidence, reason=edge.reason,
            )
            for (source, kind, target), edge in wanted.items()
            if (source, kind, target) not in existing
        ]
    )  # fmt: skip
    keys = wanted.keys() - existing
    added = [edge for edge in edges.all() if (edge.source_id, edge.kind, edge.target_id) in keys]
    recorder.watch(added, created=True)


def restore_superseded(
    end_user: EndUser, by: Collection[UUID], recorder: Recorder, *, of: UUID | None = None
) -> None:
    """Reactivates facts, and memories outdated with a certainty below 1, that only these memories
    superseded; all, or those about ``of``."""
    by = {*by, *Memory.objects.of(end_user).filter(merged_into__in=by).values_list("pk", flat=True)}
    rows = Memory.objects.of(end_user)
    about = rows.about(of) if of else rows
    edges = Edge.objects.of(end_user).filter(kind=Edge.Kind.SUPERSEDES)
    own_edges = edges.filter(source__in=by, target__in=about.values("pk"))
    other_edges = edges.exclude(source__in=by).filter(target__in=own_edges.values("target"))
    outdated = rows.filter(
        pk__in=own_edges.values("target"), status=Status.OUTDATED, outdated_confidence__lt=1
    ).exclude(pk__in=other_edges.values("target"))
    ended_facts = reduce(or_, (Q(facts__contains=[{"superseded_by": str(pk)}]) for pk in by))
    restored = [*derived.tracked(outdated), *derived.tracked(about.active().filter(ended_facts))]
    active = rows.active().filter(content_hash__in=[memory.content_hash for memory in restored])
    id_by_hash = dict(active.values_list("content_hash", "pk"))
    restored = [one for one in restored if id_by_hash.get(one.content_hash, one.pk) == one.pk]
    if not restored:
        return
    recorder.watch(restored)
    undone = own_edges.filter(target__in=restored)
    recorder.watch(undone)
    undone.delete()
    for memory in restored:
        _reactivate_facts(memory, by)
        memory.status = Status.ACTIVE
        _set_outdated_columns(memory, "", None)
        memory.save(update_fields=_VALIDITY)
    ids = [memory.pk for memory in restored]
    _mark_for_comparison(end_user, restored, {*by, *ids}, recorder)
    for contact in end_user.contacts.standing().light().filter(links__memory__in=ids).distinct():
        derived.reopen(end_user, contact, ids, recorder)
        store.save(contact, [])


def _mark_for_comparison(
    end_user: EndUser, restored: Iterable[Memory], except_ids: Collection[UUID], recorder: Recorder
) -> None:
    """Marks later memories with the same single attribute of a person to be compared again."""
    slots = [
        Q(facts__contains=[{"key": fact["key"], "person": fact["person"]}], said_at__gt=one.said_at)
        for one in restored
        for fact in one.facts
        if is_single(fact["key"])
    ]
    if slots:
        candidates = Memory.objects.of(end_user).active().facts().filter(reduce(or_, slots))
        later = derived.tracked(candidates.exclude(pk__in=except_ids))
        recorder.watch(later)
        Memory.objects.filter(pk__in=[memory.pk for memory in later]).update(unread=True)


def _broken_rule(error: IntegrityError) -> Reason:
    """Returns the reason for the database constraint that an edit violates."""
    broken = broken_constraint(error)
    if broken == "memory_once":
        return Reason("duplicate")
    return Reason("low_importance" if broken == "consolidated_source_stays_low" else "out_of_range")


@atomic()
def edit(
    end_user: EndUser, memory_id: UUID, values: dict[str, Any], *, actor: str, why: str = ""
) -> Change:
    """Changes columns of a memory. An importance that is set here is never rescored; None returns
    it to the formula. Workers embed new content and read it for facts. Raises InvalidCorrection."""
    end_user = locked(end_user)
    memory = Memory.objects.of(end_user).filter(pk=memory_id).first()
    if memory is None:
        raise InvalidCorrection(Reason("no_such_memory"))
    if memory.merged_into_id and values.get("status", memory.status) != memory.status:
        raise InvalidCorrection(Reason("merged_memory"))
    check_content(values.get("content", ""))
    with recording(end_user, "edit", actor, why, [memory_id]) as (recorder, change):
        recorder.watch([memory])
        if "content" in values and values["content"] != memory.content:
            memory.facts, memory.brackets, memory.unread = [], None, True
            restore_superseded(end_user, [memory.pk], recorder)
            queue.enqueue("reread", end_user.pk)
        if "importance" in values:
            values = {**values, "importance": _pin(memory, values["importance"])}
        if "metadata" in values:  # the mark of the importance is kept in it
            values = {**values, "metadata": _updated_metadata(memory.metadata, values["metadata"])}
        _set_columns(memory, values, end_user)
        _set_outdated_columns(memory, actor, values.get("valid_to"))
        if memory.kind == Memory.Kind.FACT:
            memory.content_hash = content_hash(memory.content)
        derived.reindex(memory)
        if memory.status == Status.ARCHIVED:
            graph.remove_edges_of(end_user, [memory_id], recorder)
        try:
            with atomic():
                memory.save()
        except IntegrityError as error:
            raise InvalidCorrection(_broken_rule(error)) from error
        contacts = (
            derived.unlearn(end_user, [memory.id], recorder) if values.keys() - {"metadata"} else ()
        )
        for contact in contacts:
            derived.reopen(end_user, contact, [memory.id], recorder)
            store.save(contact, [])
    queue.enqueue("embed", end_user.pk)
    return change


def _set_columns(memory: Memory, values: dict[str, Any], end_user: EndUser) -> None:
    """Sets columns of a memory (unsaved); times keep a stated UTC offset. Raises
    InvalidCorrection."""
    for field, value in values.items():
        if field in ("said_at", "happens_at") and value is not None:
            value = time_zones.local(value, time_zones.stated_offset(value), end_user.zone)
        if field == "said_at":
            memory.set_said_at(value)
        elif field == "happens_at":
            memory.set_happens_at(value)
        else:
            setattr(memory, field, value)
    ends = memory.happens_until
    if ends and not (memory.happens_at and memory.happens_at <= ends):
        raise InvalidCorrection(Reason("ends_before_it_begins"))


def _updated_metadata(metadata: dict[str, Any], updates: dict[str, Any]) -> dict[str, Any]:
    """Returns metadata with these updates; None removes a key. Raises InvalidCorrection."""
    updated = {key: value for key, value in {**metadata, **updates}.items() if value is not None}
    if len(json.dumps(updated, ensure_ascii=False).encode()) > MOST_NOTED:
        raise InvalidCorrection(Reason("metadata_too_long", most=MOST_NOTED))
    return updated


def _pin(memory: Memory, importance: float | None) -> float:
    """Marks the importance of a memory (unsaved) as set by a person, so that it is never rescored,
    and returns it. None removes the mark and returns the memory's own importance."""
    unpinned = {key: value for key, value in memory.metadata.items() if key != PINNED}
    if importance is None:
        memory.metadata = unpinned
        return memory.importance
    if importance != memory.importance:
        memory.metadata = {**unpinned, PINNED: importance}
    return importance


@atomic()
def add(
    end_user: EndUser,
    content: str,
    *,
    actor: str,
    contacts: Iterable[Contact] = (),
    why: str = "",
    **columns: Any,
) -> tuple[Memory, Change | None]:
    """Stores a memory that a person or app states, linked to ``contacts``; or returns the active
    one with this content, and no change. Raises InvalidCorrection."""
    end_user = locked(end_user)
    check_content(content)
    key = content_hash(content)
    existing = Memory.objects.of(end_user).active().filter(content_hash=key).first()
    if existing is not None:
        return existing, None
    memory = stated(end_user, content, **columns)
    with recording(end_user, "add", actor, why, [memory.id]) as (recorder, change):
        memory.save(force_insert=True)
        recorder.watch([memory], created=True)
        survivors = [store.survivor(end_user, contact.id) for contact in contacts]
        for contact in {contact.id: contact for contact in survivors if contact}.values():
            link(end_user, memory.pk, contact, recorder)
            store.save(contact, [])
        queue.enqueue("read_facts", end_user.pk)
        queue.enqueue("embed", end_user.pk)
    return memory, change


def stated(end_user: EndUser, content: str, **columns: Any) -> Memory:
    """Returns a new memory (unsaved) that a person or app states now; a worker is to read it."""
    memory = Memory(end_user=end_user, content=content, content_hash=content_hash(content))
    memory.set_said_at(timezone.localtime(timezone=end_user.zone))
    _set_columns(memory, columns, end_user)
    if "importance" in columns:
        memory.metadata = {**memory.metadata, PINNED: memory.importance}
    memory.learnt_day, memory.unread = end_user.activity_days, True
    derived.reindex(memory)
    return memory


@atomic()
def unlink(
    end_user: EndUser, memory_id: UUID, contact_id: UUID, *, actor: str, why: str = ""
) -> Change:
    """Rejects the link of a memory to a contact; no machine links the two again."""
    end_user = locked(end_user)
    contact_id = _survivor_id(end_user, contact_id)
    subjects = [memory_id, contact_id]
    with recording(end_user, "unlink", actor, why, subjects) as (recorder, change):
        _reject(end_user, memory_id, contact_id, recorder)
    return change


@atomic()
def move(
    end_user: EndUser, memory_id: UUID, from_id: UUID, to_id: UUID, *, actor: str, why: str = ""
) -> Change:
    """Moves a memory with its facts and relations to another contact, and renders both cards."""
    end_user = locked(end_user)
    target = store.survivor(end_user, to_id)
    from_id = _survivor_id(end_user, from_id)
    memory = Memory.objects.of(end_user).filter(pk=memory_id).first()
    if target is None or memory is None:
        raise InvalidCorrection(Reason("no_such_contact_or_memory"))
    if target.id == from_id:
        raise InvalidCorrection(Reason("linked_already"))
    subjects = [memory_id, from_id, target.id]
    with recording(end_user, "move", actor, why, subjects) as (recorder, change):
        recorder.watch([memory])
        stated_relations = relations.resting_on(end_user, [memory_id], of=from_id)
        _reject(end_user, memory_id, from_id, recorder)
        target.refresh_from_db()
        relate_anew(stated_relations, from_id, target, [memory_id], recorder)
        link(end_user, memory_id, target, recorder)
        memory.facts = renamed(memory.facts, from_id, target.id)
        memory.unread = True
        memory.save(update_fields=["facts", "unread", "updated_at"])
        queue.enqueue("reread", end_user.pk)
        derived.reopen(end_user, target, [memory_id], recorder)
        store.save(target, [])
        store.render_around(end_user, [target.id])
    return change


@atomic()
def move_to_user(end_user: EndUser, memory_id: UUID, from_id: UUID, *, actor: str) -> Change:
    """Makes a memory about a contact one about the end user: rejects the link and moves its facts;
    renders both cards. Raises InvalidCorrection."""
    end_user = locked(end_user)
    from_id = _survivor_id(end_user, from_id)
    memory = Memory.objects.of(end_user).filter(pk=memory_id).first()
    if memory is None:
        raise InvalidCorrection(Reason("no_such_contact_or_memory"))
    with recording(end_user, "move_to_user", actor, subjects=[memory_id, from_id]) as (
        recorder,
        change,
    ):
        recorder.watch([memory])
        _reject(end_user, memory_id, from_id, recorder)
        memory.facts = renamed(memory.facts, from_id, None)
        memory.subtype, memory.unread = Subtype.SELF, True
        memory.save(update_fields=["facts", "subtype", "unread", "updated_at"])
        queue.enqueue("reread", end_user.pk)
    return change


def renamed(facts: list[dict[str, Any]], old: UUID, new: UUID | None) -> list[dict[str, Any]]:
    """Returns facts, those about the contact ``old`` as facts about ``new`` (None: the user)."""
    person = str(new) if new else None
    return [{**f, "person": person} if f["person"] == str(old) else f for f in facts]


def relate_anew(
    stated: Iterable[Relation],
    old: UUID,
    new: Contact,
    memory_ids: Collection[UUID],
    recorder: Recorder,
) -> None:
    """Creates for the contact ``new`` the relations of ``old`` that these memories ``stated``."""
    recorder.watch(Relation.objects.of(new.end_user_id).among([new.id]))
    for row in stated:
        subject, other = (new if at.id == old else at for at in (row.subject, row.object))
        sources = [pk for pk in row.sources if pk in memory_ids]
        relation = relations.relate(new.end_user, subject, row.kind, other, sources)
        if relation is not None:
            recorder.watch([relation], created=True)


def _survivor_id(end_user: EndUser, contact_id: UUID) -> UUID:
    """Returns the id of the contact into which this one was merged, or its own id."""
    contact = store.survivor(end_user, contact_id)
    return contact.id if contact else contact_id


def link(end_user: EndUser, memory_id: UUID, contact: Contact, recorder: Recorder) -> None:
    """Links a memory to a contact as stated by a person, even if the link was rejected before."""
    existing = Link.objects.of(end_user).filter(memory=memory_id, contact=contact).first()
    if existing is not None:
        recorder.watch([existing])
    confirmed = existing or Link(end_user=end_user, memory_id=memory_id, contact=contact)
    confirmed.rejected, confirmed.made_by, confirmed.confidence = False, Link.MadeBy.OPERATOR, 1.0
    confirmed.save()
    recorder.watch([confirmed], created=True)


def _reject(end_user: EndUser, memory_id: UUID, contact_id: UUID, recorder: Recorder) -> None:
    """Rejects a link and undoes what its memory added to a profile or superseded."""
    links = Link.objects.of(end_user).standing().select_related("contact__end_user")
    link = links.filter(memory=memory_id, memory__kind=Memory.Kind.FACT, contact=contact_id).first()
    if link is None:
        raise InvalidCorrection(Reason("not_linked"))
    recorder.watch([link])
    recorder.keep(derived.tracked(Memory.objects.of(end_user).filter(pk=memory_id)))
    derived.unlearn(end_user, [memory_id], recorder, contact=link.contact)
    restore_superseded(end_user, [memory_id], recorder, of=contact_id)
    link.rejected, link.made_by = True, Link.MadeBy.OPERATOR
    link.save()
    derived.point_at_profiles(end_user, [memory_id], recorder=recorder)
    contact = store.survivor(end_user, contact_id)
    if contact is not None:
        store.save(contact, [])
    queue.enqueue("embed", end_user.pk)
