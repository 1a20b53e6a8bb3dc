"""After links or profiles were moved or put back: everything derived follows.

Callers hold the end user's lock.
"""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from accounts.changes import Recorder
from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories import profiles, queue
from memories.corrections import derived, lineage
from memories.models import (
    CONSOLIDATED_IMPORTANCE,
    INITIAL_IMPORTANCE,
    Consolidation,
    Link,
    Memory,
    Work,
)

_OPEN = (Work.State.PENDING, Work.State.RUNNING, Work.State.FAILED)


def settle(
    end_user: EndUser,
    contact_ids: Collection[UUID],
    memory_ids: Collection[UUID],
    *,
    bereft: Collection[UUID] = (),
) -> None:
    """Makes profiles, cards, keys, profile memories and ``memory_ids`` of these contacts
    follow from their links, and where these memories are consolidated from their profiles.

    Those in ``bereft`` have lost the profile that spoke for them.
    """
    standing = []
    for contact in end_user.contacts.filter(pk__in=contact_ids).light().order_by("pk"):
        store.index(contact)
        if contact.merged_into_id is None:
            standing.append(contact)
            prune(contact)
            store.save(contact, derived.PROFILE_FIELDS)
            derived.write_profile_memory(contact)
    point_at_profiles(end_user, memory_ids, bereft)
    store.render_around(end_user, contact_ids)
    for contact in standing:
        store.save(contact, [])
    # The database itself puts in what the links say, in their order.
    Contact.objects.of(end_user).filter(pk__in=contact_ids).update(memory_ids=[])


def prune(contact: Contact, recorder: Recorder | None = None) -> None:
    """Takes out of a contact's profile (unsaved) what rests on memories that are not active or
    not about the contact; what else it rested on is read again."""
    end_user = contact.end_user
    profile = derived.profile_of(contact)
    merged = lineage.follow(end_user, profiles.sources(profile))
    profile = profiles.renamed(profile, {pk: (end,) for pk, end in merged.items()})
    named = profiles.sources(profile)
    linked = Link.objects.of(end_user).standing().filter(contact=contact, memory__in=named)
    sound = linked.filter(memory__status=Memory.Status.ACTIVE).values_list("memory", flat=True)
    left, again = profiles.without(profile, named - set(sound))
    derived.set_profile(contact, left)
    derived.reopen(end_user, contact, again, recorder)


def point_at_profiles(
    end_user: EndUser,
    memory_ids: Collection[UUID],
    bereft: Collection[UUID] = (),
    recorder: Recorder | None = None,
) -> None:
    """A memory points at the profile of someone it is about, if all whom it is about have
    taken it in and one of them has a profile; else it stands for itself again."""
    consolidated = Q(consolidated_into__isnull=False) | Q(pk__in=bereft)
    rows = {
        memory.pk: memory
        for memory in derived.tracked(
            Memory.objects.of(end_user).filter(
                consolidated, pk__in={*memory_ids, *bereft}, kind=Memory.Kind.FACT
            )
        )
    }
    if recorder is not None:
        recorder.watch(rows.values())
    links = Link.objects.of(end_user).standing().filter(memory__in=rows)
    people: dict[UUID, list[tuple[UUID, bool]]] = {}
    for memory_id, contact_id, at in links.values_list("memory", "contact", "consolidated_at"):
        people.setdefault(memory_id, []).append((contact_id, at is not None))
    speaking = _profiles(end_user, {pk for about in people.values() for pk, _ in about})
    changed = []
    for pk, memory in rows.items():
        about = people.get(pk, [])
        voices = [speaking[contact] for contact, _ in about if contact in speaking]
        if memory.consolidated_into_id in voices and memory.importance <= CONSOLIDATED_IMPORTANCE:
            continue
        heard = bool(voices) and all(taken_in for _, taken_in in about)
        memory.consolidated_into_id = min(voices) if heard else None
        memory.importance = CONSOLIDATED_IMPORTANCE if heard else INITIAL_IMPORTANCE
        changed.append(memory)
    Memory.objects.bulk_update(changed, ["consolidated_into", "importance"], batch_size=500)


def _profiles(end_user: EndUser, contact_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """The active profile memories of these contacts, by contact."""
    keys = {f"profile:{pk}": pk for pk in contact_ids}
    rows = Memory.objects.of(end_user).active().filter(content_hash__in=keys)
    return {keys[key]: pk for key, pk in rows.values_list("content_hash", "pk")}


def cancel_consolidations(end_user: EndUser, contact_ids: Collection[UUID]) -> None:
    """Stops consolidations that were asked for, or have read, what these contacts were; what
    is new about them is read again in the background."""
    work = Consolidation.objects.of(end_user).filter(contact__in=contact_ids, state__in=_OPEN)
    stopped = work.update(
        state=Work.State.CANCELLED,
        finished_at=timezone.now(),
        leased_until=None,
        retry_at=None,
    )
    if stopped:
        queue.enqueue("consolidate", end_user.pk)
