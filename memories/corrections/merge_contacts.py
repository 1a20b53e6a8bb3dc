"""Corrections of who is who (merge, split, resolve), including what they change in memories.

Each is one transaction under the end user's lock with one Change row that can be undone. ``actor``
is ``operator:NAME``, ``app:NAME`` or a part of Mio. All raise InvalidMerge before writing.
"""

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery, Sum
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
from memories.corrections import derived
from memories.corrections.edit_memories import renamed, restore_superseded
from memories.models import Link, Memory
from memories.models.links import CARD_NOTES, DOUBTFUL, card_note
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
    """Merges two contacts that are one person: the survivor takes over everything of the loser,
    except what a ``choice`` leaves out; the loser's id finds the survivor from then on."""
    user = identities.lock_user(end_user)
    loser, survivor = identities.mergeable(user, loser_id, survivor_id, actor)
    with recording(user, "merge", actor, why, [loser.id, survivor.id]) as (recorder, change):
        about_loser = loser.links.exclude(memory__kind=Memory.Kind.PROFILE)
        shared = hand_over(list(about_loser), survivor, recorder)
        rename_in_facts(user, loser.id, survivor.id, recorder)
        identities.absorb(loser, survivor, recorder, actor=actor, choice=choice)
        derived.rebuild_profile(survivor, recorder)
        _retire_profile_memory(loser, survivor, recorder)
        derived.point_at_profiles(user, shared, recorder=recorder)
        derived.cancel_consolidations(user, [loser.id, survivor.id])
    queue.enqueue("embed", user.pk)
    return change


def rehearsed_card(
    end_user: EndUser, loser_id: UUID, survivor_id: UUID, *, actor: str, choice: Choice = AS_IT_IS
) -> str:
    """Returns the survivor's card as a merge by ``actor`` would leave it. Writes nothing."""
    loser, survivor = identities.mergeable(end_user, loser_id, survivor_id, actor)
    identities.unite(loser, survivor, choice)
    links = Link.objects.of(end_user).filter(contact__in=[loser, survivor])
    standing = links.filter(rejected=False).exclude(
        memory__in=links.filter(rejected=True).values("memory")
    )
    derived.keep_sound(survivor, standing)
    unconsolidated = standing.filter(
        Q(consolidated_at=None) | Q(memory__brackets__isnull=False),
        memory__status=Memory.Status.ACTIVE,
        memory__kind=Memory.Kind.FACT,
    ).exclude(memory__in=Memory.objects.of(end_user).ahead(end_user.today_began).values("pk"))
    same_memory = unconsolidated.filter(memory=OuterRef("memory")).order_by().values("memory")
    confidence = same_memory.annotate(sum=Sum("confidence")).values("sum")
    likely = unconsolidated.alias(of_both=Subquery(confidence)).filter(of_both__gte=DOUBTFUL)
    newest = likely.select_related("memory").order_by("-pk")[: 2 * CARD_NOTES]
    memories = list(dict.fromkeys(link.memory for link in newest))[:CARD_NOTES]
    notes = [
        card_note(
            survivor, memory.content, renamed(memory.facts, loser.pk, survivor.pk),
            memory.brackets, memory.speaker, memory.said_there.date(),
        )
        for memory in reversed(memories)
    ]  # fmt: skip
    related = relations.on_card_of_both(loser, survivor, end_user.language)
    return str(cards.render(survivor, end_user.language, related, list(filter(None, notes))))


def hand_over(links: Sequence[Link], survivor: Contact, recorder: Recorder) -> list[UUID]:
    """Moves links to the survivor. Of two links to one memory one stays, rejected if one was,
    unless an operator made the other. Returns the ids of the memories that had two."""
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
        if twin is None:
            continue
        if twin.rejected != link.rejected:
            accepted = link if twin.rejected else twin
            twin.rejected = accepted.made_by != OPERATOR
        if OPERATOR in (twin.made_by, link.made_by):
            twin.made_by = OPERATOR
        # If a word may refer to either of the two, the probabilities add up.
        twin.confidence = min(1.0, twin.confidence + link.confidence)
        twin.consolidated_at = twin.consolidated_at or link.consolidated_at
        twin.save()
    Link.objects.filter(pk__in=[link.pk for link in links if link.memory_id in twins]).delete()
    return list(twins)


def hand_over_late_rows(tombstone: Contact, survivor: Contact, *, actor: str) -> None:
    """Moves what a merged contact has come to own again to the survivor. Records no change."""
    end_user = survivor.end_user
    links = list(tombstone.links.exclude(memory__kind=Memory.Kind.PROFILE))
    hand_over(links, survivor, UNRECORDED)
    rename_in_facts(end_user, tombstone.id, survivor.id, UNRECORDED)
    identities.move_to_survivor(tombstone, survivor, actor=actor)
    _retire_profile_memory(tombstone, survivor, UNRECORDED)
    ids = [tombstone.id, survivor.id]
    derived.recompute(end_user, ids, [link.memory_id for link in links])


def rename_in_facts(
    end_user: EndUser, old: UUID, new: UUID, recorder: Recorder, among: Iterable[UUID] | None = None
) -> None:
    """Makes facts about ``old`` facts about ``new``, in all memories or only ``among`` these."""
    rows = Memory.objects.of(end_user).filter(facts__contains=[{"person": str(old)}])
    memories = derived.tracked(rows if among is None else rows.filter(pk__in=among))
    recorder.watch(memories)
    for memory in memories:
        memory.facts = renamed(memory.facts, old, new)
        memory.updated_at = timezone.now()
    Memory.objects.bulk_update(memories, ["facts", "updated_at"], batch_size=500)


def _retire_profile_memory(loser: Contact, survivor: Contact, recorder: Recorder) -> None:
    """Archives and unlinks the loser's profile memory; the survivor's represents both."""
    rows = Memory.objects.of(survivor.end_user)
    archived = list(derived.tracked(rows.filter(content_hash=f"profile:{loser.id}")))
    recorder.watch(archived)
    rows.filter(pk__in=[memory.pk for memory in archived]).update(status=Memory.Status.ARCHIVED)
    represented = rows.filter(consolidated_into__in=archived).values_list("pk", flat=True)
    derived.point_at_profiles(survivor.end_user, list(represented), recorder=recorder)
    links = Link.objects.of(survivor.end_user).filter(contact=loser)
    recorder.watch(links)
    links.delete()


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
    """Creates a new contact from some of a contact's memories and what rests on them; no machine
    links these to the old one again. Raises InvalidMerge, and store.InvalidContact for the name."""
    user = identities.lock_user(end_user)
    old = identities.get_unmerged(user, contact_id)
    moved = list(dict.fromkeys(memory_ids))
    links = Link.objects.of(user).standing().filter(contact=old, memory__in=moved)
    linked = list(links.filter(memory__kind=Memory.Kind.FACT).select_related(None).order_by("pk"))
    if not moved or len(linked) != len(moved):
        raise InvalidMerge(Reason("memories_of_other", name=old.name))
    with recording(user, "split", actor, why) as (recorder, change):
        recorder.watch(linked)
        Link.objects.filter(pk__in=[link.pk for link in linked]).update(
            rejected=True, made_by=OPERATOR
        )
        new = identities.split_contact(
            old, moved, recorder, name=name, relationship=relationship, actor=actor
        )
        change.subjects = [str(old.id), str(new.id), *map(str, moved)]
        source_ids = profiles.sources(derived.profile_of(new))
        new_links = Link.objects.bulk_create(
            Link(
                end_user=user,
                contact=new,
                memory_id=link.memory_id,
                made_by=OPERATOR,
                # What the new profile does not rest on is read again.
                consolidated_at=link.consolidated_at if link.memory_id in source_ids else None,
            )
            for link in linked
        )
        recorder.watch(new_links, created=True)
        said_times = Memory.objects.of(user).filter(pk__in=moved).values_list("said_at", flat=True)
        new.first_mentioned_at, new.last_mentioned_at = min(said_times), max(said_times)
        store.save(new, ["first_mentioned_at", "last_mentioned_at"])
        recorder.keep(derived.tracked(Memory.objects.of(user).filter(pk__in=moved)))
        rename_in_facts(user, old.id, new.id, recorder, among=moved)
        restore_superseded(user, moved, recorder, of=old.id)
        Memory.objects.of(user).filter(pk__in=moved).update(unread=True)
        queue.enqueue("reread", user.pk)
        old.refresh_from_db()
        derived.rebuild_profile(old, recorder)
        derived.write_profile_memory(new, recorder)
        derived.point_at_profiles(user, moved, recorder=recorder)
        derived.cancel_consolidations(user, [old.id])
    queue.enqueue("embed", user.pk)
    return new, change


@atomic()
def resolve_attribute(
    end_user: EndUser, contact_id: UUID, key: str, value: str | None, *, actor: str, why: str = ""
) -> Change:
    """Decides which of several current values of an attribute is right: it becomes the only value
    of a single attribute, else the first. None keeps all of them."""
    user = identities.lock_user(end_user)
    contact = identities.get_unmerged(user, contact_id)
    values = [normalise(str(entry["value"])) for entry in contact.attributes.get(key, [])]
    if value is None and len(values) < 2:
        raise InvalidMerge(Reason("not_several", name=contact.name, key=key))
    if value is not None and normalise(value) not in values:
        raise InvalidMerge(Reason("no_such_value", name=contact.name, key=key))
    verb = "keep_all" if value is None else "resolve"
    with recording(user, verb, actor, why, [contact.id]) as (recorder, change):
        recorder.watch([contact])
        if value is None:
            contact.side_by_side = sorted({*contact.side_by_side, key})
        else:
            Choice(values={key: value}).apply(contact)
            contact.side_by_side = [other for other in contact.side_by_side if other != key]
        store.save(contact, ["attributes", "side_by_side"])
        derived.write_profile_memory(contact, recorder)
    queue.enqueue("embed", user.pk)
    return change
