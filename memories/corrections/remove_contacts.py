"""Contacts that go while memories stay: somebody who is to be forgotten, and who is no person.

Callers hold the end user's lock.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.models import Change, EndUser
from contacts import merge, store
from contacts.models import Contact, Relation, Suggestion
from memories.corrections import derived, edit_memories, forgotten_names
from memories.models import Link, Memory
from memories.types import ExtractedPerson, Extraction
from understanding.names import name_key
from understanding.same_person.name_types import is_role


def remove(
    end_user: EndUser, contacts: Collection[Contact], recorder: Recorder, *, forget_names: bool
) -> None:
    """Deletes contacts with their links, relations and profiles. ``forget_names``: takes their names
    out of what is told of others, too."""
    tombstones = end_user.contacts.all_merged_into([contact.id for contact in contacts])
    ids = [contact.id for contact in (*contacts, *tombstones)]
    links = Link.objects.of(end_user).filter(contact__in=ids)
    profiles = Memory.objects.of(end_user).filter(content_hash__in=[f"profile:{pk}" for pk in ids])
    asked = Suggestion.objects.of(end_user).filter(Q(first__in=ids) | Q(second__in=ids))
    stated = Relation.objects.of(end_user).among(ids)
    called = forgotten_names.names_of([*contacts, *tombstones])
    names = forgotten_names.left_of(end_user, called, ids)
    others = {at for row in stated for at in (row.subject_id, row.object_id)} - {*ids}
    sources = Memory.objects.of(end_user).filter(consolidated_into__in=profiles)
    spoken_for = [*derived.tracked(sources)]
    source_ids = [memory.pk for memory in spoken_for]
    recorder.watch([*contacts, *tombstones, *spoken_for])
    doomed: tuple[QuerySet[Any], ...] = (links, asked, stated, profiles)
    for rows in doomed:  # all before any goes: the database cascades
        recorder.watch(rows)
    for rows in doomed:
        rows.delete()
    Contact.objects.of(end_user).filter(pk__in=ids).delete()
    derived.give_weight_back(end_user, source_ids)
    derived.point_at_profiles(end_user, source_ids)
    if forget_names:
        forgotten_names.take_out(end_user, names, recorder=recorder)
    for contact in end_user.contacts.standing().light().filter(pk__in=others):
        store.save(contact, [])


@atomic()
def not_a_person(end_user: EndUser, contact_id: UUID, *, actor: str) -> Change:
    """Says that a contact is no person: a street, a brand. The contact goes, and no text makes one
    of its names again; memories stay, without the facts of it. Raises UnknownPerson and
    InvalidCorrection."""
    held = edit_memories.locked(end_user)
    contact = merge.standing(held, contact_id)
    gone = [contact, *held.contacts.all_merged_into([contact.pk])]
    ids = [one.pk for one in gone]
    names = forgotten_names.left_of(held, forgotten_names.names_of(gone), ids).all
    keys = {name_key(name) for name in names if not is_role(name)}
    with recording(held, "not_a_person", actor, contact.name, [contact.pk]) as (recorder, change):
        recorder.watch([held])
        held.not_people = sorted({*held.not_people, *keys} - {""})
        held.save(update_fields=["not_people"])
        linked = Memory.objects.of(held).facts().filter(links__contact__in=ids)
        memory_ids = list(linked.values_list("pk", flat=True).distinct())
        for pk in ids:
            edit_memories.restore_superseded(held, memory_ids, recorder, of=pk)
        memories = list(derived.tracked(Memory.objects.of(held).filter(pk__in=memory_ids)))
        recorder.watch(memories)
        for memory in memories:
            memory.facts = [row for row in memory.facts if row["person"] not in map(str, ids)]
            memory.save(update_fields=["facts", "updated_at"])
        remove(held, [contact], recorder, forget_names=False)
        derived.point_at_profiles(held, memory_ids, recorder=recorder)
    return change


@atomic()
def may_be_a_person(end_user: EndUser, key: str, *, actor: str) -> Change | None:
    """Takes a name back from those of no person: texts may make a contact of it again. None when it
    was not one. Raises InvalidCorrection."""
    held = edit_memories.locked(end_user)
    if key not in held.not_people:
        return None
    with recording(held, "may_be_a_person", actor, key) as (recorder, change):
        recorder.watch([held])
        held.not_people = [one for one in held.not_people if one != key]
        held.save(update_fields=["not_people"])
    return change


def without_names(end_user: EndUser, extraction: Extraction) -> Extraction:
    """An extraction without those whose every name was said to be no person's, and what it states of
    them; memories stay. Who is a contact by such a name since stays, too."""
    nobodys = {*end_user.not_people}
    if not nobodys:
        return extraction

    def keys(person: ExtractedPerson) -> set[str]:
        return {name_key(name) for name in (person.name, *person.aliases)}

    doubted = [one for one in extraction.people if not one.contact_id and keys(one) <= nobodys]
    borne = Contact.objects.of(end_user).filter(
        name_key__in={k for one in doubted for k in keys(one)}
    )
    known = set(borne.values_list("name_key", flat=True)) if doubted else set()
    gone = {one.ref for one in doubted if known.isdisjoint(keys(one))}
    if not gone:
        return extraction
    return replace(
        extraction,
        people=tuple(one for one in extraction.people if one.ref not in gone),
        memories=tuple(
            replace(
                one,
                people=tuple(ref for ref in one.people if ref not in gone),
                facts=tuple(fact for fact in one.facts if fact.person not in gone),
            )
            for one in extraction.memories
        ),
        relations=tuple(
            one for one in extraction.relations if gone.isdisjoint({one.subject, one.object})
        ),
    )
