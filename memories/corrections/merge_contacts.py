"""Merge, split, resolve: the verbs on who is who, with all that memories have to do with it.

Each is one transaction under the end user's lock with one Change row that can be undone.
``actor`` is ``operator:NAME``, ``app:NAME`` or the machine's part. All raise ``contacts.merge.InvalidMerge`` before anything is written.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import UNRECORDED, Recorder, recording
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from contacts import cards, relations, store
from contacts import merge as identities
from contacts.merge import AS_IT_IS, Choice, InvalidMerge
from contacts.models import Contact
from memories import profiles, queue
from memories.corrections import derived, sources
from memories.corrections.edit_memories import restore_superseded
from memories.models import Link, Memory
from memories.models.links import CARD_NOTES, card_note
from understanding.text import normalise

OPERATOR = Link.MadeBy.OPERATOR


@atomic()
def merge(
    end_user: EndUser,
    loser_id: UUID,
    survivor_id: UUID,
    *,
    actor: str,
    why: str = "",
    choice: Choice = AS_IT_IS,
) -> Change:
    """Says that two contacts are one person: the survivor takes in all that is the loser's, but
    for what a ``choice`` leaves out. The loser's id answers with the survivor from then on."""
    held = identities.hold(end_user)
    loser, survivor = identities.mergeable(held, loser_id, survivor_id, actor)
    with recording(held, "merge", actor, why, [loser.id, survivor.id]) as (recorder, change):
        _merge(loser, survivor, recorder, actor, choice)
    queue.enqueue("embed", held.pk)
    return change


def _merge(
    loser: Contact, survivor: Contact, recorder: Recorder, actor: str, choice: Choice
) -> None:
    end_user = survivor.end_user
    about_loser = loser.links.exclude(memory__kind=Memory.Kind.PROFILE)
    shared = hand_over(list(about_loser), survivor, recorder)
    rename_in_facts(end_user, loser.id, survivor.id, recorder)
    identities.absorb(loser, survivor, recorder, actor=actor, choice=choice)
    derived.prune(survivor, recorder)
    store.save(survivor, derived.PROFILE_FIELDS)
    _one_profile(loser, survivor, recorder)
    sources.point_at_profiles(end_user, shared, recorder=recorder)
    derived.cancel_consolidations(end_user, [loser.id, survivor.id])


def rehearsed_card(
    end_user: EndUser,
    loser_id: UUID,
    survivor_id: UUID,
    *,
    actor: str,
    choice: Choice = AS_IT_IS,
) -> str:
    """The survivor's card as a merge by ``actor`` would leave it. Reads only, and of links only
    those that a card can show."""
    loser, survivor = identities.mergeable(end_user, loser_id, survivor_id, actor)
    identities.unite(loser, survivor, choice)
    links = Link.objects.of(end_user).filter(contact__in=[loser, survivor])
    standing = links.filter(rejected=False).exclude(
        memory__in=links.filter(rejected=True).values("memory")
    )
    derived.keep_sound(
        survivor, lambda ids: standing.filter(memory__in=ids).values_list("memory", flat=True)
    )
    unread = standing.filter(
        Q(consolidated_at=None) | Q(memory__brackets__isnull=False),
        memory__status=Memory.Status.ACTIVE,
        memory__kind=Memory.Kind.FACT,
    ).exclude(memory__in=Memory.objects.of(end_user).ahead(end_user.today_began).values("pk"))
    newest = unread.select_related("memory").order_by("-pk")[: 2 * CARD_NOTES]
    memories = list(dict.fromkeys(link.memory for link in newest))[:CARD_NOTES]
    notes = [
        card_note(
            survivor, memory.content, _renamed(memory.facts, loser.pk, survivor.pk),
            memory.brackets, memory.speaker, memory.said_there.date(),
        )
        for memory in reversed(memories)
    ]  # fmt: skip
    related = relations.on_card_of_both(loser, survivor, end_user.language)
    return str(cards.render(survivor, end_user.language, related, list(filter(None, notes))))


def _renamed(facts: list[dict[str, Any]], old: UUID, new: UUID) -> list[dict[str, Any]]:
    """The facts of a memory, with those of one contact as facts of another."""
    return [{**f, "person": str(new)} if f["person"] == str(old) else f for f in facts]


def hand_over(links: Sequence[Link], survivor: Contact, recorder: Recorder) -> list[UUID]:
    """Makes links the survivor's. Where it has one to the same memory, one stays, and a
    rejection outweighs what a machine linked, but not what an operator did. Returns these
    memories."""
    twins = {
        link.memory_id: link
        for link in survivor.links.filter(memory__in=[link.memory_id for link in links])
    }
    recorder.watch(links)
    recorder.keep(twins.values())
    free = [link.pk for link in links if link.memory_id not in twins]
    Link.objects.filter(pk__in=free).update(contact=survivor)
    for link in links:
        twin = twins.get(link.memory_id)
        if twin is not None:
            _unite(twin, link)
    Link.objects.filter(pk__in=[link.pk for link in links if link.memory_id in twins]).delete()
    return list(twins)


def hand_on(tombstone: Contact, survivor: Contact, *, actor: str) -> None:
    """Gives the survivor all that a merged contact came to hold again. The caller holds the end
    user's lock; it is no change, since no one asked for it."""
    end_user = survivor.end_user
    about = list(tombstone.links.exclude(memory__kind=Memory.Kind.PROFILE))
    hand_over(about, survivor, UNRECORDED)
    rename_in_facts(end_user, tombstone.id, survivor.id, UNRECORDED)
    identities.hand_on(tombstone, survivor, actor=actor)
    _one_profile(tombstone, survivor, UNRECORDED)
    derived.cancel_consolidations(end_user, [tombstone.id])
    derived.recompute(end_user, [survivor.id], [link.memory_id for link in about])


def _unite(twin: Link, link: Link) -> None:
    """Makes the survivor's link to a memory the one of both."""
    if twin.rejected != link.rejected:
        standing = link if twin.rejected else twin
        twin.rejected = standing.made_by != OPERATOR
    if OPERATOR in (twin.made_by, link.made_by):
        twin.made_by = OPERATOR
    twin.confidence = max(twin.confidence, link.confidence)
    twin.consolidated_at = twin.consolidated_at or link.consolidated_at
    twin.save()


def rename_in_facts(
    end_user: EndUser,
    old: UUID,
    new: UUID,
    recorder: Recorder,
    among: Iterable[UUID] | None = None,
) -> None:
    """Facts about the contact ``old`` are about ``new`` from now on, in all memories or
    only ``among`` these."""
    rows = Memory.objects.of(end_user).filter(facts__contains=[{"person": str(old)}])
    memories = derived.tracked(rows if among is None else rows.filter(pk__in=among))
    recorder.watch(memories)
    for memory in memories:
        memory.facts = _renamed(memory.facts, old, new)
        memory.updated_at = timezone.now()
    Memory.objects.bulk_update(memories, ["facts", "updated_at"], batch_size=500)


def _one_profile(loser: Contact, survivor: Contact, recorder: Recorder) -> None:
    """The survivor's profile memory speaks for both; the loser's is history, about nobody."""
    rows = Memory.objects.of(survivor.end_user)
    derived.write_profile_memory(survivor, recorder)
    theirs = list(derived.tracked(rows.filter(content_hash=f"profile:{loser.id}")))
    recorder.watch(theirs)
    rows.filter(pk__in=[memory.pk for memory in theirs]).update(status=Memory.Status.ARCHIVED)
    spoken_for = rows.filter(consolidated_into__in=theirs).values_list("pk", flat=True)
    sources.point_at_profiles(survivor.end_user, list(spoken_for), recorder=recorder)
    left = Link.objects.of(survivor.end_user).filter(contact=loser)
    recorder.watch(left)
    left.delete()


@atomic()
def split(
    end_user: EndUser,
    contact_id: UUID,
    memory_ids: Collection[UUID],
    *,
    name: str,
    relationship: str = "",
    actor: str,
    why: str = "",
) -> tuple[Contact, Change]:
    """Says that some of a contact's memories are about another person, a new contact, to
    whom what rests on them goes along. No machine links the old one to them again. A
    namesake is allowed. Raises identity.InvalidContact for a name that is none."""
    held = identities.hold(end_user)
    old = identities.standing(held, contact_id)
    moved = list(dict.fromkeys(memory_ids))
    links = Link.objects.of(held).standing().filter(contact=old, memory__in=moved)
    mine = list(links.filter(memory__kind=Memory.Kind.FACT).select_related(None).order_by("pk"))
    if not moved or len(mine) != len(moved):
        raise InvalidMerge(Reason("memories_of_other", name=old.name))
    with recording(held, "split", actor, why) as (recorder, change):
        recorder.watch(mine)
        Link.objects.filter(pk__in=[link.pk for link in mine]).update(
            rejected=True, made_by=OPERATOR
        )
        new = identities.part(
            old, moved, recorder, name=name, relationship=relationship, actor=actor
        )
        change.subjects = [str(old.id), str(new.id), *map(str, moved)]
        _link_anew(new, mine, recorder)
        said = Memory.objects.of(held).filter(pk__in=moved).values_list("said_at", flat=True)
        new.first_mentioned_at, new.last_mentioned_at = min(said), max(said)
        store.save(new, ["first_mentioned_at", "last_mentioned_at"])
        recorder.keep(derived.tracked(Memory.objects.of(held).filter(pk__in=moved)))
        rename_in_facts(held, old.id, new.id, recorder, among=moved)
        restore_superseded(held, moved, recorder, of=old.id)
        Memory.objects.of(held).filter(pk__in=moved).update(unread=True)
        queue.enqueue("reread", held.pk)
        old.refresh_from_db()
        derived.prune(old, recorder)
        store.save(old, derived.PROFILE_FIELDS)
        derived.write_profile_memory(old, recorder)
        derived.write_profile_memory(new, recorder)
        sources.point_at_profiles(held, moved, recorder=recorder)
        derived.cancel_consolidations(held, [old.id])
    queue.enqueue("embed", held.pk)
    return new, change


def _link_anew(new: Contact, links: Sequence[Link], recorder: Recorder) -> None:
    """Links the new contact to the memories; what its profile has nothing of is read again."""
    known = profiles.sources(derived.profile_of(new))
    fresh = Link.objects.bulk_create(
        [
            Link(
                end_user_id=new.end_user_id,
                contact=new,
                memory_id=link.memory_id,
                made_by=OPERATOR,
                consolidated_at=link.consolidated_at if link.memory_id in known else None,
            )
            for link in links
        ]
    )
    recorder.watch(fresh, created=True)


@atomic()
def resolve_attribute(
    end_user: EndUser, contact_id: UUID, key: str, value: str, *, actor: str, why: str = ""
) -> tuple[Contact, Change]:
    """Says which of the values held side by side is the right one: the only one of an
    attribute that has one value at a time, else the first."""
    held = identities.hold(end_user)
    contact = identities.standing(held, contact_id)
    entries = contact.attributes.get(key, [])
    if normalise(value) not in (normalise(str(entry["value"])) for entry in entries):
        raise InvalidMerge(Reason("no_such_value", name=contact.name, key=key))
    with recording(held, "resolve", actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        Choice(values={key: value}).apply(contact)
        contact.side_by_side = [other for other in contact.side_by_side if other != key]
        store.save(contact, ["attributes", "side_by_side"])
        derived.write_profile_memory(contact, recorder)
    queue.enqueue("embed", held.pk)
    return contact, change


@atomic()
def keep_side_by_side(
    end_user: EndUser, contact_id: UUID, key: str, *, actor: str, why: str = ""
) -> tuple[Contact, Change]:
    """Says that all values of an attribute are right: of this person it may have several at a
    time. Raises InvalidMerge when it has fewer than two."""
    held = identities.hold(end_user)
    contact = identities.standing(held, contact_id)
    if len(contact.attributes.get(key, [])) < 2:
        raise InvalidMerge(Reason("not_several", name=contact.name, key=key))
    with recording(held, "keep_all", actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        contact.side_by_side = sorted({*contact.side_by_side, key})
        store.save(contact, ["side_by_side"])
    return contact, change
