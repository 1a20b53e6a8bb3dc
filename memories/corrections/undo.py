"""Taking one change back: its rows, and everything that is derived from them.

Callers hold the end user's lock; ``memories.corrections.edit_memories.undo`` is the verb.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from accounts import later_records
from accounts.changes import CannotUndo, Recorder, mark_undone
from accounts.models import Change, EndUser
from accounts.putting_back import put_back
from accounts.reasons import Reason
from contacts import merge as identities
from contacts import store
from contacts.models import Contact
from memories.corrections import derived, lineage, merge_contacts, refresh
from memories.models import Link, Memory

CONTACT, MEMORY, LINK = "contacts.contact", "memories.memory", "memories.link"


def undo(end_user: EndUser, change: Change, actor: str) -> None:
    """Takes ``change`` back for good: those made since know nothing of it. Raises CannotUndo."""
    take_back(end_user, change)
    later_records.forget(change)
    mark_undone(change, actor)


def take_back(end_user: EndUser, change: Change) -> None:
    """Puts back every row of ``change`` and lets follow what is derived. Raises CannotUndo."""
    contacts, memories = merge_contacts.contacts_of(change), _memories_of(change)
    made = {UUID(row["id"]) for row in change.rows if _made(row, CONTACT)}
    for contact in Contact.objects.of(end_user).filter(pk__in=contacts).light():
        _make_room(change, contact)
        if contact.pk in made:
            _empty(end_user, change, contact)
    _number_anew(end_user, change)
    # A profile memory goes with what it is about, whoever wrote it.
    profiles = Memory.objects.of(end_user).filter(
        content_hash__in=[f"profile:{pk}" for pk in made]
    ) | Memory.objects.of(end_user).filter(
        kind=Memory.Kind.PROFILE, pk__in=[row["id"] for row in change.rows if _made(row, MEMORY)]
    )
    spoken_for = Memory.objects.of(end_user).filter(consolidated_into__in=profiles)
    bereft = list(spoken_for.values_list("pk", flat=True))
    profiles.delete()
    alike = lineage.told_alike(change)
    put_back(change)
    _reject_again(end_user, change)
    _name_survivors(end_user, _with(change, "facts"))
    for memory in Memory.objects.of(end_user).filter(pk__in=_with(change, "content")):
        derived.refresh(memory)
        memory.save(update_fields=["tokens", "embedding_model", "related_at"])
    Memory.objects.of(end_user).filter(pk__in=_with(change, "status")).update(related_at=None)
    _read_again(end_user, change, set() if alike else _with(change, "content", "status"))
    people = Link.objects.of(end_user).filter(memory__in=_with(change, "content", "status"))
    contacts |= set(people.values_list("contact", flat=True))
    refresh.settle(
        end_user,
        contacts,
        memories,
        changed=_edited_since(change, memories),
        bereft=bereft,
    )
    refresh.cancel_consolidations(end_user, contacts)


def _made(row: dict[str, Any], model: str) -> bool:
    return row["model"] == model and row["before"] is None


def _memories_of(change: Change) -> set[UUID]:
    found = set()
    for row in change.rows:
        if row["model"] == MEMORY:
            found.add(row["id"])
        for side in (row["before"] or {}, row["after"] or {}):
            if "memory_id" in side:
                found.add(side["memory_id"])
    links = [row["id"] for row in change.rows if row["model"] == LINK]
    held = Link.objects.of(change.end_user_id).filter(pk__in=links)
    return {UUID(str(pk)) for pk in found} | set(held.values_list("memory", flat=True))


def _with(change: Change, *columns: str) -> set[UUID]:
    """The memories of which the change touched one of these columns."""
    return {
        UUID(row["id"])
        for row in change.rows
        if row["model"] == MEMORY and not {*columns}.isdisjoint(row["before"] or row["after"])
    }


def _make_room(change: Change, contact: Contact) -> None:
    """A tombstone that will stand again takes a number of its own where another contact
    bears its name by now."""
    row = next(
        (r for r in change.rows if r["model"] == CONTACT and r["id"] == str(contact.pk)), None
    )
    if row is None or (row["before"] or {}).get("merged_into_id", "") is not None:
        return
    same = Contact.objects.of(contact.end_user_id).standing().filter(name_key=contact.name_key)
    places = set(same.values_list("namesake", flat=True))
    if contact.namesake in places:
        contact.namesake = max(places) + 1
        contact.save(update_fields=["namesake"])


def _number_anew(end_user: EndUser, change: Change) -> None:
    """Contacts that come back take (in ``change``, unsaved) a number of their own where another
    one bears their name by now."""
    back = [
        row["before"]
        for row in change.rows
        if row["model"] == CONTACT and row["after"] is None and not row["before"]["merged_into_id"]
    ]
    same = (
        Contact.objects.of(end_user).standing().filter(name_key__in=[c["name_key"] for c in back])
    )
    taken = set(same.values_list("name_key", "namesake"))
    for was in back:
        while (was["name_key"], was["namesake"]) in taken:
            was["namesake"] += 1
        taken.add((was["name_key"], was["namesake"]))


def _empty(end_user: EndUser, change: Change, contact: Contact) -> None:
    """Saves what was learnt of a contact since the change that made it: what a split made
    gives it to the one it came from. Raises CannotUndo where it would be lost."""
    links = [row["id"] for row in change.rows if row["model"] == LINK]
    later = list(contact.links.exclude(pk__in=links).exclude(memory__kind=Memory.Kind.PROFILE))
    split = change.verb == "split"
    old = Contact.objects.of(end_user).standing().filter(pk=change.subjects[0]).first()
    if later and (not split or old is None):
        raise CannotUndo(Reason("more_learnt", name=contact.name))
    if not split or old is None:
        return
    old.end_user = end_user
    merge_contacts.hand_over(later, old, Recorder())
    merge_contacts.rename_in_facts(end_user, contact.id, old.id, Recorder())
    # What was learnt from these is read again; what somebody stated rests on no memory.
    derived.reopen(end_user, old, [link.memory_id for link in later])
    identities.unpart(contact, old, change.rows)
    later_records.rename(change, contact.id, old.id)


def _name_survivors(end_user: EndUser, memory_ids: Collection[UUID]) -> None:
    """Facts that came back about someone who was merged meanwhile are about the survivor."""
    for memory in Memory.objects.of(end_user).filter(pk__in=memory_ids).only("facts"):
        about = {fact["person"] for fact in memory.facts if fact["person"]}
        merged = Contact.objects.of(end_user).filter(pk__in=about).exclude(merged_into=None)
        for pk in merged.values_list("pk", flat=True):
            if (now := store.survivor(end_user, pk)) is not None:
                merge_contacts.rename_in_facts(end_user, pk, now.id, Recorder(), among=[memory.pk])


def _reject_again(end_user: EndUser, change: Change) -> None:
    """Two links to one memory were one: if that one was rejected since, both are."""
    for row in change.rows:
        if row["model"] != LINK or row["after"] is not None or row["before"]["rejected"]:
            continue
        links = Link.objects.of(end_user).filter(memory=row["before"]["memory_id"])
        subjects = [pk for pk in change.subjects if pk != row["before"]["contact_id"]]
        for twin in links.filter(contact__in=subjects, rejected=True):
            word = {"model": LINK, "id": str(twin.pk), "after": {"rejected": True}}
            since = Change.objects.of(end_user).filter(
                undone_at=None, created_at__gt=change.created_at, rows__contains=[word]
            )
            if since.exists():
                links.filter(pk=row["id"]).update(rejected=True, made_by=Link.MadeBy.OPERATOR)


def _read_again(end_user: EndUser, change: Change, reworded: Collection[UUID]) -> None:
    """What another contact's profile took in meanwhile is new to the one it comes back to,
    and so is a memory whose words came back."""
    back = {
        row["id"]: row["before"]["contact_id"]
        for row in change.rows
        if row["model"] == LINK and row["before"] and "contact_id" in row["before"]
    }
    reread: dict[Contact, list[UUID]] = {}
    links = Link.objects.of(end_user).select_related("contact")
    for link in links.filter(pk__in=back, consolidated_at__gt=change.created_at):
        if str(link.contact_id) == back[str(link.pk)]:
            reread.setdefault(link.contact, []).append(link.memory_id)
    for link in links.standing().filter(memory__in=reworded):
        profile = derived.profile_of(link.contact)
        if link.memory_id not in refresh.sources(profile):
            reread.setdefault(link.contact, []).append(link.memory_id)
    for contact, ids in reread.items():
        derived.reopen(end_user, contact, ids)


def _edited_since(change: Change, memories: Collection[UUID]) -> set[UUID]:
    """Which of the memories have got other words since the change."""
    edits = Change.objects.of(change.end_user_id).filter(
        verb="edit", undone_at=None, created_at__gt=change.created_at
    )
    subjects = {pk for row in edits.values_list("subjects", flat=True) for pk in row}
    return {pk for pk in memories if str(pk) in subjects}
