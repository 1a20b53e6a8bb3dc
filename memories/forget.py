"""True deletion, the only one there is: asked for by the end user or the app, and complete."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django_q.models import Failure, OrmQ, Success

from accounts.changes import scrub
from accounts.models import Change, EndUser
from contacts import identity
from contacts.matching import entries_of, find_mentions
from contacts.models import Contact
from memories import derived
from memories.models import Memory, Message


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows of each kind are gone."""

    contacts: int = 0
    memories: int = 0
    messages: int = 0


@transaction.atomic
def forget_everything(end_user: EndUser) -> Forgotten:
    """Erases an end user: messages, memories, links, vectors, contacts, changes, work, calls.

    Tasks still queued carry only ids and find nothing.
    """
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        return Forgotten()
    gone = Forgotten(
        contacts=Contact.objects.of(held).count(),
        memories=Memory.objects.of(held).count(),
        messages=Message.objects.of(held).count(),
    )
    _erase_tasks(held)
    EndUser.objects.filter(pk=held.pk).delete()
    return gone


class NothingToForget(LookupError):
    """There is no such contact or memory of this end user."""


@transaction.atomic
def forget_contact(end_user: EndUser, contact_id: UUID) -> Forgotten:
    """Erases a contact with every memory and message that is about it or names it.

    What other contacts' profiles had learnt from those memories goes with them. Raises
    NothingToForget.
    """
    held = _held(end_user)
    contact = identity.survivor(held, contact_id)
    if contact is None:
        raise NothingToForget("There is no such contact.")
    ids = [contact.id, *(merged.id for merged in derived.merged_into(held, [contact.id]))]
    linked = Memory.objects.of(held).filter(links__contact__in=ids, links__rejected=False)
    memories = {*linked.values_list("pk", flat=True), *_naming(Memory, held, contact)}
    gone = _erase_memories(held, memories)
    naming = Message.objects.of(held).filter(pk__in=_naming(Message, held, contact))
    messages = _blank(naming)
    _erase_changes(held, ids)
    profiles = [f"profile:{pk}" for pk in ids]
    Memory.objects.of(held).filter(content_hash__in=profiles).delete()
    Contact.objects.of(held).filter(pk__in=ids).delete()
    return Forgotten(1, gone.memories, gone.messages + messages)


def _naming(model: type[Memory] | type[Message], end_user: EndUser, contact: Contact) -> list[Any]:
    """The ids of the user's rows whose content names the contact."""
    names = Q()
    for name in (contact.name, *contact.aliases):
        names |= Q(content__icontains=name)
    entries = entries_of([contact.person])
    rows = model.objects.of(end_user).filter(names).values_list("pk", "content")
    return [pk for pk, content in rows.iterator() if find_mentions(content, entries)]


def _blank(messages: QuerySet[Message]) -> int:
    """Empties messages; their numbers stay, so that the ranges of batches stay whole."""
    return messages.update(content="", client_id=None)


@transaction.atomic
def forget_memory(end_user: EndUser, memory_id: UUID) -> Forgotten:
    """Erases a memory with what was derived from it, and the messages that only it rests on.
    Raises NothingToForget."""
    held = _held(end_user)
    if not Memory.objects.of(held).filter(pk=memory_id).exists():
        raise NothingToForget("There is no such memory.")
    return _erase_memories(held, {memory_id})


def _held(end_user: EndUser) -> EndUser:
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        raise NothingToForget("This end user has been forgotten already.")
    return held


def _erase_memories(end_user: EndUser, ids: Collection[UUID]) -> Forgotten:
    """Deletes memories, what profiles learnt from them, and messages nothing else rests on."""
    memories = Memory.objects.of(end_user).filter(pk__in=ids, kind=Memory.Kind.FACT)
    derived.unlearn(end_user, ids)
    sources = {m for row in memories.values_list("source_message_ids", flat=True) for m in row}
    people = list(memories.values_list("links__contact", flat=True).distinct())
    _erase_changes(end_user, ids)
    count = memories.count()
    memories.delete()
    still_needed = {
        message
        for row in Memory.objects.of(end_user)
        .filter(source_message_ids__overlap=list(sources))
        .values_list("source_message_ids", flat=True)
        for message in row
    }
    messages = Message.objects.of(end_user).filter(pk__in=sources - still_needed)
    blanked = _blank(messages)
    for contact in Contact.objects.of(end_user).standing().filter(pk__in=[p for p in people if p]):
        identity.save(contact, [])
    return Forgotten(memories=count, messages=blanked)


def _erase_changes(end_user: EndUser, ids: Collection[UUID]) -> None:
    """Deletes the audit rows about what is forgotten, and takes its words out of others."""
    for subject in ids:
        Change.objects.of(end_user).filter(subjects__contains=[str(subject)]).delete()
    scrub(end_user, ids)


def _erase_tasks(end_user: EndUser) -> None:
    """Removes the user's tasks from the queue and its logs: their payloads are only ids, but
    complete means complete."""
    people = Contact.objects.of(end_user).values_list("pk", flat=True)
    markers = {str(end_user.pk), *map(str, people)}
    for model in (Success, Failure):
        names = model.objects.values_list("pk", "name").iterator()
        gone = [pk for pk, name in names if name.partition(" ")[2] in markers]
        model.objects.filter(pk__in=gone).delete()
    for task in OrmQ.objects.iterator():
        if task.name().partition(" ")[2] in markers:
            task.delete()
