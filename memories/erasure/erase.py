"""True deletion, the only one there is: asked for by the end user or the app, and complete."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django_q.models import Failure, OrmQ, Success

from accounts.models import Change, EndUser
from accounts.reasons import CodedError, Reason
from contacts import store
from contacts.models import Contact
from memories import remote_batches
from memories.corrections import derived, erasure_requests
from memories.erasure import redact_messages, same_statement
from memories.erasure.scrub_changes import scrub
from memories.models import (
    Batch,
    Consolidation,
    Entity,
    EntityLink,
    Injected,
    Memory,
    Message,
)


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
    people = Contact.objects.of(held).values_list("pk", flat=True)
    _erase_tasks({str(held.pk), *map(str, people)})
    remote_batches.withdraw(held)
    EndUser.objects.filter(pk=held.pk).delete()
    return gone


class NothingToForget(CodedError):
    """There is no such contact or memory of this end user."""


@transaction.atomic
def forget_contact(end_user: EndUser, contact_id: UUID) -> Forgotten:
    """Erases a contact with every memory and message that is about it or names it.

    What other contacts' profiles had learnt from those memories goes with them. Raises
    NothingToForget.
    """
    held = _held(end_user)
    contact, ids, memories = _about(held, contact_id)
    messages = erasure_requests.naming(Message, held, contact)
    return _erase(held, memories, ids, messages, (contact.name, *contact.aliases))


def _about(end_user: EndUser, contact_id: UUID) -> tuple[Contact, list[UUID], set[UUID]]:
    """A contact, its id and those of all that was merged into it, and the memories that are
    linked to one of these or name it. Raises NothingToForget."""
    contact = store.survivor(end_user, contact_id)
    if contact is None:
        raise NothingToForget(Reason("no_such_contact"))
    merged = end_user.contacts.all_merged_into([contact.id])
    ids = [contact.id, *(other.id for other in merged)]
    linked = Memory.objects.of(end_user).filter(links__contact__in=ids, links__rejected=False)
    naming = erasure_requests.naming(Memory, end_user, contact)
    return contact, ids, {*linked.values_list("pk", flat=True), *naming}


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What an erasure would take: how much of each kind, and which memories."""

    gone: Forgotten
    memories: list[Memory]


def rehearse_contact(end_user: EndUser, contact_id: UUID) -> Rehearsal:
    """What ``forget_contact`` would erase: it is carried out and rolled back, so the answer
    can't differ from it. Raises NothingToForget."""
    with transaction.atomic():
        held = _held(end_user)
        contact, _, memories = _about(held, contact_id)
        doomed = _doomed(held, memories)
        gone = forget_contact(held, contact.id)
        transaction.set_rollback(True)
    return Rehearsal(gone, doomed)


def rehearse_memories(end_user: EndUser, memory_ids: Collection[UUID]) -> Rehearsal:
    """What ``forget_these`` would erase of these memories, in the same way."""
    with transaction.atomic():
        held = _held(end_user)
        doomed = _doomed(held, memory_ids)
        gone = forget_these(held, memory_ids, (), (), ())
        transaction.set_rollback(True)
    return Rehearsal(gone, doomed)


def _doomed(end_user: EndUser, memory_ids: Collection[UUID]) -> list[Memory]:
    """These memories with all that says the same, the latest first."""
    ids = same_statement.of(end_user, memory_ids)
    rows = Memory.objects.of(end_user).filter(pk__in=ids, kind=Memory.Kind.FACT)
    return list(rows.defer("tokens").order_by("-said_at", "pk"))


@transaction.atomic
def forget_memory(end_user: EndUser, memory_id: UUID) -> Forgotten:
    """Erases a memory with what was derived from it, and its words in the messages that it
    rests on. Raises NothingToForget."""
    held = _held(end_user)
    if not Memory.objects.of(held).filter(pk=memory_id).exists():
        raise NothingToForget(Reason("no_such_memory"))
    return _erase(held, {memory_id})


@transaction.atomic
def forget_these(
    end_user: EndUser,
    memory_ids: Collection[UUID],
    contact_ids: Collection[UUID],
    message_ids: Collection[int],
    words: Iterable[str],
) -> Forgotten:
    """Erases what a user asked in a chat to forget: these rows, as far as they are there, and
    what is derived from them. ``words`` say what it was about: messages close by that repeat
    one go too. Raises NothingToForget."""
    return _erase(_held(end_user), memory_ids, contact_ids, message_ids, words)


def _held(end_user: EndUser) -> EndUser:
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        raise NothingToForget(Reason("user_forgotten_already"))
    return held


def _erase(
    end_user: EndUser,
    memory_ids: Collection[UUID],
    contact_ids: Collection[UUID] = (),
    message_ids: Collection[int] = (),
    words: Iterable[str] = (),
) -> Forgotten:
    """Deletes memories and contacts with all that is derived from them or quotes them."""
    ids = same_statement.of(end_user, memory_ids)
    memories = Memory.objects.of(end_user).filter(pk__in=ids, kind=Memory.Kind.FACT)
    rows = list(memories.only("quote", "facts", "source_message_ids"))
    quotes: dict[int, set[str]] = {}
    for memory in rows:
        for message in memory.source_message_ids:
            quotes.setdefault(message, set()).add(memory.quote)
    told = {fact["value"] for memory in rows for fact in memory.facts}
    entities = set(EntityLink.objects.of(end_user).filter(memory__in=ids).values_list("entity"))
    people = Contact.objects.of(end_user).filter(links__memory__in=ids).values_list("pk", flat=True)
    around = [pk for pk in people.distinct() if pk not in contact_ids]
    derived.unlearn(end_user, ids)
    _erase_changes(end_user, [*ids, *contact_ids])
    memories.delete()
    orphaned = Entity.objects.of(end_user).filter(pk__in=[pk for (pk,) in entities], links=None)
    told.update(orphaned.values_list("name", flat=True))
    orphaned.delete()
    Injected.objects.of(end_user).filter(memory_ids__overlap=list(ids)).delete()
    emptied = redact_messages.erase(end_user, quotes, message_ids, {*words, *told})
    contacts = _erase_contacts(end_user, contact_ids)
    for work in (Batch, Consolidation):  # an error may quote what a model was given
        work.objects.of(end_user).exclude(error="").update(error="")
    remote_batches.withdraw_changed(end_user)
    for contact in Contact.objects.of(end_user).standing().filter(pk__in=around):
        store.save(contact, [])
    return Forgotten(contacts, len(rows), emptied)


def _erase_contacts(end_user: EndUser, ids: Collection[UUID]) -> int:
    """Deletes contacts with their profile memories and tasks."""
    if not ids:
        return 0
    profiles = [f"profile:{pk}" for pk in ids]
    Memory.objects.of(end_user).filter(content_hash__in=profiles).delete()
    gone = Contact.objects.of(end_user).filter(pk__in=ids, merged_into=None).count()
    Contact.objects.of(end_user).filter(pk__in=ids).delete()
    _erase_tasks({str(pk) for pk in ids})
    return gone


def _erase_changes(end_user: EndUser, ids: Collection[UUID]) -> None:
    """Deletes the audit rows about what is forgotten, and takes its words out of others."""
    for subject in ids:
        Change.objects.of(end_user).filter(subjects__contains=[str(subject)]).delete()
    scrub(end_user, ids)


def _erase_tasks(markers: Collection[str]) -> None:
    """Removes the tasks about these ids from the queue and its logs: their payloads are only
    ids, but complete means complete."""
    for model in (Success, Failure):
        names = model.objects.values_list("pk", "name").iterator()
        gone = [pk for pk, name in names if name.partition(" ")[2] in markers]
        model.objects.filter(pk__in=gone).delete()
    for task in OrmQ.objects.iterator():
        if task.name().partition(" ")[2] in markers:
            task.delete()
