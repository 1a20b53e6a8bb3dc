"""Undoing one change: its rows as they were, then what is derived from them once more.

What machines learnt since, which no change records, stays with the contact that it was learnt of:
profiles read it again. After a merge, memories that name only the other of the two go to them.
"""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Exists, F, Model, OuterRef, Value
from django.db.models.functions import Greatest, Least, Substr
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.cells import atomic, connection
from accounts.changes import UNRECORDED, Rows
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from accounts.rollback import CannotUndo, LaterChanges, later_changes, put_back
from contacts import merge as identities
from contacts import relations
from contacts.models import Contact, Relation
from memories import profiles, queue
from memories.corrections import derived, edit_memories, erasure_requests, merge_contacts
from memories.models import Edge, EntityLink, Link, Memory
from memories.models.links import DOUBTFUL
from understanding.people.mentions import entries_of, find_mentions

_CONTACT, _LINK = Contact._meta.label_lower, Link._meta.label_lower
_ENDS = ("contact_id", "memory_id", "subject_id", "object_id")
# A mention that tells two people apart has at least this confidence.
SURE = 0.8


@atomic()
def undo_change(change: Change, *, actor: str, with_later: bool = False) -> list[Change]:
    """Undoes a change after the later ones that touched the same rows, newest first. Returns these.
    Raises LaterChanges where they were not asked for, and CannotUndo."""
    end_user = edit_memories.locked(change.end_user)
    change = Change.objects.of(end_user).select_for_update().get(pk=change.pk)
    if change.undone_at:
        raise CannotUndo(Reason("undone_already"))
    later = later_changes(change)
    if later and not with_later:
        raise LaterChanges(later)
    try:
        with atomic():
            for one in (*later, change):
                if hook := settings.MIO_UNDO_HOOKS.get(one.verb):
                    import_string(hook)(one)
                _restore(end_user, one)
                one.undone_at, one.undone_by = timezone.now(), actor
                one.save(update_fields=["undone_at", "undone_by"])
                erasure_requests.cancel(one)
            # Not at the end of the transaction: here a row that points at nothing is refused.
            connection.check_constraints()
    except IntegrityError as error:
        raise CannotUndo(Reason("collides")) from error
    queue.enqueue("embed", end_user.pk)
    return later


def _restore(end_user: EndUser, change: Change) -> None:
    """Puts back every row of ``change`` and recomputes what is derived. Raises CannotUndo."""
    touched = _touched(change)
    rows = _with_free_numbers(end_user, _keep_known(end_user, change))
    read_since = _read_since(end_user, change)
    spoken_for = _delete_profiles(end_user, change, [row["id"] for row in rows])
    put_back(rows)
    derived.give_weight_back(end_user, spoken_for)
    _drop_unshared(end_user, change)
    memories = Memory.objects.of(end_user)
    for memory in memories.filter(pk__in=_altered(change, "content")):
        derived.reindex(memory)
        memory.save(update_fields=["tokens", "embedding_model", "related_at"])
    memories.filter(pk__in=_altered(change, "status")).update(related_at=None)
    _read_again(end_user, rows, read_since)
    if change.verb == "merge":
        touched |= _divide_learnt(end_user, change)
    derived.recompute(end_user, touched, touched | spoken_for)


def _rows(change: Change, model: type[Model]) -> Rows:
    return [row for row in change.rows if row["model"] == model._meta.label_lower]


def _ids(change: Change, model: type[Model], *, made: bool = False) -> list[Any]:
    """The ids of the rows of a model that the change touched, or only of those that it ``made``."""
    return [row["id"] for row in _rows(change, model) if not (made and row["before"])]


def _altered(change: Change, *columns: str) -> set[UUID]:
    """The memories that the change made or deleted, or of which it altered one of these columns."""
    return {
        UUID(row["id"])
        for row in _rows(change, Memory)
        if any((row["before"] or {}).get(k) != (row["after"] or {}).get(k) for k in columns)
    }


def _touched(change: Change) -> set[UUID]:
    """The ids of the contacts and memories that a change touched, themselves or by a link or
    relation, and of those whom a memory is about that reads otherwise without it."""
    links = Link.objects.of(change.end_user_id)
    stated = Relation.objects.of(change.end_user_id).filter(pk__in=_ids(change, Relation))
    pairs = [
        *links.filter(pk__in=_ids(change, Link)).values_list("contact", "memory"),
        *stated.values_list("subject", "object"),
    ]
    sides = [side for row in change.rows for side in (row["before"], row["after"]) if side]
    about = links.filter(memory__in=_altered(change, "content", "status", "facts"))
    return {
        *map(UUID, [*_ids(change, Contact), *_ids(change, Memory)]),
        *(UUID(side[end]) for side in sides for end in _ENDS if end in side),
        *(pk for pair in pairs for pk in pair),
        *about.values_list("contact", flat=True),
    }


def _keep_known(end_user: EndUser, change: Change) -> Rows:
    """The rows to put back: not those of people whom the change made and of whom more was learnt
    since. What was learnt of the new contact of a split goes to the other. Raises CannotUndo."""
    made = _ids(change, Contact, made=True)
    links = Link.objects.of(end_user).filter(contact__in=made).exclude(pk__in=_ids(change, Link))
    links = links.exclude(memory__kind=Memory.Kind.PROFILE)
    learnt: dict[str, list[Link]] = {}
    for link in links.exclude(memory__in=_ids(change, Memory, made=True)).order_by("pk"):
        learnt.setdefault(str(link.contact_id), []).append(link)
    standing = end_user.contacts.standing()
    if change.verb == "split" and (old := standing.filter(pk=change.subjects[0]).first()):
        for new in Contact.objects.of(end_user).filter(pk__in=made).light():
            since = learnt.pop(str(new.pk), [])
            merge_contacts.hand_over(since, old, UNRECORDED)
            merge_contacts.rename_in_facts(end_user, new.pk, old.pk, UNRECORDED)
            derived.reopen(end_user, old, [link.memory_id for link in since])
            identities.undo_part(new, old, change.rows)
    rows = [row for row in change.rows if row["model"] != _CONTACT or row["id"] not in learnt]
    if learnt and (not rows or change.verb == "split"):
        name = Contact.objects.of(end_user).get(pk=next(iter(learnt))).name
        raise CannotUndo(Reason("more_learnt", name=name))
    return rows


def _with_free_numbers(end_user: EndUser, rows: Rows) -> Rows:
    """The rows; a contact whose name is borne by another by now gets the next free number."""
    ids = [row["id"] for row in rows if row["model"] == _CONTACT]
    others = Contact.objects.of(end_user).standing().exclude(pk__in=ids)
    numbers = dict(Contact.objects.of(end_user).filter(pk__in=ids).values_list("pk", "namesake"))
    taken: set[tuple[str, int]] = set()
    result = []
    for row in rows:
        before, after = row["before"], row["after"]
        if row["model"] == _CONTACT and before and before.get("merged_into_id", "") is None:
            key = before["name_key"]
            number = before.get("namesake", numbers.get(UUID(row["id"]), 0))
            taken |= set(others.filter(name_key=key).values_list("name_key", "namesake"))
            if (key, number) in taken:
                free = max(n for name, n in taken if name == key) + 1
                taken.add((key, free))
                before = {**before, "namesake": free}
                after = after and {**after, "namesake": number}
        result.append({**row, "before": before, "after": after})
    return result


def _read_since(end_user: EndUser, change: Change) -> dict[int, tuple[UUID, UUID]]:
    """The contact and memory of each link read since the change that it touched, or whose memory or
    profile it did."""
    profiled = [
        row["id"]
        for row in _rows(change, Contact)
        if not {*derived.PROFILE_FIELDS}.isdisjoint(row["before"] or ())
    ]
    links = Link.objects.of(end_user).filter(consolidated_at__gt=change.created_at)
    links = (
        links.filter(pk__in=_ids(change, Link))
        | links.filter(memory__in=_altered(change, "content", "status", "facts"))
        | links.filter(contact__in=profiled)
    )
    return {pk: (one, other) for pk, one, other in links.values_list("pk", "contact", "memory")}


def _read_again(end_user: EndUser, rows: Rows, read_since: dict[int, tuple[UUID, UUID]]) -> None:
    """Removes from profiles what they have read since the change, but from columns that it
    recorded, and has it read again by whom it is about now."""
    recorded = {(row["model"], row["id"]): {*(row["before"] or ())} for row in rows}
    stale: dict[UUID, set[UUID]] = {}
    for contact_id, memory_id in read_since.values():
        stale.setdefault(contact_id, set()).add(memory_id)
    for contact in end_user.contacts.filter(pk__in=stale).light():
        restored = recorded.get((_CONTACT, str(contact.pk)), set())
        if "personality" in restored:
            restored = {*restored, "personality_sources"}
        fields = [name for name in derived.PROFILE_FIELDS if name not in restored]
        learnt = derived.profile_of(contact, fields)
        left, again = profiles.without(learnt, stale[contact.pk])
        derived.set_profile(contact, left, fields)
        contact.save(update_fields=fields)
        derived.reopen(end_user, contact, again)
    for link in Link.objects.of(end_user).filter(pk__in=read_since):
        if "consolidated_at" not in recorded.get((_LINK, str(link.pk)), ()):
            derived.reopen(end_user, link.contact, [link.memory_id])


def _delete_profiles(end_user: EndUser, change: Change, kept: Collection[str]) -> set[UUID]:
    """Deletes the profile memories that the change made, or of contacts that it made and that go.
    Returns the memories that they spoke for."""
    rows = Memory.objects.of(end_user).filter(kind=Memory.Kind.PROFILE)
    keys = [f"profile:{pk}" for pk in _ids(change, Contact, made=True) if pk in kept]
    created = rows.filter(pk__in=_ids(change, Memory, made=True))
    doomed = created | rows.filter(content_hash__in=keys)
    spoken_for = Memory.objects.of(end_user).filter(consolidated_into__in=doomed)
    ids = set(spoken_for.values_list("pk", flat=True))
    doomed.delete()
    return ids


def _drop_unshared(end_user: EndUser, change: Change) -> None:
    """Deletes restored edges by an entity that one of their memories no longer speaks of."""
    name = Substr(OuterRef("kind"), len(Edge.SHARES_ENTITY) + 1)
    links = EntityLink.objects.of(end_user).filter(entity__name=name)
    spoken = [Exists(links.filter(memory=OuterRef(end))) for end in ("source", "target")]
    edges = Edge.objects.of(end_user).filter(pk__in=_ids(change, Edge))
    unshared = edges.filter(kind__startswith=Edge.SHARES_ENTITY).exclude(*spoken)
    Edge.objects.filter(pk__in=list(unshared.values_list("pk", flat=True))).delete()


def _divide_learnt(end_user: EndUser, merge: Change) -> set[UUID]:
    """Gives the other of two people whose merge is undone the memories learnt since that name them
    alone. Those that don't tell the two apart stay with the survivor, for a person to look at.
    Returns the memories given."""
    pair = end_user.contacts.light().in_bulk(merge.subjects)
    if len(pair) != 2:
        return set()
    other, survivor = (pair[UUID(pk)] for pk in merge.subjects)
    learnt = survivor.links.standing().filter(
        memory__created_at__gt=merge.created_at, memory__kind=Memory.Kind.FACT
    )
    entries = entries_of([other.person, survivor.person])
    theirs, unsure = [], []
    for link in learnt.select_related("memory"):
        mentions = find_mentions(f"{link.memory.content}\n{link.memory.quote}", entries)
        meant = {mention.person.id for mention in mentions if mention.confidence >= SURE}
        if len(meant) != 1:
            unsure.append(link.pk)
        elif other.pk in meant:
            theirs.append(link)
    doubted = Link.objects.filter(pk__in=unsure)
    # Who stated such a link stated it of both.
    doubted.filter(made_by=Link.MadeBy.OPERATOR).update(made_by=Link.MadeBy.EXTRACTOR)
    doubted.update(confidence=Least(F("confidence"), Value(DOUBTFUL)))
    if theirs:
        _give(end_user, theirs, survivor, other)
    return {link.memory_id for link in theirs}


def _give(end_user: EndUser, links: Sequence[Link], old: Contact, new: Contact) -> None:
    """Makes memories, with the relations that rest on them, those of another contact."""
    ids = {link.memory_id for link in links}
    stated = relations.resting_on(end_user, ids, of=old.pk)
    merge_contacts.hand_over(links, new, UNRECORDED)
    merge_contacts.rename_in_facts(end_user, old.pk, new.pk, UNRECORDED, among=ids)
    edit_memories.relate_anew(stated, old.pk, new, ids, UNRECORDED)
    derived.unlearn(end_user, ids, contact=old)
    edit_memories.restore_superseded(end_user, ids, UNRECORDED, of=old.pk)
    derived.reopen(end_user, new, ids)
    Memory.objects.of(end_user).filter(pk__in=ids).update(unread=True)
    queue.enqueue("reread", end_user.pk)
    rows = Contact.objects.of(end_user)
    rows.filter(pk=old.pk).update(mention_count=Greatest(F("mention_count") - len(ids), 0))
    rows.filter(pk=new.pk).update(
        mention_count=F("mention_count") + len(ids),
        last_mentioned_at=max(new.last_mentioned_at, *(link.memory.said_at for link in links)),
    )
