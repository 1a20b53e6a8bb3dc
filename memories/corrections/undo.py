"""Undoing one change: its rows, and everything that is derived from them.

What machines learnt since, which no change records, stays with the contact that it was learnt of,
except what names only the other contact of an undone merge. A profile keeps what it read in
memories that the change did not touch; those that the change did touch are read again.
"""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from accounts.cells import atomic, connection
from accounts.changes import UNRECORDED, Rows
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from accounts.rollback import CannotUndo, LaterChanges, later_changes, mark_undone, put_back
from contacts import merge as identities
from contacts.models import Contact, Relation
from memories import profiles
from memories.corrections import derived, erasure_requests, learnt_since, merge_contacts
from memories.corrections.edit_memories import locked
from memories.models import Edge, EntityLink, Link, Memory

_CONTACT, _MEMORY, _LINK, _EDGE, _RELATION = (
    model._meta.label_lower for model in (Contact, Memory, Link, Edge, Relation)
)

# Verbs that make many people: those of whom more was learnt since stay when such a change is undone.
_OF_MANY = frozenset({"import_people"})


@atomic()
def undo_change(change: Change, *, actor: str, with_later: bool = False) -> list[Change]:
    """Undoes a change, after the later changes that touched the same rows, newest first. Returns
    these.

    Raises LaterChanges where there are such and they were not asked for, and CannotUndo.
    """
    end_user = locked(change.end_user)
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
                take_back(end_user, one)
                mark_undone(one, actor)
                erasure_requests.cancel(one)
            # Not at the end of the transaction: what points at nothing is found out here.
            connection.check_constraints()
    except IntegrityError as error:
        raise CannotUndo(Reason("collides")) from error
    return later


def take_back(end_user: EndUser, change: Change) -> None:
    """Puts back every row of ``change`` and recomputes what is derived. Raises CannotUndo."""
    rows = _numbered(end_user, change.rows)
    contacts, memories = _touched(change)
    made = {UUID(row["id"]) for row in rows if row["model"] == _CONTACT and row["before"] is None}
    learnt = _learnt_since(end_user, change, made)
    if change.verb in _OF_MANY:
        rows = [row for row in rows if row["model"] != _CONTACT or UUID(row["id"]) not in learnt]
        made -= learnt.keys()
    else:
        returned = made if change.verb == "split" else learnt
        for contact in Contact.objects.of(end_user).filter(pk__in=returned).light():
            _give_to_original(end_user, change, contact, learnt.get(contact.pk, []))
    altered_memories = _with(change, "content", "status", "facts")
    people = Link.objects.of(end_user).people_by_memory(altered_memories, rejected=True)
    contacts |= set().union(*people.values())
    read_since = _read_since(end_user, change, altered_memories)
    before = end_user.contacts.filter(pk__in=contacts - made).light().in_bulk()
    without_profile = _delete_profiles(end_user, change, made)
    put_back(rows)
    _drop_unshared(end_user, change)
    for memory in Memory.objects.of(end_user).filter(pk__in=_with(change, "content")):
        derived.reindex(memory)
        memory.save(update_fields=["tokens", "embedding_model", "related_at"])
    Memory.objects.of(end_user).filter(pk__in=_with(change, "status")).update(related_at=None)
    _reopen_readings(end_user, rows, read_since)
    altered = {row["id"]: row for row in rows if row["model"] == _CONTACT and row["before"]}
    stale: dict[UUID, set[UUID]] = {pk: set() for pk in before}
    for contact_id, memory_id in read_since.values():
        stale.setdefault(contact_id, set()).add(memory_id)
    for pk, contact in before.items():
        _restore_profile(contact, altered.get(str(pk)), stale[pk])
    if change.verb == "merge":
        memories |= learnt_since.give_each_their_own(end_user, change)
    derived.recompute(end_user, contacts, memories, without_profile=without_profile)
    derived.cancel_consolidations(end_user, contacts)


def _drop_unshared(end_user: EndUser, change: Change) -> None:
    """Deletes restored edges by an entity that one of their memories no longer speaks of."""
    edges = Edge.objects.of(end_user).filter(pk__in=_ids(change, _EDGE))
    shared = list(edges.filter(kind__startswith=Edge.SHARES_ENTITY))
    ends = {pk for edge in shared for pk in (edge.source_id, edge.target_id)}
    links = EntityLink.objects.of(end_user).filter(memory__in=ends)
    spoken_of = set(links.values_list("memory", "entity__name"))
    gone = [edge.pk for edge in shared
            if not {(pk, edge.kind.removeprefix(Edge.SHARES_ENTITY))
                    for pk in (edge.source_id, edge.target_id)} <= spoken_of]  # fmt: skip
    Edge.objects.filter(pk__in=gone).delete()


def _touched(change: Change) -> tuple[set[UUID], set[UUID]]:
    """The contacts and the memories that a change touched, themselves or by a link or relation."""
    links = Link.objects.of(change.end_user_id).filter(pk__in=_ids(change, _LINK))
    relations = Relation.objects.of(change.end_user_id).filter(pk__in=_ids(change, _RELATION))
    linked = set(links.values_list("contact", "memory"))
    related = {pk for pair in relations.values_list("subject", "object") for pk in pair}
    contacts = _named(change, _CONTACT, "contact_id", "subject_id", "object_id")
    memories = _named(change, _MEMORY, "memory_id")
    return (
        contacts | related | {contact for contact, _ in linked},
        memories | {memory for _, memory in linked},
    )


def _ids(change: Change, label: str) -> list[str]:
    return [row["id"] for row in change.rows if row["model"] == label]


def _named(change: Change, label: str, *columns: str) -> set[UUID]:
    """The rows of a model that a change touched, and those that it names in ``columns``."""
    sides = [side for row in change.rows for side in (row["before"], row["after"]) if side]
    named = {side[name] for side in sides for name in columns if name in side}
    return {UUID(pk) for pk in (*_ids(change, label), *named)}


def _with(change: Change, *columns: str) -> set[UUID]:
    """The memories of which the change altered one of these columns, or all of them."""
    return {
        UUID(row["id"])
        for row in change.rows
        if row["model"] == _MEMORY
        and any(
            (row["before"] or {}).get(name) != (row["after"] or {}).get(name) for name in columns
        )
    }


def _numbered(end_user: EndUser, rows: Rows) -> Rows:
    """The rows to put back. A contact whose name was given to a new contact meanwhile gets the next
    free number among its namesakes."""
    ours = [row for row in rows if row["model"] == _CONTACT and _bears_name(row["before"])]
    held = Contact.objects.of(end_user).filter(pk__in=[row["id"] for row in ours])
    numbers = {str(pk): number for pk, number in held.values_list("pk", "namesake")}
    same = Contact.objects.of(end_user).standing().exclude(pk__in=numbers)
    same = same.filter(name_key__in=[row["before"]["name_key"] for row in ours])
    taken = set(same.values_list("name_key", "namesake"))
    numbered = {}
    for row in ours:
        before, after = row["before"], row["after"]
        key, number = before["name_key"], before.get("namesake", numbers.get(row["id"], 0))
        if (key, number) in taken:
            before = {**before, "namesake": max(n for name, n in taken if name == key) + 1}
            taken.add((key, before["namesake"]))
            after = after and {**after, "namesake": number}
            numbered[row["id"]] = {**row, "before": before, "after": after}
    return [numbered.get(row["id"], row) for row in rows]


def _bears_name(columns: dict[str, Any] | None) -> bool:
    """Whether these tracked columns are those of a standing contact whose name was recorded."""
    return columns is not None and columns.get("merged_into_id", "") is None


def _learnt_since(
    end_user: EndUser, change: Change, made: Collection[UUID]
) -> dict[UUID, list[Link]]:
    """The links of the contacts that the change made, but its own and those of memories that it
    made as well."""
    born = [row["id"] for row in change.rows if row["model"] == _MEMORY and row["before"] is None]
    found: dict[UUID, list[Link]] = {}
    rows = Link.objects.of(end_user).filter(contact__in=made)
    rows = rows.exclude(pk__in=_ids(change, _LINK)).exclude(memory__kind=Memory.Kind.PROFILE)
    for link in rows.exclude(memory__in=born).order_by("pk"):
        found.setdefault(link.contact_id, []).append(link)
    return found


def _give_to_original(
    end_user: EndUser, change: Change, contact: Contact, later: list[Link]
) -> None:
    """Gives what was learnt of a contact since a split made it to the contact that was split.
    Raises CannotUndo where it would be lost."""
    split = change.verb == "split"
    old = end_user.contacts.standing().filter(pk=change.subjects[0]).first()
    if later and (not split or old is None):
        raise CannotUndo(Reason("more_learnt", name=contact.name))
    if not split or old is None:
        return
    merge_contacts.hand_over(later, old, UNRECORDED)
    merge_contacts.rename_in_facts(end_user, contact.id, old.id, UNRECORDED)
    derived.reopen(end_user, old, [link.memory_id for link in later])
    identities.undo_part(contact, old, change.rows)


def _delete_profiles(end_user: EndUser, change: Change, made: Iterable[UUID]) -> list[UUID]:
    """Deletes the profile memories that the change made, and those of the contacts that it
    made, whoever wrote them. Returns the memories that they spoke for."""
    rows = Memory.objects.of(end_user).filter(kind=Memory.Kind.PROFILE)
    created = [row["id"] for row in change.rows if row["model"] == _MEMORY and not row["before"]]
    doomed: QuerySet[Memory] = rows.filter(pk__in=created) | rows.filter(
        content_hash__in=[f"profile:{pk}" for pk in made]
    )
    spoken_for = Memory.objects.of(end_user).filter(consolidated_into__in=doomed)
    without_profile = list(spoken_for.values_list("pk", flat=True))
    doomed.delete()
    return without_profile


def _read_since(
    end_user: EndUser, change: Change, altered: Collection[UUID]
) -> dict[int, tuple[UUID, UUID]]:
    """The contact and the memory of each link that a profile has read since the change."""
    rows = Link.objects.of(end_user).filter(consolidated_at__gt=change.created_at)
    rows = rows.filter(pk__in=_ids(change, _LINK)) | rows.filter(memory__in=altered)
    return {pk: (one, other) for pk, one, other in rows.values_list("pk", "contact", "memory")}


def _reopen_readings(end_user: EndUser, rows: Rows, read_since: Collection[int]) -> None:
    """Marks memories as not yet read by the contacts that they are about now, except links of
    which the change records when they were read."""
    recorded = {
        int(row["id"])
        for row in rows
        if row["model"] == _LINK and "consolidated_at" in (row["before"] or ())
    }
    again: dict[Contact, list[UUID]] = {}
    for link in Link.objects.of(end_user).filter(pk__in=set(read_since) - recorded):
        again.setdefault(link.contact, []).append(link.memory_id)
    for contact, ids in again.items():
        derived.reopen(end_user, contact, ids)


def _restore_profile(known: Contact, row: dict[str, Any] | None, stale: Collection[UUID]) -> None:
    """Writes a contact's profile as it was before the change, with what it has learnt since.

    ``known`` is the contact before its ``row`` was put back. What rests on the memories in
    ``stale`` was read in words, or of a person, that the change had made.
    """
    now = derived.profile_of(known)
    columns = {name: getattr(known, name) for name in derived.PROFILE_FIELDS}
    recorded = [name for name in columns if row and name in row["before"]]
    if not stale and all(columns[name] == row["after"][name] for name in recorded if row):
        return
    before, after = (
        profiles.load({**columns, **{name: row[at][name] for name in recorded if row}})
        for at in ("before", "after")
    )
    sound, again = profiles.without(now, stale)
    learnt = profiles.sources(now) - profiles.sources(after) - set(stale)
    relearnt = profiles.dump(profiles.apply(before, profiles.told_by(sound, learnt)))
    if now.personality != after.personality:
        again |= learnt & set(now.personality_sources)
    columns = {**profiles.dump(sound), **{name: relearnt[name] for name in recorded}}
    for name, value in columns.items():
        setattr(known, name, value)
    known.save(update_fields=derived.PROFILE_FIELDS)
    derived.reopen(known.end_user, known, again - set(stale))
