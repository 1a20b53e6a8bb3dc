"""Consolidates new memories about contacts into profiles, which then represent the memories."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError
from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from contacts import own_references, store
from contacts.models import Contact
from memories import profiles
from memories.corrections import derived
from memories.models import Consolidation, Link, Memory
from memories.types import ProfilePatch, ProfileRequest, StoredMemory

# New memories read in one run; the rest waits for the next run of the same pass.
MAX_NEW = 60
# Contacts that one worker claims at once, so that the model is asked about several in one call: its
# instructions are longer than most profiles.
TOGETHER = 6


def contacts_due(end_user_id: int) -> list[UUID]:
    """Returns the contacts of an end user whose profile has not read all memories that are due;
    none if the user is gone."""
    end_user = EndUser.objects.select_related("app").filter(pk=end_user_id).first()
    if end_user is None:
        return []
    return list(
        Link.objects.due(end_user)
        .filter(contact__merged_into=None)
        .order_by("contact")
        .values_list("contact", flat=True)
        .distinct()
    )


def in_groups(contact_ids: Sequence[UUID]) -> list[Sequence[UUID]]:
    """Returns contacts in groups, each to be consolidated together."""
    return [contact_ids[at : at + TOGETHER] for at in range(0, len(contact_ids), TOGETHER)]


def claim(end_user_id: int, contact_id: UUID, now: datetime) -> Consolidation | None:
    """Returns a consolidation of the contact, claimed for this worker; None if one is under way or
    waits for its next try, or if the contact is gone."""
    try:
        with atomic():
            if EndUser.objects.lock(end_user_id) is None:
                return None
            runs = Consolidation.objects.of(end_user_id).filter(contact=contact_id)
            work = runs.filter(state__in=Consolidation.UNDER_WAY).first()
            if work is None:
                if not Contact.objects.of(end_user_id).standing().filter(pk=contact_id).exists():
                    return None  # merged since it was found to be due
                work = Consolidation.objects.create(end_user_id=end_user_id, contact_id=contact_id)
            if not Consolidation.objects.claim(work.pk, now):
                return None
            work.refresh_from_db()
            return work
    except IntegrityError:  # the contact was deleted, or another worker opened one
        return None


def request_for(work: Consolidation) -> tuple[ProfileRequest, list[Link]]:
    """Returns the bounded profile and new memories for the provider, and the links of these."""
    contact = work.contact
    links = list(
        Link.objects.due(work.end_user)
        .filter(contact=contact)
        .select_related("memory")
        .defer("memory__tokens", "memory__embedding")
        .order_by("memory__said_at", "id")[:MAX_NEW]
    )
    request = ProfileRequest(
        person=contact.person,
        profile=profiles.bounded(derived.profile_of(contact)),
        memories=tuple(_as_read(link.memory) for link in links),
        language=work.end_user.writing_language,
    )
    return request, links


def _as_read(memory: Memory) -> StoredMemory:
    """Returns a memory as a provider reads it: without plans for a day, which are none after it,
    and without facts that only begin later."""
    stored, now = memory.as_stored(), timezone.now()
    return replace(
        stored,
        facts=tuple(
            fact
            for fact in stored.facts
            if not (fact.key == "plan" and stored.happens_at)
            and not (fact.valid_from and fact.valid_from > now)
        ),
    )


def write(work: Consolidation, links: Sequence[Link], patch: ProfilePatch) -> None:
    """Applies the patch to the contact, its profile memory and its card, and marks the sources that
    the profile now represents. The caller holds the end user's lock.

    A memory that was corrected or unlinked while the model read it is left out.
    """
    end_user = work.end_user
    contact = Contact.objects.of(end_user).standing().get(pk=work.contact_id)
    current_links = Link.objects.due(end_user).filter(pk__in=[link.pk for link in links])
    current_links = current_links.select_related("memory").defer("memory__tokens")
    links_by_memory = {link.memory_id: link.pk for link in current_links}
    stale = {link.memory_id for link in links} - links_by_memory.keys()
    patch = profiles.without_contradicted_values(
        patch, contact.pk, [link.memory.as_stored() for link in current_links]
    )
    # Only references that distinguish the contact from everybody else.
    texts = [reference.text for reference in patch.references]
    distinctive = set(own_references.chosen(end_user, contact, texts))
    references = tuple(one for one in patch.references if one.text in distinctive)
    patch = replace(patch, references=references)
    profile, to_reread = profiles.without(profiles.apply(derived.profile_of(contact), patch), stale)
    link_ids = [pk for memory, pk in links_by_memory.items() if memory not in to_reread]
    Link.objects.filter(pk__in=link_ids).update(consolidated_at=timezone.now())
    derived.set_profile(contact, profile)
    store.save(contact, derived.PROFILE_FIELDS)
    derived.write_profile_memory(contact)
    derived.point_at_profiles(end_user, links_by_memory)
