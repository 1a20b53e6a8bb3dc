"""Whose it is what was learnt of two people while they were taken for one.

Callers hold the end user's lock; no change records it, like all that machines learn.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import F

from accounts.changes import UNRECORDED
from accounts.models import Change, EndUser
from contacts import relations, store
from contacts.key_index import hits
from contacts.models import Contact
from memories import queue
from memories.corrections import derived, edit_memories, merge_contacts
from memories.corrections.review_links import DOUBTFUL
from memories.models import Link, Memory
from understanding.people.mentions import candidate_keys, find_mentions

# A mention that tells the two apart is at least so sure.
SURE = 0.8


def give_each_their_own(end_user: EndUser, merge: Change) -> set[UUID]:
    """After the rows of a ``merge`` are put back: what was learnt since gives the memories that
    name the other alone to them, with facts and relations. Those that don't tell the two apart
    stay with the survivor, for a person to look at. Returns the memories given."""
    found = (end_user.contacts.filter(pk=pk).light().first() for pk in merge.subjects)
    people = [contact for contact in found if contact is not None]
    if len(people) != 2:
        return set()
    other, survivor = people
    # Not by when they were linked: an undo makes links anew.
    learnt = survivor.links.standing().filter(
        memory__created_at__gt=merge.created_at, memory__kind=Memory.Kind.FACT
    )
    links = list(learnt.select_related("memory"))
    theirs, unsure = _told_apart(end_user, links, other, survivor) if links else ([], [])
    doubted = Link.objects.filter(pk__in=[link.pk for link in unsure])
    # Who stated it said so of both.
    doubted.filter(made_by=Link.MadeBy.OPERATOR).update(made_by=Link.MadeBy.EXTRACTOR)
    doubted.filter(confidence__gt=DOUBTFUL).update(confidence=DOUBTFUL)
    if theirs:
        _give(end_user, theirs, survivor, other)
    return {link.memory_id for link in theirs}


def _told_apart(
    end_user: EndUser, links: Sequence[Link], other: Contact, survivor: Contact
) -> tuple[list[Link], list[Link]]:
    """The links to memories that name the other alone, and those to memories that name both of
    them, or neither for sure."""
    for contact in (other, survivor):
        store.index(contact)
    texts = [f"{link.memory.content}\n{link.memory.quote}" for link in links]
    found = hits(end_user, frozenset().union(*map(candidate_keys, texts)))
    entries = [hit.entry for hit in found]
    theirs, unsure = [], []
    for link, text in zip(links, texts, strict=True):
        named = [m for m in find_mentions(text, entries) if m.person.id in (other.pk, survivor.pk)]
        meant = {mention.person.id for mention in named}
        sure = len(meant) == 1 and max(mention.confidence for mention in named) >= SURE
        if not sure:
            unsure.append(link)
        elif other.pk in meant:
            theirs.append(link)
    return theirs, unsure


def _give(end_user: EndUser, links: Sequence[Link], old: Contact, new: Contact) -> None:
    ids = {link.memory_id for link in links}
    stated = relations.resting_on(end_user, ids, of=old.pk)
    merge_contacts.hand_over(links, new, UNRECORDED)
    merge_contacts.rename_in_facts(end_user, old.pk, new.pk, UNRECORDED, among=ids)
    for row in stated:
        subject, whose = (new if at.pk == old.pk else at for at in (row.subject, row.object))
        told = [source for source in row.sources if source in ids]
        relations.relate(end_user, subject, row.kind, whose, told)
    derived.unlearn(end_user, ids, contact=old)
    edit_memories.restore_superseded(end_user, ids, UNRECORDED, of=old.pk)
    derived.reopen(end_user, new, ids)
    Memory.objects.of(end_user).filter(pk__in=ids).update(unread=True)
    queue.enqueue("reread", end_user.pk)
    rows = Contact.objects.of(end_user)
    rows.filter(pk=new.pk).update(
        mention_count=F("mention_count") + len(ids),
        last_mentioned_at=max(new.last_mentioned_at, *(link.memory.said_at for link in links)),
    )
    left = Contact.objects.get(pk=old.pk).mention_count - len(ids)
    rows.filter(pk=old.pk).update(mention_count=max(0, left))
