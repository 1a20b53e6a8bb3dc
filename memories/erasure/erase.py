"""True deletion, the only one there is: asked for by the end user or the app, and complete."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils import timezone
from django_q.models import Failure, OrmQ, Success

from accounts import placement
from accounts.cells import atomic, connection
from accounts.models import ApiKey, Change, EndUser
from accounts.reasons import CodedError, Reason
from accounts.scope import all_users
from contacts import store
from contacts.models import Contact, Relation
from memories import queue
from memories.corrections import derived, erasure_requests
from memories.corrections.forgotten_names import left_of, names_of
from memories.erasure import name_hashes, receipts, redact_messages, same_statement
from memories.erasure.messages_about import messages_about
from memories.erasure.receipts import NOBODY, By
from memories.erasure.scrub import only_in, scrub, scrub_names
from memories.models import (
    Batch,
    Consolidation,
    Entity,
    EntityLink,
    Erasure,
    GatewayTurn,
    Injected,
    Link,
    Memory,
    Message,
    MessageQuerySet,
    ModelCall,
    Receipt,
)

# Of erasing an end user beside others who write.
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows of each kind are gone. Of a person, ``report`` is the erasure that holds
    what is left to be decided: so many messages and contacts are ``unsure``. ``receipt`` is the
    id of the proof that it was erased."""

    contacts: int = 0
    memories: int = 0
    messages: int = 0
    report: UUID | None = None
    unsure: int = 0
    receipt: UUID | None = None


def forget_everything(end_user: EndUser, by: By = NOBODY) -> Forgotten:
    """Erases an end user: messages, memories, links, vectors, contacts, changes, work, calls.

    Tasks still queued carry only ids and find nothing. Raises IntegrityError when others wrote
    rows of the user's faster than they could be erased, and nothing is.
    """
    for _ in range(_TRIES - 1):
        with suppress(IntegrityError):
            return _erase_user(end_user, by)
    return _erase_user(end_user, by)


@atomic()
def _erase_user(end_user: EndUser, by: By) -> Forgotten:
    """The same once. Raises IntegrityError when a row came between the deletion of its table's
    rows and of the user's. (Whoever writes one holds it first, and the user only when committing,
    as foreign keys are checked then: to hold the user first here would be a deadlock.)"""
    held = EndUser.objects.lock(end_user.pk)
    if held is None:
        return Forgotten()
    gone = Forgotten(
        contacts=Contact.objects.of(held).count(),
        memories=Memory.objects.of(held).count(),
        messages=Message.objects.of(held).count(),
    )
    gone = _receipted(held, Receipt.What.USER, by, gone)
    people = Contact.objects.of(held).values_list("pk", flat=True)
    _erase_tasks({str(held.pk), *map(str, people)})
    with all_users():
        ApiKey.objects.filter(app=held.app_id, external_id=held.external_id).delete()
    with placement.forgetting(held):
        EndUser.objects.filter(pk=held.pk).delete()
        connection.check_constraints()
    return gone


class NothingToForget(CodedError):
    """There is no such contact or memory of this end user."""


@atomic()
def forget_contact(end_user: EndUser, contact_id: UUID, by: By = NOBODY) -> Forgotten:
    """Erases a contact with every memory and message that is about it, and its names wherever
    they stand. The report says which messages and contacts may mean the same person.

    What other contacts' profiles had learnt from those memories goes with them. Raises
    NothingToForget.
    """
    held = _held(end_user)
    people, linked, naming = about(held, contact_id)
    memories = {*linked, *naming}
    ids, names = [person.pk for person in people], names_of(people)
    told, now = messages_about(held, people), timezone.now()
    report = Erasure.objects.create(
        end_user=held,
        state=Erasure.State.ERASED,
        memory_ids=sorted(memories),
        contact_ids=sorted(ids),
        message_ids=sorted(told.sure),
        unsure_message_ids=told.unsure,
        unsure_contact_ids=told.alike,
        name_hashes=name_hashes.hashes_of(held, left_of(held, names, ids).all),
        requested_at=now,
        due_at=now,
        finished_at=now,
    )
    gone = _erase(held, memories, ids, told.sure, names, names)
    gone = replace(gone, report=report.pk, unsure=len(told.unsure) + len(told.alike))
    return _receipted(held, Receipt.What.PERSON, replace(by, id=report.pk), gone)


def about(
    end_user: EndUser, contact_id: UUID
) -> tuple[list[Contact], QuerySet[Link, UUID], set[UUID]]:
    """A contact with all that was merged into it, the ids of the memories that are linked to one
    of these, as a query, and the ids of others that name one. Raises NothingToForget."""
    contact = store.survivor(end_user, contact_id)
    if contact is None:
        raise NothingToForget(Reason("no_such_contact"))
    people = [contact, *end_user.contacts.all_merged_into([contact.id])]
    ids = [person.pk for person in people]
    links = Link.objects.of(end_user).standing().filter(contact__in=ids)
    linked = links.values_list("memory", flat=True)
    others = Memory.objects.of(end_user).exclude(pk__in=linked)
    naming = left_of(end_user, names_of(people), ids).named_in(others)
    return people, linked, set(naming)


@atomic()
def forget_memory(end_user: EndUser, memory_id: UUID, by: By = NOBODY) -> Forgotten:
    """Erases a memory with what was derived from it, and its words in the messages that it
    rests on. Raises NothingToForget."""
    held = _held(end_user)
    if not Memory.objects.of(held).filter(pk=memory_id).exists():
        raise NothingToForget(Reason("no_such_memory"))
    return _receipted(held, Receipt.What.MEMORIES, by, _erase(held, {memory_id}))


@atomic()
def forget_messages(end_user: EndUser, messages: MessageQuerySet, by: By = NOBODY) -> Forgotten:
    """Erases messages with the memories that rest on these alone; others lose the words that they
    quote of them. Raises NothingToForget."""
    held = _held(end_user)
    ids = list(messages.kept().values_list("pk", flat=True))
    gone = _erase(held, _resting_on(held, ids), message_ids=ids)
    return _receipted(held, Receipt.What.MESSAGES, by, gone)


def _resting_on(end_user: EndUser, message_ids: Collection[int]) -> set[UUID]:
    """The memories that rest on these messages alone."""
    ids = list(message_ids)
    resting = Memory.objects.of(end_user).facts().filter(source_message_ids__overlap=ids)
    alone = resting.filter(source_message_ids__contained_by=ids)
    return set(alone.values_list("pk", flat=True))


@atomic()
def forget_these(
    end_user: EndUser,
    memory_ids: Collection[UUID],
    contact_ids: Collection[UUID],
    message_ids: Collection[int],
    words: Iterable[str],
    names: Collection[str] = (),
    *,
    what: Receipt.What = Receipt.What.MEMORIES,
    by: By | None = None,
) -> Forgotten:
    """Erases what a user asked in a chat to forget: these rows, as far as they are there, and
    what is derived from them. ``words`` say what it was about: messages close by that repeat
    one go too; ``names`` go wherever they stand. An undo, which is no erasure that somebody asked
    for, names nobody as ``by`` and gets no receipt. Raises NothingToForget."""
    held = _held(end_user)
    gone = _erase(held, memory_ids, contact_ids, message_ids, words, names)
    # Whoever was hidden before has no row any more, and is gone by this all the same.
    gone = replace(gone, contacts=max(gone.contacts, len({*contact_ids})))
    return _receipted(held, what, by, gone) if by else gone


def _receipted(end_user: EndUser, what: Receipt.What, by: By, gone: Forgotten) -> Forgotten:
    """``gone`` with the id of its receipt, which is written here."""
    counts = {"contacts": gone.contacts, "memories": gone.memories, "messages": gone.messages}
    written = receipts.write(end_user, what, by, **counts, undecided=gone.unsure)
    return replace(gone, receipt=written)


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
    names: Collection[str] = (),
) -> Forgotten:
    """Deletes memories and contacts with all that is derived from them or quotes them, and
    those of ``names`` that nobody else bears from what is stored of others."""
    stated = same_statement.below(end_user, set(memory_ids))
    united = same_statement.above(end_user, stated)
    facts = Memory.objects.of(end_user).facts()
    count = facts.filter(pk__in=stated | united).count()
    quotes, told = redact_messages.told_by(facts.filter(pk__in=stated))
    ids = same_statement.of(end_user, memory_ids)
    memories = facts.filter(pk__in=ids)
    entities = set(EntityLink.objects.of(end_user).filter(memory__in=ids).values_list("entity"))
    people = Contact.objects.of(end_user).filter(links__memory__in=ids).values_list("pk", flat=True)
    related = Relation.objects.of(end_user).among(contact_ids).values_list("subject", "object")
    around = {*people, *(pk for pair in related for pk in pair)} - {*contact_ids}
    left = left_of(end_user, names, contact_ids)
    derived.unlearn(end_user, ids)
    _erase_changes(end_user, [*ids, *contact_ids])
    memories.delete()
    orphaned = Entity.objects.of(end_user).filter(pk__in=[pk for (pk,) in entities], links=None)
    told.update(orphaned.values_list("name", flat=True))
    orphaned.delete()
    Injected.objects.of(end_user).filter(memory_ids__overlap=list(ids)).delete()
    GatewayTurn.objects.of(end_user).forget_blocks()
    emptied = redact_messages.erase(end_user, quotes, message_ids, {*words, *told})
    erasure_requests.report_until(end_user, timezone.now() + erasure_requests.REPORTED_FOR)
    contacts = _erase_contacts(end_user, contact_ids)
    scrub_names(end_user, left)
    for work in (Batch, Consolidation):  # an error may quote what a model was given
        work.objects.of(end_user).exclude(error="").update(error="")
    ModelCall.objects.filter(end_user=end_user).exclude(answer="").update(answer="")
    for contact in Contact.objects.of(end_user).standing().filter(pk__in=around):
        store.save(contact, [])
    # Who is told of in other words than before has no vector now.
    queue.enqueue("embed", end_user.pk)
    return Forgotten(contacts, count, emptied)


def _erase_contacts(end_user: EndUser, ids: Collection[UUID]) -> int:
    """Deletes contacts with their profile memories and tasks."""
    if not ids:
        return 0
    profiles = [f"profile:{pk}" for pk in ids]
    Memory.objects.of(end_user).filter(content_hash__in=profiles).delete()
    gone = Contact.objects.of(end_user).filter(pk__in=ids, merged_into=None).count()
    _forget_focus(end_user, ids)
    Contact.objects.of(end_user).filter(pk__in=ids).delete()
    _erase_tasks({str(pk) for pk in ids})
    return gone


def _erase_changes(end_user: EndUser, ids: Collection[UUID]) -> None:
    """Deletes the audit rows about what is forgotten, and about what only these could bring back,
    and takes the words of all that out of others."""
    gone: set[str] = set()
    waiting = {str(pk) for pk in ids}
    while waiting:
        subject = waiting.pop()
        gone.add(subject)
        doomed = Change.objects.of(end_user).filter(subjects__contains=[subject])
        waiting = waiting.union(*map(only_in, doomed.filter(undone_at=None))) - gone
        doomed.delete()
    scrub(end_user, gone)


@all_users()
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


def _forget_focus(end_user: EndUser, contact_ids: Collection[UUID]) -> None:
    """Takes contacts out of what messages are known to be about."""
    rows = Message.objects.of(end_user).filter(understood__overlap=list(contact_ids))
    for row in rows.only("understood"):
        row.understood = [pk for pk in row.understood if pk not in contact_ids]
        row.save(update_fields=["understood"])


@atomic()
def decide(
    end_user: EndUser,
    erasure_id: UUID,
    *,
    redact: Collection[int] = (),
    keep: Collection[int] = (),
    forget: Collection[UUID] = (),
    keep_people: Collection[UUID] = (),
    by: By = NOBODY,
) -> Erasure:
    """Erases those of the undecided messages that mean the person after all, with what rests on
    nothing else, and those of the contacts that are the same person; the others stay, and
    nobody is asked again. While the person is only hidden, the messages go when they do.

    Raises NothingToForget where something is not among what is undecided.
    """
    held = EndUser.objects.lock(end_user.pk)
    erasure = Erasure.objects.of(end_user).filter(pk=erasure_id).first()
    if held is None or erasure is None:
        raise NothingToForget(Reason("no_such_forgetting"))
    messages, contacts = {*redact, *keep}, {*forget, *keep_people}
    if not messages <= {*erasure.unsure_message_ids} or not contacts <= {
        *erasure.unsure_contact_ids
    }:
        raise NothingToForget(Reason("not_undecided"))
    memories = _resting_on(held, redact)
    if erasure.state == Erasure.State.PENDING:
        erasure.message_ids = sorted({*erasure.message_ids, *redact})
        erasure.memory_ids = sorted({*erasure.memory_ids, *memories})
    elif redact:
        forget_these(held, memories, (), list(redact), (), what=Receipt.What.MESSAGES, by=by)
    for contact in forget:
        forget_contact(held, contact, by)
    erasure.unsure_message_ids = [pk for pk in erasure.unsure_message_ids if pk not in messages]
    erasure.unsure_contact_ids = [pk for pk in erasure.unsure_contact_ids if pk not in contacts]
    erasure.save(
        update_fields=["message_ids", "memory_ids", "unsure_message_ids", "unsure_contact_ids"]
    )
    return erasure
