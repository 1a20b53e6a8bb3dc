"""Erasure, the only true deletion: of what the end user or the app asks to erase; of what users
asked in a chat to forget, after its grace period; and previews of what an erasure would delete."""

import logging
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from uuid import UUID

from django.contrib.postgres.aggregates import BoolAnd
from django.db import IntegrityError, InterfaceError, OperationalError
from django.db.models import Func, Q
from django.utils import timezone
from django_q.models import Failure, OrmQ, Success

from accounts import placement
from accounts.cells import atomic, connection
from accounts.models import ApiKey, Change, EndUser
from accounts.reasons import CodedError, Reason, fault
from accounts.scope import all_users
from contacts import store
from contacts.models import Contact, Relation
from memories import queue
from memories.corrections import derived, erasure_requests
from memories.corrections.forgotten_names import names_of, unshared_names
from memories.erasure import name_hashes, receipts, redact_messages, same_statement
from memories.erasure.messages_about import messages_about
from memories.erasure.receipts import NOBODY, By, Forgotten
from memories.erasure.scrub import restorable_only_by, scrub, scrub_names
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
    MemoryQuerySet,
    Message,
    MessageQuerySet,
    ModelCall,
    Receipt,
)
from memories.models.memory import resting_on

log = logging.getLogger(__name__)

# How often the erasure of an end user is tried while others write.
_TRIES = 5
# At most so many erasures are carried out in one run; the next run continues.
MOST = 500
USER = "user"  # who asked in a chat


class NothingToForget(CodedError):
    """There is no such contact or memory of this end user."""

    api_code = "not_found"


class NotUndecided(NothingToForget):
    """The end user has no such erasure, or it left no such question."""

    api_code = "unknown_forgetting"


def forget_everything(end_user: EndUser, by: By = NOBODY) -> Forgotten:
    """Erases an end user: messages, memories, links, vectors, contacts, changes, work, calls.
    Raises IntegrityError if others wrote rows of the user faster than they could be erased."""
    for _ in range(_TRIES - 1):
        with suppress(IntegrityError):
            return _erase_user(end_user, by)
    return _erase_user(end_user, by)


@atomic()
def _erase_user(end_user: EndUser, by: By) -> Forgotten:
    """Tries once to erase an end user. Raises IntegrityError if somebody wrote a row meanwhile:
    writers lock the row first and the user on commit, so a stronger lock of the user here would
    deadlock."""
    user = EndUser.objects.lock(end_user.pk)
    if user is None:
        return Forgotten()
    erased = Forgotten(
        contacts=Contact.objects.of(user).count(),
        memories=Memory.objects.of(user).count(),
        messages=Message.objects.of(user).count(),
    )
    erased = receipts.write(user, Receipt.What.USER, by, erased)
    people = Contact.objects.of(user).values_list("pk", flat=True)
    _erase_tasks({str(user.pk), *map(str, people)})
    with all_users():
        ApiKey.objects.filter(app=user.app_id, external_id=user.external_id).delete()
    with placement.forgetting(user):
        EndUser.objects.filter(pk=user.pk).delete()
        connection.check_constraints()
    return erased


@atomic()
def forget_contact(end_user: EndUser, contact_id: UUID, by: By = NOBODY) -> Forgotten:
    """Erases a contact with every memory and message about it, its names wherever they occur, and
    what others' profiles learnt from those memories. The report lists messages and contacts that
    may refer to the same person. Raises NothingToForget."""
    user = _locked(end_user)
    people, memories = about(user, contact_id)
    ids, names = [person.pk for person in people], names_of(people)
    messages, now = messages_about(user, people), timezone.now()
    report = Erasure.objects.create(
        end_user=user,
        state=Erasure.State.ERASED,
        memory_ids=sorted(memories),
        contact_ids=sorted(ids),
        message_ids=sorted(messages.sure),
        unsure_message_ids=messages.unsure,
        unsure_contact_ids=messages.alike,
        name_hashes=name_hashes.hashes_of(user, unshared_names(user, names, ids).all),
        requested_at=now,
        due_at=now,
        finished_at=now,
    )
    erased = _erase(user, memories, ids, messages.sure, names, names)
    erased = replace(erased, report=report.pk, unsure=len(messages.unsure) + len(messages.alike))
    return receipts.write(user, Receipt.What.PERSON, replace(by, id=report.pk), erased)


def about(end_user: EndUser, contact_id: UUID) -> tuple[list[Contact], set[UUID]]:
    """Returns a contact with all that were merged into it, and the ids of memories that are linked
    to one of these or name one. Raises NothingToForget."""
    contact = store.survivor(end_user, contact_id)
    if contact is None:
        raise NothingToForget(Reason("no_such_contact"))
    people = [contact, *end_user.contacts.all_merged_into([contact.id])]
    ids = [person.pk for person in people]
    links = Link.objects.of(end_user).standing().filter(contact__in=ids)
    linked = set(links.values_list("memory", flat=True))
    unlinked = Memory.objects.of(end_user).exclude(pk__in=links.values("memory"))
    naming = unshared_names(end_user, names_of(people), ids).named_in(unlinked)
    return people, linked.union(naming)


@atomic()
def forget_memory(end_user: EndUser, memory_id: UUID, by: By = NOBODY) -> Forgotten:
    """Erases a memory, what was derived from it, and its words in messages. Raises
    NothingToForget."""
    user = _locked(end_user)
    if not Memory.objects.of(user).filter(pk=memory_id).exists():
        raise NothingToForget(Reason("no_such_memory"))
    return receipts.write(user, Receipt.What.MEMORIES, by, _erase(user, {memory_id}))


@atomic()
def forget_messages(end_user: EndUser, messages: MessageQuerySet, by: By = NOBODY) -> Forgotten:
    """Erases messages with the memories that rest on these alone, and what other memories quote
    from them. Raises NothingToForget."""
    user = _locked(end_user)
    ids = list(messages.not_erased().values_list("pk", flat=True))
    erased = _erase(user, _resting_on(user, ids), message_ids=ids)
    return receipts.write(user, Receipt.What.MESSAGES, by, erased)


def _resting_on(end_user: EndUser, message_ids: Collection[int]) -> set[UUID]:
    """Returns the ids of the facts that rest on these messages alone."""
    alone = Memory.objects.of(end_user).facts().filter(resting_on(message_ids))
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
    """Erases these rows with what is derived from them, messages close by that repeat one of
    ``words``, and ``names`` wherever they occur. Without ``by`` (an import is taken back) no
    receipt is written: nobody asked to erase. Raises NothingToForget."""
    user = _locked(end_user)
    erased = _erase(user, memory_ids, contact_ids, message_ids, words, names)
    # Contacts that were hidden before have no row any more, but count as erased.
    erased = replace(erased, contacts=max(erased.contacts, len({*contact_ids})))
    return receipts.write(user, what, by, erased) if by else erased


def _locked(end_user: EndUser) -> EndUser:
    """Locks and returns the end user. Raises NothingToForget if already erased."""
    user = EndUser.objects.lock(end_user.pk)
    if user is None:
        raise NothingToForget(Reason("user_forgotten_already"))
    return user


def _erase(
    end_user: EndUser,
    memory_ids: Collection[UUID],
    contact_ids: Collection[UUID] = (),
    message_ids: Collection[int] = (),
    words: Iterable[str] = (),
    names: Collection[str] = (),
) -> Forgotten:
    """Deletes these rows, what is derived from them or quotes them, and unshared ``names``."""
    same_ids = same_statement.with_parts(end_user, set(memory_ids))
    united = same_statement.merged_targets(end_user, same_ids)
    facts = Memory.objects.of(end_user).facts()
    count = facts.filter(pk__in=same_ids | united).count()
    quotes, values = redact_messages.quotes_and_values(facts.filter(pk__in=same_ids))
    ids = same_statement.all_stating_the_same(end_user, memory_ids)
    links = EntityLink.objects.of(end_user).filter(memory__in=ids)
    entities = set(links.values_list("entity", flat=True))
    people = Contact.objects.of(end_user).filter(links__memory__in=ids).values_list("pk", flat=True)
    related = Relation.objects.of(end_user).among(contact_ids).values_list("subject", "object")
    neighbours = {*people, *(pk for pair in related for pk in pair)} - {*contact_ids}
    unshared = unshared_names(end_user, names, contact_ids)
    derived.unlearn(end_user, ids)
    _erase_changes(end_user, [*ids, *contact_ids])
    facts.filter(pk__in=ids).delete()
    orphaned = Entity.objects.of(end_user).filter(pk__in=entities, links=None)
    values.update(orphaned.values_list("name", flat=True))
    orphaned.delete()
    Injected.objects.of(end_user).filter(memory_ids__overlap=list(ids)).delete()
    GatewayTurn.objects.of(end_user).forget_blocks()
    emptied = redact_messages.erase(end_user, quotes, message_ids, {*words, *values})
    erasure_requests.report_until(end_user, timezone.now() + erasure_requests.REPORTED_FOR)
    contacts = _erase_contacts(end_user, contact_ids) if contact_ids else 0
    scrub_names(end_user, unshared)
    for work in (Batch, Consolidation):  # an error may quote what a model was given
        work.objects.of(end_user).exclude(error="").update(error="")
    ModelCall.objects.filter(end_user=end_user).exclude(answer="").update(answer="")
    for contact in Contact.objects.of(end_user).standing().filter(pk__in=neighbours):
        store.save(contact, [])
    # Profile memories whose text changed have no vector now.
    queue.enqueue("embed", end_user.pk)
    return Forgotten(contacts, count, emptied)


def _erase_contacts(end_user: EndUser, ids: Collection[UUID]) -> int:
    """Deletes contacts with their profile memories and tasks. Returns how many were not merged."""
    profiles = [f"profile:{pk}" for pk in ids]
    Memory.objects.of(end_user).filter(content_hash__in=profiles).delete()
    for row in Message.objects.of(end_user).filter(understood__overlap=[*ids]).only("understood"):
        row.understood = [pk for pk in row.understood if pk not in ids]
        row.save(update_fields=["understood"])
    people = Contact.objects.of(end_user).filter(pk__in=ids)
    count = people.filter(merged_into=None).count()
    people.delete()
    _erase_tasks({str(pk) for pk in ids})
    return count


def _erase_changes(end_user: EndUser, ids: Collection[UUID]) -> None:
    """Deletes the changes about these ids, and about what only such changes could restore."""
    erased_ids: set[str] = set()
    waiting = {str(pk) for pk in ids}
    while waiting:
        subject = waiting.pop()
        erased_ids.add(subject)
        changes = Change.objects.of(end_user).filter(subjects__contains=[subject])
        unrestorable = map(restorable_only_by, changes.filter(undone_at=None))
        waiting = waiting.union(*unrestorable) - erased_ids
        changes.delete()
    scrub(end_user, erased_ids)


@all_users()
def _erase_tasks(markers: Collection[str]) -> None:
    """Deletes the tasks about these ids from the queue and its logs."""
    for model in (Success, Failure):
        names = model.objects.values_list("pk", "name").iterator()
        task_ids = [pk for pk, name in names if name.partition(" ")[2] in markers]
        model.objects.filter(pk__in=task_ids).delete()
    for task in OrmQ.objects.iterator():
        if task.name().partition(" ")[2] in markers:
            task.delete()


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
    """Erases undecided messages and contacts that are about the person, and keeps the others. While
    the person is only hidden, messages are erased with the person. Raises NotUndecided."""
    user = EndUser.objects.lock(end_user.pk)
    erasure = Erasure.objects.of(end_user).filter(pk=erasure_id).first()
    if user is None or erasure is None:
        raise NotUndecided(Reason("no_such_forgetting"))
    messages, contacts = {*redact, *keep}, {*forget, *keep_people}
    if not messages <= {*erasure.unsure_message_ids} or not contacts <= {
        *erasure.unsure_contact_ids
    }:
        raise NotUndecided(Reason("not_undecided"))
    memories = _resting_on(user, redact)
    if erasure.state == Erasure.State.PENDING:
        erasure.message_ids = sorted({*erasure.message_ids, *redact})
        erasure.memory_ids = sorted({*erasure.memory_ids, *memories})
    elif redact:
        forget_these(user, memories, (), list(redact), (), what=Receipt.What.MESSAGES, by=by)
    for contact in forget:
        forget_contact(user, contact, by)
    erasure.unsure_message_ids = [pk for pk in erasure.unsure_message_ids if pk not in messages]
    erasure.unsure_contact_ids = [pk for pk in erasure.unsure_contact_ids if pk not in contacts]
    erasure.save(
        update_fields=["message_ids", "memory_ids", "unsure_message_ids", "unsure_contact_ids"]
    )
    return erasure


def erase_due() -> dict[str, int]:
    """Erases everything that is due, each erasure in its own transaction, and clears ``missing`` of
    requests that were reported. Returns how many erasures were carried out or failed, and how many
    rows were erased."""
    effect: Counter[str] = Counter(erasures=0, contacts=0, memories=0, messages=0)
    old = Erasure.objects.filter(requested_at__lt=timezone.now() - erasure_requests.REPORTED_FOR)
    old.exclude(missing=[]).update(missing=[])
    due = Erasure.objects.filter(state=Erasure.State.PENDING, due_at__lte=timezone.now())
    for pk in due.order_by("due_at").values_list("pk", flat=True)[:MOST]:
        try:
            gone = carry_out(pk)
        except (InterfaceError, OperationalError):
            raise
        except Exception as error:  # noqa: BLE001 the next run tries again; the others go now
            log.warning("erasure %s failed: %s", pk, fault(error))
            effect["failed"] += 1
            continue
        if gone is not None:
            effect.update(
                erasures=1, contacts=gone.contacts, memories=gone.memories, messages=gone.messages
            )
    return dict(effect)


@atomic()
def carry_out(erasure_id: UUID, done_by: str = same_statement.ACTOR) -> Forgotten | None:
    """Carries out a requested erasure. Returns None if it was done or cancelled before."""
    requested = Erasure.objects.filter(pk=erasure_id).first()
    end_user = EndUser.objects.lock(requested.end_user_id) if requested else None
    pending = Erasure.objects.filter(pk=erasure_id, state=Erasure.State.PENDING)
    erasure = pending.first()
    if end_user is None or erasure is None:
        return None
    names = unshared_names(end_user, erasure.names, erasure.contact_ids)
    erased = forget_these(
        end_user,
        erasure.memory_ids,
        erasure.contact_ids,
        erasure.message_ids,
        erasure.words,
        erasure.names,
        what=Receipt.What.REQUEST,
        by=By(done_by, USER, erasure.requested_at, erasure.pk),
    )
    now = timezone.now()
    pending.update(
        state=Erasure.State.ERASED,
        finished_at=now,
        words=[],
        missing=[],
        names=[],
        name_hashes=name_hashes.hashes_of(end_user, names.all),
        change=None,
    )
    log.info("erasure %s: %s memories, %s messages", erasure.pk, erased.memories, erased.messages)
    return erased


@dataclass(frozen=True)
class Preview:
    """What an erasure would delete: a number of contacts, and the memories that match ``gone``."""

    end_user: EndUser
    contacts: int
    gone: Q

    @property
    def rows(self) -> MemoryQuerySet:
        """The memories that would be deleted."""
        return Memory.objects.of(self.end_user).filter(self.gone).defer("tokens")

    @cached_property
    def memories(self) -> int:
        return self.rows.count()

    @cached_property
    def messages(self) -> int:
        """How many messages would be emptied at least: those on which only these memories rest."""
        resting = Memory.objects.of(self.end_user).order_by()
        message_ids = resting.values(said=Func("source_message_ids", function="unnest"))
        alone = message_ids.alias(alone=BoolAnd(self.gone)).filter(alone=True)
        return Message.objects.of(self.end_user).not_erased().filter(pk__in=alone).count()


def preview_contact(end_user: EndUser, contact_id: UUID) -> Preview:
    """Returns what ``forget_contact`` would erase. Raises NothingToForget."""
    people, memory_ids = about(end_user, contact_id)
    standing = sum(person.merged_into_id is None for person in people)
    return preview_memories(end_user, memory_ids, standing)


def preview_memories(end_user: EndUser, memory_ids: Collection[UUID], contacts: int = 0) -> Preview:
    """Returns what ``forget_these`` would erase of these memories, with so many contacts."""
    same_ids = same_statement.with_parts(end_user, set(memory_ids))
    erased = same_ids | same_statement.merged_targets(end_user, same_ids)
    return Preview(end_user, contacts, Q(pk__in=erased, kind=Memory.Kind.FACT))
