"""After links or profiles were moved or put back: everything derived follows.

Callers hold the end user's lock.
"""

from collections.abc import Callable, Collection, Iterable
from uuid import UUID

from django.utils import timezone

from accounts.changes import Recorder
from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories import profiles, queue
from memories.corrections import derived, lineage, sources
from memories.models import Consolidation, Link, Memory, Work

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
    standing, told = [], set(memory_ids)
    for contact in end_user.contacts.filter(pk__in=contact_ids).light().order_by("pk"):
        store.index(contact)
        if contact.merged_into_id is None:
            standing.append(contact)
            prune(contact)
            store.save(contact, derived.PROFILE_FIELDS)
            derived.write_profile_memory(contact)
            told |= profiles.sources(derived.profile_of(contact))
    sources.point_at_profiles(end_user, told, bereft=bereft)
    store.render_around(end_user, contact_ids)
    for contact in standing:
        store.save(contact, [])
    # The database itself puts in what the links say, in their order.
    Contact.objects.of(end_user).filter(pk__in=contact_ids).update(memory_ids=[])


def prune(contact: Contact, recorder: Recorder | None = None) -> None:
    """Takes out of a contact's profile (unsaved) what rests on memories that are not active or
    not about the contact; what else it rested on is read again."""
    links = Link.objects.of(contact.end_user).standing().filter(contact=contact)
    again = keep_sound(
        contact, lambda named: links.filter(memory__in=named).values_list("memory", flat=True)
    )
    derived.reopen(contact.end_user, contact, again, recorder)


def keep_sound(
    contact: Contact, about: Callable[[Collection[UUID]], Iterable[UUID]]
) -> frozenset[UUID]:
    """Takes out of a contact's profile (unsaved) what rests on other memories than active ones that
    ``about`` says are about the contact. Returns what else that rested on."""
    end_user = contact.end_user
    profile = derived.profile_of(contact)
    merged = lineage.follow(end_user, profiles.sources(profile))
    profile = profiles.renamed(profile, {pk: (end,) for pk, end in merged.items()})
    named = profiles.sources(profile)
    active = Memory.objects.of(end_user).active().filter(pk__in=list(about(named)))
    left, again = profiles.without(profile, named - set(active.values_list("pk", flat=True)))
    derived.set_profile(contact, left)
    return again


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
