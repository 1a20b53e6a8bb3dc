"""What is derived from memories and must follow them: profiles, profile memories, cards.

Callers hold the end user's lock.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from accounts.changes import Recorder
from accounts.models import EndUser
from contacts import relations, store
from contacts.models import Contact
from memories import profiles
from memories.corrections import sources
from memories.models import INITIAL_IMPORTANCE, PROFILE_IMPORTANCE, Link, Memory
from memories.search import context_tokens
from memories.search.tokens import tokenise
from memories.types import MemoryType, Profile, Subtype

PROFILE_FIELDS = ["attributes", "personality", "personality_sources", "timeline", "references"]


def profile_of(contact: Contact) -> Profile:
    """The contact's profile as the pure functions take it."""
    return profiles.load({name: getattr(contact, name) for name in PROFILE_FIELDS})


def set_profile(contact: Contact, profile: Profile) -> None:
    """Puts a profile on the contact (unsaved)."""
    for field, value in profiles.dump(profile).items():
        setattr(contact, field, value)


def refresh(memory: Memory) -> None:
    """Rebuilds what is derived from a memory's content (unsaved); the next workers embed it
    and look for its entities and edges."""
    memory.tokens = context_tokens.tokens_of(memory.end_user_id, [memory])[memory.pk]
    memory.embedding_model, memory.related_at = "", None


def write_profile_memory(contact: Contact, recorder: Recorder | None = None) -> Memory | None:
    """Makes the contact's profile memory say what its card says, so that search finds it; one
    of a merged contact stays in the archive. What it no longer speaks for stands for itself.

    Its embedding is left to be filled outside the lock. None when nothing was ever learnt.
    """
    key = f"profile:{contact.id}"
    held = Memory.objects.of(contact.end_user_id).filter(content_hash=key).first()
    if held is None and contact.merged_into_id:
        return None
    if held is None and not (contact.attributes or contact.personality or contact.timeline):
        return None
    if held is not None and contact.merged_into_id is None:
        sources.point_at_profiles(contact.end_user, of=held, recorder=recorder)
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
    memory.embedding_model = ""
    memory.say(contact.last_mentioned_at.astimezone(contact.end_user.zone))
    memory.save()
    if held is None and recorder is not None:
        recorder.watch([memory], created=True)
    if contact.merged_into_id is None:
        link, made = Link.objects.get_or_create(
            end_user_id=contact.end_user_id,
            contact=contact,
            memory=memory,
            defaults={"made_by": Link.MadeBy.CONSOLIDATOR},
        )
        if made and recorder is not None:
            recorder.watch([link], created=True)
    return memory


def unlearn(
    end_user: EndUser,
    memory_ids: Collection[UUID],
    recorder: Recorder | None = None,
    *,
    contact: Contact | None = None,
) -> list[Contact]:
    """Takes back what contacts' profiles learnt from these memories, and lets what else it
    rested on be read again. Returns the contacts touched, saved with fresh cards.

    With ``contact`` only for this one. What was merged into a contact forgets with it, so
    that an undo of the merge brings nothing back.
    """
    stated = relations.resting_on(end_user, memory_ids, of=contact.pk if contact else None)
    if recorder is not None:
        recorder.watch(stated)
    related = relations.without_sources(stated, memory_ids)
    about: dict[str, Any] = {"pk": contact.pk} if contact else {"links__memory__in": memory_ids}
    standing = end_user.contacts.standing().light()
    touched = list(standing.filter(**about).distinct())
    for other in standing.filter(pk__in=related).exclude(pk__in=[one.pk for one in touched]):
        store.save(other, [])
    for one in touched:
        again = _take_out(one, memory_ids, recorder)
        reopen(end_user, one, again, recorder)
        store.save(one, PROFILE_FIELDS)
        write_profile_memory(one, recorder)
    for tombstone in end_user.contacts.all_merged_into([one.pk for one in touched]):
        _take_out(tombstone, memory_ids, recorder)
        store.save(tombstone, PROFILE_FIELDS)
        write_profile_memory(tombstone)
    return touched


def unlearn_facts(
    end_user: EndUser, memories: Collection[Memory], recorder: Recorder | None = None
) -> None:
    """Takes out of profiles, also of those merged into others, what facts of these memories told
    that have ended; what else rests on the memories stays."""
    if not memories:
        return
    linked = {"links__memory__in": memories}
    standing = end_user.contacts.standing().light().filter(**linked)
    touched = list(standing.distinct())
    told = [memory.as_stored() for memory in memories]
    for contact in (*touched, *end_user.contacts.all_merged_into([one.pk for one in touched])):
        person = contact.merged_into_id or contact.pk
        profile, again = profiles.without_ended(profile_of(contact), person, told)
        if recorder is not None:
            recorder.watch([contact])
        set_profile(contact, profile)
        reopen(end_user, contact, again, recorder)
        store.save(contact, PROFILE_FIELDS)
        write_profile_memory(contact, recorder)


def _take_out(
    contact: Contact, memory_ids: Collection[UUID], recorder: Recorder | None
) -> frozenset[UUID]:
    """Takes what rests on these memories out of the profile (unsaved); what else it rested on."""
    profile, again = profiles.without(profile_of(contact), memory_ids)
    if recorder is not None:
        recorder.watch([contact])
    set_profile(contact, profile)
    return again


def reopen(
    end_user: EndUser,
    contact: Contact,
    memory_ids: Collection[UUID],
    recorder: Recorder | None = None,
) -> None:
    """Marks memories as not yet taken into the contact's profile."""
    if not memory_ids:
        return
    links = Link.objects.of(end_user).filter(contact=contact, memory__in=memory_ids)
    links = links.exclude(consolidated_at=None)
    spoken_for = Memory.objects.of(end_user).filter(pk__in=memory_ids)
    spoken_for = spoken_for.exclude(consolidated_into=None)
    if recorder is not None:
        recorder.watch(links)
        recorder.watch(tracked(spoken_for))
    links.update(consolidated_at=None)
    spoken_for.update(consolidated_into=None, importance=INITIAL_IMPORTANCE)


def tracked(memories: QuerySet[Memory]) -> list[Memory]:
    """Memories without the columns that no change tracks."""
    return list(memories.only("pk", *Memory.tracked))
