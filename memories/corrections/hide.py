"""Putting away what an end user asked in a chat to forget, until it is erased or brought back."""

from collections.abc import Collection, Iterable

from django.db.models import Q

from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.models import Change, EndUser, Tracked
from contacts import store
from contacts.models import Contact, Relation, Suggestion
from memories import graph
from memories.corrections import derived, forgotten_names, sources
from memories.models import GatewayTurn, Link, Memory

Status = Memory.Status


@atomic()
def hide(
    end_user: EndUser,
    memories: Iterable[Memory],
    *,
    actor: str,
    why: str = "",
    contacts: Iterable[Contact] = (),
) -> Change | None:
    """Puts memories where nobody looks by default, as the end user asked in a chat: archived,
    and unlearnt by every profile. ``contacts`` known only through them go as well.

    Undone like any correction, since a request in a chat may be misread; what the app asks
    to erase is erased by ``memories.erasure.erase``. None when there is nothing to do.
    """
    memories = [memory for memory in memories if memory.status != Status.ARCHIVED]
    contacts = list(contacts)
    if not memories and not contacts:
        return None
    ids = [memory.id for memory in memories]
    subjects = [*ids, *(contact.id for contact in contacts)]
    with recording(end_user, "hide", actor, why, subjects) as (recorder, change):
        recorder.watch(contacts)
        recorder.watch(memories)
        for memory in memories:
            memory.status = Status.ARCHIVED
            memory.save(update_fields=["status", "updated_at"])
        graph.let_go(end_user, ids, recorder)
        derived.unlearn(end_user, ids, recorder)
        _remove(end_user, contacts, recorder)
        GatewayTurn.objects.of(end_user).forget_blocks()
    return change


def _remove(end_user: EndUser, contacts: Collection[Contact], recorder: Recorder) -> None:
    """Deletes contacts with their links, relations and profile memories, and takes their names
    out of what is told of others; the change keeps the rows for its undo."""
    ids = [contact.id for contact in contacts]
    if not ids:
        return
    tombstones = end_user.contacts.all_merged_into(ids)
    ids += [tombstone.id for tombstone in tombstones]
    links = Link.objects.of(end_user).filter(contact__in=ids)
    profiles = Memory.objects.of(end_user).filter(content_hash__in=[f"profile:{pk}" for pk in ids])
    asked = Suggestion.objects.of(end_user).filter(Q(first__in=ids) | Q(second__in=ids))
    stated = Relation.objects.of(end_user).among(ids)
    people = [*contacts, *tombstones]
    names = forgotten_names.left_of(end_user, forgotten_names.names_of(people), ids)
    others = {at for row in stated for at in (row.subject_id, row.object_id)} - {*ids}
    spoken_for = list(
        derived.tracked(Memory.objects.of(end_user).filter(consolidated_into__in=profiles))
    )
    doomed: list[list[Tracked]] = [[*links], [*asked], [*stated], [*profiles]]
    recorder.watch([*tombstones, *spoken_for])
    for rows in doomed:  # all before any goes: the database cascades
        recorder.watch(rows)
    for rows in filter(None, doomed):
        type(rows[0])._base_manager.filter(pk__in=[row.pk for row in rows]).delete()
    Contact.objects.of(end_user).filter(pk__in=ids).delete()
    sources.point_at_profiles(end_user, without_profile=[memory.pk for memory in spoken_for])
    forgotten_names.take_out(end_user, names, recorder=recorder)
    for contact in end_user.contacts.standing().light().filter(pk__in=others):
        store.save(contact, [])
