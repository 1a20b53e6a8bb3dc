"""What is derived from memories and links: profiles, profile memories, cards, search tokens.

Callers hold the end user's lock.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from accounts.changes import UNRECORDED, Recorder
from accounts.models import EndUser
from contacts import relations, store
from contacts.models import Contact
from memories import profiles, queue
from memories.corrections import lineage, sources
from memories.models import (
    INITIAL_IMPORTANCE,
    PROFILE_IMPORTANCE,
    Consolidation,
    Link,
    Memory,
    Work,
)
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


def reindex(memory: Memory) -> None:
    """Rebuilds the search tokens of a memory (unsaved) whose content changed; the next workers
    embed it and look for its entities and edges."""
    memory.tokens = context_tokens.tokens_of(memory.end_user_id, [memory])[memory.pk]
    memory.embedding_model, memory.related_at = "", None


def recompute(
    end_user: EndUser,
    contact_ids: Collection[UUID],
    memory_ids: Collection[UUID],
    *,
    without_profile: Collection[UUID] = (),
) -> None:
    """Recomputes profiles, cards, keys, profile memories and ``Contact.memory_ids`` of these
    contacts from their links, and the importance of these memories from the profiles.

    The profile memory of those in ``without_profile`` was deleted.
    """
    standing, affected = [], set(memory_ids)
    for contact in end_user.contacts.filter(pk__in=contact_ids).light().order_by("pk"):
        store.index(contact)
        if contact.merged_into_id is None:
            standing.append(contact)
            prune(contact)
            store.save(contact, PROFILE_FIELDS)
            write_profile_memory(contact)
            affected |= profiles.sources(profile_of(contact))
    sources.point_at_profiles(end_user, affected, without_profile=without_profile)
    store.render_around(end_user, contact_ids)
    for contact in standing:
        store.save(contact, [])
    # A trigger fills in what the links say, in their order.
    Contact.objects.of(end_user).filter(pk__in=contact_ids).update(memory_ids=[])


def write_profile_memory(contact: Contact, recorder: Recorder = UNRECORDED) -> Memory | None:
    """Makes the contact's profile memory say what its card says, so that search finds it; one
    of a merged contact stays in the archive. Memories that the profile no longer speaks for get
    their own weight back.

    Its embedding is left to be filled outside the lock. None when nothing was ever learnt.
    """
    key = f"profile:{contact.id}"
    existing = Memory.objects.of(contact.end_user_id).filter(content_hash=key).first()
    if existing is None and contact.merged_into_id:
        return None
    if existing is None and not (contact.attributes or contact.personality or contact.timeline):
        return None
    if existing is not None and contact.merged_into_id is None:
        sources.point_at_profiles(contact.end_user, of=existing, recorder=recorder)
    content = profiles.as_text(contact)
    if existing is not None and existing.content == content:
        return existing
    memory = existing or Memory(
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
    if existing is None:
        recorder.watch([memory], created=True)
    if contact.merged_into_id is None:
        link, made = Link.objects.get_or_create(
            end_user_id=contact.end_user_id,
            contact=contact,
            memory=memory,
            defaults={"made_by": Link.MadeBy.CONSOLIDATOR},
        )
        if made:
            recorder.watch([link], created=True)
    return memory


def unlearn(
    end_user: EndUser,
    memory_ids: Collection[UUID],
    recorder: Recorder = UNRECORDED,
    *,
    contact: Contact | None = None,
) -> list[Contact]:
    """Removes from contacts' profiles what rests on these memories; other memories that the
    removed values rested on are read again. Returns the contacts touched, saved with fresh cards.

    With ``contact`` only for this one. Contacts that were merged into it forget as well, so
    that an undo of the merge brings nothing back.
    """
    stated = relations.resting_on(end_user, memory_ids, of=contact.pk if contact else None)
    recorder.watch(stated)
    related = relations.without_sources(stated, memory_ids)
    about: dict[str, Any] = {"pk": contact.pk} if contact else {"links__memory__in": memory_ids}
    standing = end_user.contacts.standing().light()
    touched = list(standing.filter(**about).distinct())
    for other in standing.filter(pk__in=related).exclude(pk__in=[one.pk for one in touched]):
        store.save(other, [])
    for one in (*touched, *end_user.contacts.all_merged_into([one.pk for one in touched])):
        save_profile(one, *profiles.without(profile_of(one), memory_ids), recorder)
    return touched


def unlearn_facts(
    end_user: EndUser, memories: Collection[Memory], recorder: Recorder = UNRECORDED
) -> None:
    """Removes from profiles, also of those merged into others, the values of facts of these
    memories that have ended; what else rests on the memories stays."""
    if not memories:
        return
    standing = end_user.contacts.standing().light().filter(links__memory__in=memories)
    touched = list(standing.distinct())
    stored = [memory.as_stored() for memory in memories]
    for contact in (*touched, *end_user.contacts.all_merged_into([one.pk for one in touched])):
        person = contact.merged_into_id or contact.pk
        left, again = profiles.without_ended(profile_of(contact), person, stored)
        save_profile(contact, left, again, recorder)


def save_profile(
    contact: Contact, profile: Profile, again: Collection[UUID], recorder: Recorder
) -> None:
    """Saves a contact with another profile, a fresh card and profile memory; the memories ``again``
    are to be read again."""
    recorder.watch([contact])
    set_profile(contact, profile)
    reopen(contact.end_user, contact, again, recorder)
    store.save(contact, PROFILE_FIELDS)
    write_profile_memory(contact, recorder)


def reopen(
    end_user: EndUser,
    contact: Contact,
    memory_ids: Collection[UUID],
    recorder: Recorder = UNRECORDED,
) -> None:
    """Marks memories as not yet taken into the contact's profile."""
    if not memory_ids:
        return
    links = Link.objects.of(end_user).filter(contact=contact, memory__in=memory_ids)
    links = links.exclude(consolidated_at=None)
    spoken_for = Memory.objects.of(end_user).filter(pk__in=memory_ids)
    spoken_for = spoken_for.exclude(consolidated_into=None)
    recorder.watch(links)
    recorder.watch(tracked(spoken_for))
    links.update(consolidated_at=None)
    spoken_for.update(consolidated_into=None, importance=INITIAL_IMPORTANCE)


def prune(contact: Contact, recorder: Recorder = UNRECORDED) -> None:
    """Removes from a contact's profile (unsaved) what rests on memories that are not active or
    not about the contact; other memories that it rested on are read again."""
    links = Link.objects.of(contact.end_user).standing().filter(contact=contact)
    again = keep_sound(
        contact, lambda named: links.filter(memory__in=named).values_list("memory", flat=True)
    )
    reopen(contact.end_user, contact, again, recorder)


def keep_sound(
    contact: Contact, about: Callable[[Collection[UUID]], Iterable[UUID]]
) -> frozenset[UUID]:
    """Removes from a contact's profile (unsaved) what rests on other memories than active ones that
    ``about`` says are about the contact. Returns the other memories that this rested on."""
    end_user = contact.end_user
    profile = profile_of(contact)
    merged = lineage.follow(end_user, profiles.sources(profile))
    profile = profiles.renamed(profile, {pk: (end,) for pk, end in merged.items()})
    named = profiles.sources(profile)
    active = Memory.objects.of(end_user).active().filter(pk__in=list(about(named)))
    left, again = profiles.without(profile, named - set(active.values_list("pk", flat=True)))
    set_profile(contact, left)
    return again


def cancel_consolidations(end_user: EndUser, contact_ids: Collection[UUID]) -> None:
    """Stops consolidations of these contacts that wait or run; what is new about the contacts is
    read again in the background."""
    open_states = (Work.State.PENDING, Work.State.RUNNING, Work.State.FAILED)
    work = Consolidation.objects.of(end_user).filter(contact__in=contact_ids, state__in=open_states)
    stopped = work.update(
        state=Work.State.CANCELLED, finished_at=timezone.now(), leased_until=None, retry_at=None
    )
    if stopped:
        queue.enqueue("consolidate", end_user.pk)


def tracked(memories: QuerySet[Memory]) -> QuerySet[Memory]:
    """Memories without the columns that no change tracks."""
    return memories.only("pk", *Memory.tracked)
