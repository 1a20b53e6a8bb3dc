"""Undoes one change: restores its rows, then recomputes what is derived from them.

What machines learnt since, which no change records, stays with its contact; profiles read it again.
After a merge is undone, memories that name only the other contact move to that one.
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
from accounts.rollback import CannotUndo, LaterChanges, later_changes, restore_rows
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
# A mention with at least this confidence distinguishes two people.
SURE = 0.8


@atomic()
def undo_change(change: Change, *, actor: str, with_later: bool = False) -> list[Change]:
    """Undoes a change after the later ones that touched the same rows, newest first, and returns
    these. Raises LaterChanges if there are any but not ``with_later``, and CannotUndo."""
    end_user = edit_memories.locked(change.end_user)
    change = Change.objects.of(end_user).select_for_update().get(pk=change.pk)
    if change.undone_at:
        raise CannotUndo(Reason("undone_already"))
    later = later_changes(change)
    if later and not with_later:
        raise LaterChanges(later)
    try:
        with atomic():
            for undone in (*later, change):
                if hook := settings.MIO_UNDO_HOOKS.get(undone.verb):
                    import_string(hook)(undone)
                _restore(end_user, undone)
                undone.undone_at, undone.undone_by = timezone.now(), actor
                undone.save(update_fields=["undone_at", "undone_by"])
                erasure_requests.cancel(undone)
            # Checked here, so that a dangling reference raises before the transaction ends.
            connection.check_constraints()
    except IntegrityError as error:
        raise CannotUndo(Reason("collides")) from error
    queue.enqueue("embed", end_user.pk)
    return later


def _restore(end_user: EndUser, change: Change) -> None:
    """Restores every row of ``change`` and recomputes what is derived. Raises CannotUndo."""
    touched = _touched_ids(change)
    rows = _with_free_numbers(end_user, _rows_to_restore(end_user, change))
    read_since = _links_read_since(end_user, change)
    represented = _delete_profiles(end_user, change, [row["id"] for row in rows])
    restore_rows(rows)
    derived.restore_importance(end_user, represented)
    _delete_unshared_edges(end_user, change)
    memories = Memory.objects.of(end_user)
    for memory in memories.filter(pk__in=_altered_ids(change, "content")):
        derived.reindex(memory)
        memory.save(update_fields=["tokens", "embedding_model", "related_at"])
    memories.filter(pk__in=_altered_ids(change, "status")).update(related_at=None)
    _read_again(end_user, rows, read_since)
    if change.verb == "merge":
        touched |= _divide_new_memories(end_user, change)
    derived.recompute(end_user, touched, touched | represented)


def _rows(change: Change, model: type[Model]) -> Rows:
    return [row for row in change.rows if row["model"] == model._meta.label_lower]


def _ids(change: Change, model: type[Model], *, created: bool = False) -> list[Any]:
    """Returns the ids of a model's rows that the change touched, or only ``created``."""
    return [row["id"] for row in _rows(change, model) if not (created and row["before"])]


def _altered_ids(change: Change, *columns: str) -> set[UUID]:
    """Returns the ids of memories that the change created, deleted or altered in these columns."""
    return {
        UUID(row["id"])
        for row in _rows(change, Memory)
        if any((row["before"] or {}).get(k) != (row["after"] or {}).get(k) for k in columns)
    }


def _touched_ids(change: Change) -> set[UUID]:
    """Returns the ids of the contacts and memories that a change touched, directly or by a link or
    relation, and of contacts linked to memories whose content, status or facts it altered."""
    links = Link.objects.of(change.end_user_id)
    related = Relation.objects.of(change.end_user_id).filter(pk__in=_ids(change, Relation))
    pairs = [
        *links.filter(pk__in=_ids(change, Link)).values_list("contact", "memory"),
        *related.values_list("subject", "object"),
    ]
    sides = [side for row in change.rows for side in (row["before"], row["after"]) if side]
    altered = links.filter(memory__in=_altered_ids(change, "content", "status", "facts"))
    return {
        *map(UUID, [*_ids(change, Contact), *_ids(change, Memory)]),
        *(UUID(side[end]) for side in sides for end in _ENDS if end in side),
        *(pk for pair in pairs for pk in pair),
        *altered.values_list("contact", flat=True),
    }


def _rows_to_restore(end_user: EndUser, change: Change) -> Rows:
    """Returns the rows to restore, without created contacts about whom more was learnt since. What
    was learnt about the new contact of a split goes to the old one. Raises CannotUndo."""
    added = _ids(change, Contact, created=True)
    links = Link.objects.of(end_user).filter(contact__in=added).exclude(pk__in=_ids(change, Link))
    links = links.exclude(memory__kind=Memory.Kind.PROFILE)
    learnt: dict[str, list[Link]] = {}
    for link in links.exclude(memory__in=_ids(change, Memory, created=True)).order_by("pk"):
        learnt.setdefault(str(link.contact_id), []).append(link)
    standing = end_user.contacts.standing()
    if change.verb == "split" and (old := standing.filter(pk=change.subjects[0]).first()):
        for new in Contact.objects.of(end_user).filter(pk__in=added).light():
            new_links = learnt.pop(str(new.pk), [])
            merge_contacts.hand_over(new_links, old, UNRECORDED)
            merge_contacts.rename_in_facts(end_user, new.pk, old.pk, UNRECORDED)
            derived.reopen(end_user, old, [link.memory_id for link in new_links])
            identities.undo_split(new, old, change.rows)
    rows = [row for row in change.rows if row["model"] != _CONTACT or row["id"] not in learnt]
    if learnt and (not rows or change.verb == "split"):
        name = Contact.objects.of(end_user).get(pk=next(iter(learnt))).name
        raise CannotUndo(Reason("more_learnt", name=name))
    return rows


def _with_free_numbers(end_user: EndUser, rows: Rows) -> Rows:
    """Returns the rows; a contact whose name another has by now gets a free namesake number."""
    ids = [row["id"] for row in rows if row["model"] == _CONTACT]
    contacts = Contact.objects.of(end_user).standing().exclude(pk__in=ids)
    numbers = dict(Contact.objects.of(end_user).filter(pk__in=ids).values_list("pk", "namesake"))
    taken: set[tuple[str, int]] = set()
    result = []
    for row in rows:
        before, after = row["before"], row["after"]
        if row["model"] == _CONTACT and before and before.get("merged_into_id", "") is None:
            key = before["name_key"]
            number = before.get("namesake", numbers.get(UUID(row["id"]), 0))
            taken |= set(contacts.filter(name_key=key).values_list("name_key", "namesake"))
            if (key, number) in taken:
                free = max(n for name, n in taken if name == key) + 1
                taken.add((key, free))
                before = {**before, "namesake": free}
                after = after and {**after, "namesake": number}
        result.append({**row, "before": before, "after": after})
    return result


def _links_read_since(end_user: EndUser, change: Change) -> dict[int, tuple[UUID, UUID]]:
    """Returns the contact and memory, by link, of links that profiles read since the change: those
    that it touched, and those whose memory or profile it touched."""
    profiled = [
        row["id"]
        for row in _rows(change, Contact)
        if not {*derived.PROFILE_FIELDS}.isdisjoint(row["before"] or ())
    ]
    links = Link.objects.of(end_user).filter(consolidated_at__gt=change.created_at)
    links = (
        links.filter(pk__in=_ids(change, Link))
        | links.filter(memory__in=_altered_ids(change, "content", "status", "facts"))
        | links.filter(contact__in=profiled)
    )
    return {pk: (one, other) for pk, one, other in links.values_list("pk", "contact", "memory")}


def _read_again(end_user: EndUser, rows: Rows, read_since: dict[int, tuple[UUID, UUID]]) -> None:
    """Removes from profiles what they read since the change, except from fields that it restores,
    and has it read again by the contacts that it is about now."""
    recorded = {(row["model"], row["id"]): {*(row["before"] or ())} for row in rows}
    stale: dict[UUID, set[UUID]] = {}
    for contact_id, memory_id in read_since.values():
        stale.setdefault(contact_id, set()).add(memory_id)
    for contact in end_user.contacts.filter(pk__in=stale).light():
        restored = recorded.get((_CONTACT, str(contact.pk)), set())
        if "personality" in restored:
            restored = {*restored, "personality_sources"}
        fields = [name for name in derived.PROFILE_FIELDS if name not in restored]
        profile = derived.profile_of(contact, fields)
        remaining, reread_ids = profiles.without(profile, stale[contact.pk])
        derived.set_profile(contact, remaining, fields)
        contact.save(update_fields=fields)
        derived.reopen(end_user, contact, reread_ids)
    for link in Link.objects.of(end_user).filter(pk__in=read_since):
        if "consolidated_at" not in recorded.get((_LINK, str(link.pk)), ()):
            derived.reopen(end_user, link.contact, [link.memory_id])


def _delete_profiles(end_user: EndUser, change: Change, restored: Collection[str]) -> set[UUID]:
    """Deletes the profile memories that the change created, or of contacts that it created and that
    the undo deletes. Returns the ids of the memories that they represented."""
    rows = Memory.objects.of(end_user).filter(kind=Memory.Kind.PROFILE)
    keys = [f"profile:{pk}" for pk in _ids(change, Contact, created=True) if pk in restored]
    created = rows.filter(pk__in=_ids(change, Memory, created=True))
    deleted = created | rows.filter(content_hash__in=keys)
    represented = Memory.objects.of(end_user).filter(consolidated_into__in=deleted)
    ids = set(represented.values_list("pk", flat=True))
    deleted.delete()
    return ids


def _delete_unshared_edges(end_user: EndUser, change: Change) -> None:
    """Deletes restored edges by an entity that one of the memories no longer mentions."""
    name = Substr(OuterRef("kind"), len(Edge.SHARES_ENTITY) + 1)
    links = EntityLink.objects.of(end_user).filter(entity__name=name)
    mentions = [Exists(links.filter(memory=OuterRef(end))) for end in ("source", "target")]
    edges = Edge.objects.of(end_user).filter(pk__in=_ids(change, Edge))
    unshared = edges.filter(kind__startswith=Edge.SHARES_ENTITY).exclude(*mentions)
    Edge.objects.filter(pk__in=list(unshared.values_list("pk", flat=True))).delete()


def _divide_new_memories(end_user: EndUser, merge: Change) -> set[UUID]:
    """Moves memories learnt since a merge that is being undone, and that name only the other
    contact, to that contact; those that don't distinguish the two stay with the survivor, with a
    doubtful link that a person reviews. Returns the ids of the moved memories."""
    pair = end_user.contacts.light().in_bulk(merge.subjects)
    if len(pair) != 2:
        return set()
    other, survivor = (pair[UUID(pk)] for pk in merge.subjects)
    new_links = survivor.links.standing().filter(
        memory__created_at__gt=merge.created_at, memory__kind=Memory.Kind.FACT
    )
    entries = entries_of([other.person, survivor.person])
    moved_links, unclear_ids = [], []
    for link in new_links.select_related("memory"):
        mentions = find_mentions(f"{link.memory.content}\n{link.memory.quote}", entries)
        named_ids = {mention.person.id for mention in mentions if mention.confidence >= SURE}
        if len(named_ids) != 1:
            unclear_ids.append(link.pk)
        elif other.pk in named_ids:
            moved_links.append(link)
    unclear_links = Link.objects.filter(pk__in=unclear_ids)
    # Whoever stated such a link stated it about both contacts as one.
    unclear_links.filter(made_by=Link.MadeBy.OPERATOR).update(made_by=Link.MadeBy.EXTRACTOR)
    unclear_links.update(confidence=Least(F("confidence"), Value(DOUBTFUL)))
    if moved_links:
        _move_memories(end_user, moved_links, survivor, other)
    return {link.memory_id for link in moved_links}


def _move_memories(end_user: EndUser, links: Sequence[Link], old: Contact, new: Contact) -> None:
    """Moves memories, with facts and relations that rest on them, from one contact to another."""
    ids = {link.memory_id for link in links}
    stated_relations = relations.resting_on(end_user, ids, of=old.pk)
    merge_contacts.hand_over(links, new, UNRECORDED)
    merge_contacts.rename_in_facts(end_user, old.pk, new.pk, UNRECORDED, among=ids)
    edit_memories.relate_anew(stated_relations, old.pk, new, ids, UNRECORDED)
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
