"""What is derived from memories and links: profiles, profile memories, cards, search tokens. A
memory that a profile represents points at its profile memory and has a low importance; the others
keep their own. Callers hold the end user's lock."""

import json
from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from pydantic import TypeAdapter

from accounts.cells import fetch
from accounts.changes import UNRECORDED, Recorder
from accounts.models import EndUser
from contacts import cards, relations, store
from contacts.models import Contact
from memories import profiles, queue
from memories.models import (
    CONSOLIDATED_IMPORTANCE,
    INITIAL_IMPORTANCE,
    PROFILE_IMPORTANCE,
    Consolidation,
    Link,
    Memory,
    Work,
)
from memories.models.links import DOUBTFUL
from memories.search import context_tokens
from memories.search.sql import statement
from memories.search.tokens import tokenise
from memories.types import MemoryType, Profile, Subtype

PROFILE_FIELDS = ["attributes", "personality", "personality_sources", "timeline", "references"]
_PROFILE = TypeAdapter(Profile)
_MISPLACED = statement(__file__, "misplaced.sql").replace("{doubtful}", str(DOUBTFUL))


def profile_of(contact: Contact, fields: Collection[str] = PROFILE_FIELDS) -> Profile:
    """Returns the contact's profile, or only these fields of it, as a dataclass."""
    return _PROFILE.validate_python({name: getattr(contact, name) for name in fields})


def set_profile(
    contact: Contact, profile: Profile, fields: Collection[str] = PROFILE_FIELDS
) -> None:
    """Sets a profile, or only these fields of it, on the contact (unsaved) as JSON."""

    def plain(value: datetime | UUID) -> str:
        return value.isoformat() if isinstance(value, datetime) else str(value)

    columns = json.loads(json.dumps(asdict(profile), default=plain))
    for name in fields:
        setattr(contact, name, columns[name])


def profile_text(contact: Contact, language: str) -> str:
    """Returns a contact's profile as the content of its profile memory: the card without the newest
    notes, which are memories of their own."""
    card = cards.render(contact, language)
    sections = (row for caption, items in card.sections for row in (caption, *items))
    return "\n".join([card.heading, *card.lines, *sections])


def reindex(memory: Memory) -> None:
    """Rebuilds the search tokens of a memory (unsaved); workers embed it and look for its edges."""
    memory.tokens = context_tokens.tokens_of(memory.end_user_id, [memory])[memory.pk]
    memory.embedding_model, memory.related_at = "", None


def recompute(
    end_user: EndUser, contact_ids: Collection[UUID], memory_ids: Collection[UUID]
) -> None:
    """Recomputes profiles, cards, keys, profile memories and ``Contact.memory_ids`` of these
    contacts from their links, and the importance of these memories from the profiles. Cancels
    consolidations of these contacts; their memories are read again."""
    standing, affected = [], set(memory_ids)
    for contact in end_user.contacts.filter(pk__in=contact_ids).light().order_by("pk"):
        if contact.merged_into_id:
            store.index(contact)
        else:
            standing.append(contact)
            rebuild_profile(contact)
            affected |= profiles.sources(profile_of(contact))
    point_at_profiles(end_user, affected)
    store.render_around(end_user, contact_ids)
    for contact in standing:
        store.save(contact, [])
    # A trigger replaces the empty array by the memories of the links, in their order.
    Contact.objects.of(end_user).filter(pk__in=contact_ids).update(memory_ids=[])
    cancel_consolidations(end_user, contact_ids)


def rebuild_profile(contact: Contact, recorder: Recorder = UNRECORDED) -> None:
    """Removes from a contact's profile what rests on memories that are not active or not linked to
    the contact, and saves the contact and its profile memory."""
    links = Link.objects.of(contact.end_user).standing().filter(contact=contact)
    reread_ids = keep_sound(contact, links)
    reopen(contact.end_user, contact, reread_ids, recorder)
    store.save(contact, PROFILE_FIELDS)
    write_profile_memory(contact, recorder)


def keep_sound(contact: Contact, links: QuerySet[Link]) -> frozenset[UUID]:
    """Removes from a profile (unsaved) what rests on memories other than the active ones of these
    links. Returns the valid memories that the removed parts rested on as well, to be read again."""
    end_user = contact.end_user
    profile = profile_of(contact)
    merged = follow_merged(end_user, profiles.sources(profile))
    profile = profiles.renamed(profile, {pk: (end,) for pk, end in merged.items()})
    named = profiles.sources(profile)
    linked = list(links.filter(memory__in=named).values_list("memory", flat=True))
    active = Memory.objects.of(end_user).active().filter(pk__in=linked)
    valid, reread = profiles.without(profile, named - set(active.values_list("pk", flat=True)))
    set_profile(contact, valid)
    return reread


def follow_merged(end_user: EndUser, memory_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Returns, for each of these memories that was merged, the memory that replaces it now."""
    into: dict[UUID, UUID] = {}
    level = set(memory_ids)
    while level:
        rows = Memory.objects.of(end_user).filter(pk__in=level).exclude(merged_into=None)
        targets = {pk: end for pk, end in rows.values_list("pk", "merged_into") if end}
        into |= targets
        level = {*targets.values()} - into.keys()
    for pk in into:
        while into[pk] in into:
            into[pk] = into[into[pk]]
    return into


def write_profile_memory(contact: Contact, recorder: Recorder = UNRECORDED) -> Memory | None:
    """Writes the contact's card into its profile memory; memories that this no longer represents
    get their importance back. A worker embeds it. Returns None if there is none and nothing was
    learnt."""
    key = f"profile:{contact.id}"
    existing = Memory.objects.of(contact.end_user_id).filter(content_hash=key).first()
    learnt = contact.attributes or contact.personality or contact.timeline
    if existing is None and (contact.merged_into_id or not learnt):
        return None
    if existing is not None and contact.merged_into_id is None:
        point_at_profiles(contact.end_user, of=existing, recorder=recorder)
    content = profile_text(contact, contact.end_user.language)
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
    memory.set_said_at(contact.last_mentioned_at.astimezone(contact.end_user.zone))
    memory.save()
    if existing is None:
        recorder.watch([memory], created=True)
    if contact.merged_into_id is None:
        link, created = Link.objects.get_or_create(
            end_user_id=contact.end_user_id,
            contact=contact,
            memory=memory,
            defaults={"made_by": Link.MadeBy.CONSOLIDATOR},
        )
        if created:
            recorder.watch([link], created=True)
    return memory


def unlearn(
    end_user: EndUser,
    memory_ids: Collection[UUID],
    recorder: Recorder = UNRECORDED,
    *,
    contact: Contact | None = None,
) -> list[Contact]:
    """Removes what rests on these memories from relations and profiles, of all contacts or only of
    ``contact``, and of contacts merged into these, which an undo may restore. Returns the linked
    contacts, saved with new cards."""
    if not memory_ids:
        return []
    rows = relations.resting_on(end_user, memory_ids, of=contact.pk if contact else None)
    recorder.watch(rows)
    related = relations.without_sources(rows, memory_ids)
    condition: dict[str, Any] = {"pk": contact.pk} if contact else {"links__memory__in": memory_ids}
    standing = end_user.contacts.standing().light()
    touched = list(standing.filter(**condition).distinct())
    for other in standing.filter(pk__in=related).exclude(pk__in=[one.pk for one in touched]):
        store.save(other, [])
    for one in (*touched, *end_user.contacts.all_merged_into([one.pk for one in touched])):
        save_profile(one, *profiles.without(profile_of(one), memory_ids), recorder)
    return touched


def unlearn_facts(
    end_user: EndUser, memories: Collection[Memory], recorder: Recorder = UNRECORDED
) -> None:
    """Removes from profiles, also of merged contacts, what ended facts of these memories stated."""
    if not memories:
        return
    standing = end_user.contacts.standing().light().filter(links__memory__in=memories)
    touched = list(standing.distinct())
    stored = [memory.as_stored() for memory in memories]
    for contact in (*touched, *end_user.contacts.all_merged_into([one.pk for one in touched])):
        person = contact.merged_into_id or contact.pk
        profile, reread_ids = profiles.without_ended(profile_of(contact), person, stored)
        save_profile(contact, profile, reread_ids, recorder)


def save_profile(
    contact: Contact, profile: Profile, again: Collection[UUID], recorder: Recorder
) -> None:
    """Saves a contact with a new profile; the memories ``again`` are to be read again."""
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
    """Marks memories as not yet read into the contact's profile, with their initial importance."""
    if not memory_ids:
        return
    links = Link.objects.of(end_user).filter(contact=contact, memory__in=memory_ids)
    links = links.exclude(consolidated_at=None)
    represented = Memory.objects.of(end_user).filter(pk__in=memory_ids)
    represented = represented.exclude(consolidated_into=None)
    recorder.watch(links)
    recorder.watch(tracked(represented))
    links.update(consolidated_at=None)
    represented.update(consolidated_into=None, importance=INITIAL_IMPORTANCE)


def misplaced(scope: str, **parameters: Any) -> list[tuple[int, UUID, UUID | None]]:
    """Returns the facts in ``scope`` (an SQL condition on ``m``) that do not point at the profile
    memory that represents them: the end user, the fact, and that profile memory or None."""
    return fetch(_MISPLACED.replace("{scope}", scope), parameters)


def point_at_profiles(
    end_user: EndUser,
    memory_ids: Collection[UUID] = (),
    *,
    of: Memory | None = None,
    recorder: Recorder = UNRECORDED,
) -> None:
    """Makes these memories, and those that point at the profile memory ``of``, point at a profile
    memory that represents them, with a low importance, if all contacts that they are about have
    read them; the others get their initial importance back."""
    misplaced_facts = misplaced(
        "m.end_user_id = %(end_user)s"
        " AND (m.id = ANY (%(ids)s::uuid[]) OR m.consolidated_into_id = %(of)s::uuid)",
        end_user=end_user.pk,
        ids=[*memory_ids],
        of=of and of.pk,
    )
    profile_of_memory = {pk: profile for _, pk, profile in misplaced_facts}
    rows = list(tracked(Memory.objects.of(end_user).filter(pk__in=profile_of_memory)))
    recorder.watch(rows)
    for memory in rows:
        profile = memory.consolidated_into_id = profile_of_memory[memory.pk]
        memory.importance = CONSOLIDATED_IMPORTANCE if profile else INITIAL_IMPORTANCE
    Memory.objects.bulk_update(rows, ["consolidated_into", "importance"], batch_size=500)


def restore_importance(end_user: EndUser, memory_ids: Collection[UUID]) -> None:
    """Gives memories whose profile memory was deleted their initial importance back."""
    alone = Memory.objects.of(end_user).facts().filter(pk__in=memory_ids, consolidated_into=None)
    alone.update(importance=INITIAL_IMPORTANCE)


def cancel_consolidations(end_user: EndUser, contact_ids: Collection[UUID]) -> None:
    """Cancels open consolidations of these contacts; a later one reads what is new."""
    work = Consolidation.objects.of(end_user).filter(
        contact__in=contact_ids, state__in=Consolidation.UNDER_WAY
    )
    stopped = work.update(
        state=Work.State.CANCELLED, finished_at=timezone.now(), leased_until=None, retry_at=None
    )
    if stopped:
        queue.enqueue("consolidate", end_user.pk)


def tracked(memories: QuerySet[Memory]) -> QuerySet[Memory]:
    """Returns the memories with only the columns that changes track."""
    return memories.only("pk", *Memory.tracked)
