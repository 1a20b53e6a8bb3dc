"""What is derived from memories and must follow them: profiles, profile memories, cards.

Callers hold the end user's lock.
"""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import Exists, OuterRef

from accounts.changes import Recorder
from accounts.models import EndUser
from contacts import identity
from contacts.models import Contact
from memories import profiles
from memories.models import (
    CONSOLIDATED_IMPORTANCE,
    INITIAL_IMPORTANCE,
    PROFILE_IMPORTANCE,
    Link,
    Memory,
)
from memories.search.tokens import tokenise
from memories.types import MemoryType, Profile, Subtype

PROFILE_FIELDS = ["attributes", "personality", "personality_sources", "timeline"]


def profile_of(contact: Contact) -> Profile:
    """The contact's profile as the pure functions take it."""
    personality = {"text": contact.personality, "sources": contact.personality_sources}
    return profiles.load(contact.attributes, personality, contact.timeline)


def set_profile(contact: Contact, profile: Profile) -> None:
    """Puts a profile on the contact (unsaved)."""
    for field, value in profiles.dump(profile).items():
        setattr(contact, field, value)


def write_profile_memory(contact: Contact) -> Memory | None:
    """Makes the contact's profile memory say what its card says, so that search finds it.

    Its embedding is left to be filled outside the lock. None when nothing was ever learnt.
    """
    key = f"profile:{contact.id}"
    held = Memory.objects.of(contact.end_user_id).filter(content_hash=key).first()
    if held is None and not (contact.attributes or contact.personality or contact.timeline):
        return None
    content = profiles.as_text(contact)
    if held is not None and held.content == content:
        return held
    memory = held or Memory(
        end_user_id=contact.end_user_id,
        kind=Memory.Kind.PROFILE,
        content_hash=key,
        type=MemoryType.PERSONAL,
        subtype=Subtype.OTHER,
        importance=PROFILE_IMPORTANCE,
        speaker="consolidator",
        learnt_day=contact.end_user.activity_days,
    )
    memory.content, memory.tokens = content, tokenise(content)
    memory.embedding, memory.said_at = None, contact.last_mentioned_at
    memory.save()
    Link.objects.bulk_create(
        [
            Link(
                end_user_id=contact.end_user_id,
                contact=contact,
                memory=memory,
                made_by=Link.MadeBy.CONSOLIDATOR,
            )
        ],
        ignore_conflicts=True,
    )
    return memory


def let_sources_step_back(end_user: EndUser, memory_ids: Iterable[UUID]) -> None:
    """Drops memories that the profiles of all their people have taken in to the floor."""
    waiting = Link.objects.standing().filter(memory=OuterRef("pk"), consolidated_at=None)
    speaking = Memory.objects.of(end_user).filter(kind=Memory.Kind.PROFILE)
    for memory in (
        Memory.objects.of(end_user)
        .filter(pk__in=list(memory_ids), consolidated_into=None)
        .exclude(Exists(waiting))
        .only("id")
    ):
        profile = speaking.filter(links__contact__links__memory=memory).values("pk").first()
        if profile:
            Memory.objects.filter(pk=memory.pk).update(
                consolidated_into=profile["pk"], importance=CONSOLIDATED_IMPORTANCE
            )


def unlearn(
    end_user: EndUser, memory_ids: Collection[UUID], recorder: Recorder | None = None
) -> list[Contact]:
    """Takes back what contacts' profiles learnt from these memories, and lets what else it
    rested on be read again. Returns the contacts touched, saved with fresh cards."""
    touched = list(
        Contact.objects.of(end_user)
        .standing()
        .filter(links__memory__in=memory_ids)
        .select_related("end_user")
        .defer("memory_ids", "embedding")
        .distinct()
    )
    for contact in touched:
        profile, again = profiles.without(profile_of(contact), memory_ids)
        if recorder is not None:
            recorder.watch([contact])
        set_profile(contact, profile)
        reopen(end_user, contact, again)
        identity.save(contact, PROFILE_FIELDS)
        write_profile_memory(contact)
    return touched


def reopen(end_user: EndUser, contact: Contact, memory_ids: Collection[UUID]) -> None:
    """Marks memories as not yet taken into the contact's profile."""
    if not memory_ids:
        return
    Link.objects.of(end_user).filter(contact=contact, memory__in=memory_ids).update(
        consolidated_at=None
    )
    Memory.objects.of(end_user).filter(pk__in=memory_ids).exclude(consolidated_into=None).update(
        consolidated_into=None, importance=INITIAL_IMPORTANCE
    )
