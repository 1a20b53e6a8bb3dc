"""The verbs on memories: add, edit, outdate, move, unlink. Each is one transaction with one Change
row that can be undone; profiles, cards and keys of the contacts concerned are recomputed in it.

``actor`` says who: ``operator:NAME``, ``app:NAME`` or the machine's part (``extractor``).
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
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
from memories.corrections import derived, lineage, sources, validity
from memories.models import Edge, Link, Memory
from memories.models.memory import content_hash
from memories.types import StoredFact
from understanding.attributes import is_single
from understanding.statements import secrets

Status = Memory.Status
# The key in Memory.metadata under which an importance that a person set is kept.
PINNED = "pinned_importance"
MOST_NOTED = 8192  # bytes of Memory.metadata as JSON, with what Mio keeps there


class InvalidCorrection(CodedError):
    """What was asked can't be done; the message says why."""


def locked(end_user: EndUser) -> EndUser:
    """The end user, locked for a verb. Raises InvalidCorrection when forgotten meanwhile."""
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        raise InvalidCorrection(Reason("user_forgotten"))
    return held


def check_content(*contents: str) -> None:
    """Raises InvalidCorrection where the content of a memory tells a secret."""
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
    valid_to: datetime | None = None,
    by: UUID | None = None,
    certainty: float | None = None,
    ended: Mapping[UUID, Collection[StoredFact]] = MappingProxyType({}),
    until: datetime | None = None,
    keep: Collection[Memory] = (),
) -> Change | None:
    """Marks memories as no longer true; with ``by``, as superseded by that memory. Of one in
    ``ended`` only these facts are, and the memory stays.

    They stay readable as history; profiles forget them. ``valid_to`` is also when this was
    learnt (default: now), ``certainty`` (0..1) how certain it is; without it, as certain as
    ``actor`` is in validity.CERTAINTY. They held ``until`` then, where that is known (default:
    ``valid_to``), but at least when they were said. What changes the rows of ``keep`` before it is
    undone is undone with it. None when there is nothing to do.
    """
    memories = [memory for memory in memories if memory.status == Status.ACTIVE]
    if not memories:
        return None
    ids = [memory.id for memory in memories]
    with recording(end_user, "outdate", actor, why, ids) as (recorder, change):
        recorder.watch(memories)
        recorder.keep(keep)
        for memory in memories:
            if memory.pk in ended:
                validity.end_facts(memory, ended[memory.pk], valid_to, until, by)
            else:
                memory.status = Status.OUTDATED
                validity.note(memory, actor, valid_to, certainty, until)
            memory.save(update_fields=[*validity.FIELDS, "facts", "updated_at"])
        whole = [pk for pk in ids if pk not in ended]
        if by is not None:
            edge = Edge(reason=why)
            wanted = {(by, str(Edge.Kind.SUPERSEDES), pk): edge for pk in whole}
            lineage.relate(end_user, wanted, recorder)
        derived.unlearn(end_user, whole, recorder)
        derived.unlearn_facts(end_user, [m for m in memories if m.pk in ended], recorder)
    return change


def restore_superseded(
    end_user: EndUser, by: Collection[UUID], recorder: Recorder, *, of: UUID | None = None
) -> None:
    """Lets stand again what machines took these memories to contradict, of a person where one is
    given; memories told since that contradict it as well are compared anew."""
    by = {*by, *Memory.objects.of(end_user).filter(merged_into__in=by).values_list("pk", flat=True)}
    rows = Memory.objects.of(end_user)
    about = rows.about(of) if of else rows
    edges = Edge.objects.of(end_user).filter(kind=Edge.Kind.SUPERSEDES)
    mine = edges.filter(source__in=by, target__in=about.values("pk"))
    others = edges.exclude(source__in=by).filter(target__in=mine.values("target"))
    whole = rows.filter(
        pk__in=mine.values("target"), status=Status.OUTDATED, outdated_confidence__lt=1
    ).exclude(pk__in=others.values("target"))
    parts = reduce(or_, (Q(facts__contains=[{"superseded_by": str(pk)}]) for pk in by))
    back = [*derived.tracked(whole), *derived.tracked(about.active().filter(parts))]
    said = rows.active().filter(content_hash__in=[memory.content_hash for memory in back])
    taken = dict(said.values_list("content_hash", "pk"))
    back = [one for one in back if taken.get(one.content_hash, one.pk) == one.pk]
    if not back:
        return
    recorder.watch(back)
    gone = mine.filter(target__in=back)
    recorder.watch(gone)
    gone.delete()
    for memory in back:
        validity.stand_again(memory, by)
        memory.status = Status.ACTIVE
        validity.follow_status(memory, "", None)
        memory.save(update_fields=[*validity.FIELDS, "facts", "updated_at"])
    ids = [memory.pk for memory in back]
    _compare_anew(end_user, back, {*by, *ids}, recorder)
    for contact in end_user.contacts.standing().light().filter(links__memory__in=ids).distinct():
        derived.reopen(end_user, contact, ids, recorder)
        store.save(contact, [])


def _compare_anew(
    end_user: EndUser, back: Iterable[Memory], but: Collection[UUID], recorder: Recorder
) -> None:
    """Has memories told later that state the same attribute of the same person compared with
    these again."""
    slots = [
        Q(facts__contains=[{"key": fact["key"], "person": fact["person"]}], said_at__gt=one.said_at)
        for one in back
        for fact in one.facts
        if is_single(fact["key"])
    ]
    if slots:
        found = Memory.objects.of(end_user).active().facts().filter(reduce(or_, slots))
        later = derived.tracked(found.exclude(pk__in=but))
        recorder.watch(later)
        Memory.objects.filter(pk__in=[memory.pk for memory in later]).update(unread=True)


@atomic()
def edit(
    end_user: EndUser, memory_id: UUID, values: dict[str, Any], *, actor: str, why: str = ""
) -> Change:
    """Changes columns of a memory: content, type, subtype, status, importance, the times.

    An importance that is set here is never rescored; None gives it back to the formula.
    New content is tokenised at once and embedded by the next worker; what profiles had
    learnt from the old is read again. Raises InvalidCorrection.
    """
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
            _read_anew(memory, recorder)
        if "metadata" in values:
            memory.metadata = _noted(memory.metadata, values["metadata"])
            values = {key: value for key, value in values.items() if key != "metadata"}
        if "importance" in values:
            values = {**values, "importance": _pin(memory, values["importance"])}
        _set(memory, values, end_user)
        validity.follow_status(memory, actor, values.get("valid_to"))
        if memory.kind == Memory.Kind.FACT:
            memory.content_hash = content_hash(memory.content)
        derived.reindex(memory)
        if memory.status == Status.ARCHIVED:
            graph.let_go(end_user, [memory_id], recorder)
        try:
            with atomic():
                memory.save()
        except IntegrityError as error:
            raise InvalidCorrection(_why_not(error)) from error
        contacts = derived.unlearn(end_user, [memory.id], recorder) if values else ()
        for contact in contacts:
            derived.reopen(end_user, contact, [memory.id], recorder)
            store.save(contact, [])
    return change


def _read_anew(memory: Memory, recorder: Recorder) -> None:
    """Empties a memory (unsaved) of the facts of its former words; a worker reads the new."""
    memory.facts, memory.brackets, memory.unread = [], None, True
    restore_superseded(memory.end_user, [memory.pk], recorder)
    queue.enqueue("reread", memory.end_user_id)


def _set(memory: Memory, values: dict[str, Any], end_user: EndUser) -> None:
    """Sets columns of a memory (unsaved); when it was said and takes place by the clock that
    the time was told by, else by the user's."""
    for field, value in values.items():
        if field in ("said_at", "happens_at") and value is not None:
            value = time_zones.local(value, time_zones.stated_offset(value), end_user.zone)
        if field == "said_at":
            memory.say(value)
        elif field == "happens_at":
            memory.happen(value)
        else:
            setattr(memory, field, value)
    ends = memory.happens_until
    if ends and not (memory.happens_at and memory.happens_at <= ends):
        raise InvalidCorrection(Reason("ends_before_it_begins"))


def _noted(held: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Metadata with the keys that are given; a None takes one away. Raises InvalidCorrection."""
    noted = {key: value for key, value in {**held, **given}.items() if value is not None}
    if len(json.dumps(noted, ensure_ascii=False).encode()) > MOST_NOTED:
        raise InvalidCorrection(Reason("metadata_too_long", most=MOST_NOTED))
    return noted


def _pin(memory: Memory, importance: float | None) -> float:
    """Notes on the memory (unsaved) that its importance was set, so that no rescoring changes
    it; None gives it back to the formula. Returns the importance until then."""
    kept = {key: value for key, value in memory.metadata.items() if key != PINNED}
    if importance is None:
        memory.metadata = kept
        return memory.importance
    if importance != memory.importance:
        memory.metadata = {**kept, PINNED: importance}
    return importance


def _why_not(error: IntegrityError) -> Reason:
    """What a person can do about a constraint that an edit would break."""
    broken = broken_constraint(error)
    if broken == "consolidated_source_stays_low":
        return Reason("low_importance")
    if broken == "memory_once":
        return Reason("duplicate")
    return Reason("out_of_range")


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
    """Stores a memory that a person or app states, linked to ``contacts``. The memory that
    already says exactly this is returned as it is, with no change. Raises InvalidCorrection."""
    end_user = locked(end_user)
    check_content(content)
    key = content_hash(content)
    held = Memory.objects.of(end_user).active().filter(content_hash=key).first()
    if held is not None:
        return held, None
    memory = stated(end_user, content, **columns)
    with recording(end_user, "add", actor, why, [memory.id]) as (recorder, change):
        memory.save(force_insert=True)
        recorder.watch([memory], created=True)
        for contact in _still(end_user, contacts):
            link(end_user, memory.pk, contact, recorder)
            store.save(contact, [])
        queue.enqueue("read_facts", end_user.pk)
    return memory, change


def stated(end_user: EndUser, content: str, **columns: Any) -> Memory:
    """A memory (unsaved) that a person or app states now; a worker is to read it."""
    memory = Memory(end_user=end_user, content=content, content_hash=content_hash(content))
    memory.say(timezone.localtime(timezone=end_user.zone))
    _set(memory, columns, end_user)
    if "importance" in columns:
        memory.metadata = {**memory.metadata, PINNED: memory.importance}
    memory.learnt_day, memory.unread = end_user.activity_days, True
    derived.reindex(memory)
    return memory


@atomic()
def unlink(
    end_user: EndUser, memory_id: UUID, contact_id: UUID, *, actor: str, why: str = ""
) -> Change:
    """Says that a memory is not about a contact; no machine links the two again."""
    end_user = locked(end_user)
    contact_id = _current(end_user, contact_id)
    subjects = [memory_id, contact_id]
    with recording(end_user, "unlink", actor, why, subjects) as (recorder, change):
        _reject(end_user, memory_id, contact_id, recorder)
    return change


@atomic()
def move(
    end_user: EndUser, memory_id: UUID, from_id: UUID, to_id: UUID, *, actor: str, why: str = ""
) -> Change:
    """Says that a memory is about another contact than was thought; both cards follow."""
    end_user = locked(end_user)
    target = store.survivor(end_user, to_id)
    from_id = _current(end_user, from_id)
    memory = Memory.objects.of(end_user).filter(pk=memory_id).first()
    if target is None or memory is None:
        raise InvalidCorrection(Reason("no_such_contact_or_memory"))
    if target.id == from_id:
        raise InvalidCorrection(Reason("linked_already"))
    subjects = [memory_id, from_id, target.id]
    with recording(end_user, "move", actor, why, subjects) as (recorder, change):
        recorder.watch([memory])
        stated = relations.resting_on(end_user, [memory_id], of=from_id)
        _reject(end_user, memory_id, from_id, recorder)
        target.refresh_from_db()
        _relate_anew(end_user, stated, from_id, target, memory_id, recorder)
        link(end_user, memory_id, target, recorder)
        memory.facts = [
            {**fact, "person": str(target.id)} if fact["person"] == str(from_id) else fact
            for fact in memory.facts
        ]
        memory.unread = True
        memory.save(update_fields=["facts", "unread", "updated_at"])
        queue.enqueue("reread", end_user.pk)
        derived.reopen(end_user, target, [memory_id], recorder)
        store.save(target, [])
        store.render_around(end_user, [target.id])
    return change


def _relate_anew(
    end_user: EndUser,
    stated: Iterable[Relation],
    old: UUID,
    new: Contact,
    memory_id: UUID,
    recorder: Recorder,
) -> None:
    """What a memory said of the relations of one contact, it says of another's."""
    held = Relation.objects.of(end_user).among([new.id])
    recorder.watch(held)
    known = set(held.values_list("pk", flat=True))
    for row in stated:
        subject, other = (new if at.id == old else at for at in (row.subject, row.object))
        made = relations.relate(end_user, subject, row.kind, other, [memory_id])
        if made is not None and made.pk not in known:
            recorder.watch([made], created=True)


def _still(end_user: EndUser, contacts: Iterable[Contact]) -> list[Contact]:
    """These contacts, or those that they were merged into meanwhile, each once."""
    found = [store.survivor(end_user, contact.id) for contact in contacts]
    return list({contact.id: contact for contact in found if contact}.values())


def _current(end_user: EndUser, contact_id: UUID) -> UUID:
    """The id, or that of the contact that it was merged into."""
    contact = store.survivor(end_user, contact_id)
    return contact.id if contact else contact_id


def link(end_user: EndUser, memory_id: UUID, contact: Contact, recorder: Recorder) -> None:
    """Links a memory to a contact as a person states it, whatever was thought of it."""
    known = Link.objects.of(end_user).filter(memory=memory_id, contact=contact).first()
    if known is not None:
        recorder.watch([known])
    stated = known or Link(end_user=end_user, memory_id=memory_id, contact=contact)
    stated.rejected, stated.made_by, stated.confidence = False, Link.MadeBy.OPERATOR, 1.0
    stated.save()
    recorder.watch([stated], created=True)


def _reject(end_user: EndUser, memory_id: UUID, contact_id: UUID, recorder: Recorder) -> None:
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
    sources.point_at_profiles(end_user, [memory_id], recorder=recorder)
    contact = store.survivor(end_user, contact_id)
    if contact is not None:
        store.save(contact, [])
