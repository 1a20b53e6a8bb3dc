"""Deletes contacts but not their memories. Callers hold the end user's lock."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from accounts.changes import Recorder
from accounts.models import EndUser
from contacts import store
from contacts.models import Contact, Relation, Suggestion
from memories.corrections import derived, forgotten_names
from memories.models import Link, Memory


def remove_contacts(
    end_user: EndUser, contacts: Collection[Contact], recorder: Recorder, *, forget_names: bool
) -> None:
    """Deletes contacts, and those merged into them, with their links, relations and profiles. With
    ``forget_names``, their names are also removed from what is known about other contacts."""
    tombstones = end_user.contacts.all_merged_into([contact.id for contact in contacts])
    ids = [contact.id for contact in (*contacts, *tombstones)]
    links = Link.objects.of(end_user).filter(contact__in=ids)
    profiles = Memory.objects.of(end_user).filter(content_hash__in=[f"profile:{pk}" for pk in ids])
    suggestions = Suggestion.objects.of(end_user).concerning(ids)
    relations = Relation.objects.of(end_user).among(ids)
    related = {pk for row in relations for pk in (row.subject_id, row.object_id)} - {*ids}
    sources = Memory.objects.of(end_user).filter(consolidated_into__in=profiles)
    consolidated = [*derived.tracked(sources)]
    source_ids = [memory.pk for memory in consolidated]
    recorder.watch([*contacts, *tombstones, *consolidated])
    querysets: tuple[QuerySet[Any], ...] = (links, suggestions, relations, profiles)
    for rows in querysets:  # all before the first is deleted: the database cascades
        recorder.watch(rows)
    for rows in querysets:
        rows.delete()
    Contact.objects.of(end_user).filter(pk__in=ids).delete()
    derived.restore_importance(end_user, source_ids)
    derived.point_at_profiles(end_user, source_ids)
    if forget_names:
        names = forgotten_names.names_of([*contacts, *tombstones])
        unshared = forgotten_names.unshared_names(end_user, names, ids)
        forgotten_names.take_out(end_user, unshared, recorder=recorder)
    for contact in end_user.contacts.standing().light().filter(pk__in=related):
        store.save(contact, [])
