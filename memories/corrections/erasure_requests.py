"""Requests that users made in a chat to forget something: hiding it, when it is due to be erased,
and what the app is told. Callers that write hold the end user's lock."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import recording
from accounts.models import Change, EndUser
from contacts.models import Contact
from memories import graph, queue
from memories.corrections import derived
from memories.corrections.remove_contacts import remove_contacts
from memories.models import Erasure, GatewayTurn, Memory, Message
from memories.search import context_tokens

# How long the context reports an erasure that is done, and how many it reports.
REPORTED_FOR = timedelta(days=1)
REPORTED = 5

State = Erasure.State


@dataclass(slots=True)
class ForgetScope:
    """What one message asks to forget. ``missing`` is what it named and nothing stored matched;
    ``whole``: contacts even if more is known about them."""

    memories: dict[UUID, Memory] = field(default_factory=dict)
    contacts: dict[UUID, Contact] = field(default_factory=dict)
    messages: set[int] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    unsure_messages: set[int] = field(default_factory=set)
    unsure_contacts: set[UUID] = field(default_factory=set)
    unclear: bool = False
    whole: bool = False


@atomic()
def hide(
    end_user: EndUser,
    memories: Iterable[Memory],
    *,
    actor: str,
    why: str = "",
    contacts: Iterable[Contact] = (),
) -> Change | None:
    """Archives memories that an end user asked in a chat to forget, removes what profiles learnt
    from them, and deletes the ``contacts`` known only through them, until they are erased or an
    undo restores them. Returns None if there is nothing to do."""
    memories = [memory for memory in memories if memory.status != Memory.Status.ARCHIVED]
    contacts = list(contacts)
    if not memories and not contacts:
        return None
    ids = [memory.id for memory in memories]
    subjects = [*ids, *(contact.id for contact in contacts)]
    with recording(end_user, "hide", actor, why, subjects) as (recorder, change):
        recorder.watch(contacts)
        recorder.watch(memories)
        for memory in memories:
            memory.status = Memory.Status.ARCHIVED
            memory.save(update_fields=["status", "updated_at"])
        graph.remove_edges_of(end_user, ids, recorder)
        derived.unlearn(end_user, ids, recorder)
        if contacts:
            remove_contacts(end_user, contacts, recorder, forget_names=True)
        GatewayTurn.objects.of(end_user).forget_blocks()
    return change


def schedule(
    end_user: EndUser,
    change: Change | None,
    scope: ForgetScope,
    *,
    merged: Collection[UUID] = (),
    asked: Message | None = None,
) -> Erasure:
    """Plans the erasure, after the grace period, of the scope, which ``change`` has hidden, and of
    the ``merged`` contacts. ``asked`` is the message with the request."""
    now = timezone.now()
    erasure = _create_erasure(
        end_user,
        asked,
        scope.missing,
        change=change,
        memory_ids=sorted(scope.memories),
        contact_ids=sorted([*scope.contacts, *merged]),
        message_ids=sorted(scope.messages),
        words=sorted(scope.words),
        names=sorted(scope.names),
        unsure_message_ids=sorted(scope.unsure_messages - scope.messages),
        unsure_contact_ids=sorted(scope.unsure_contacts),
        requested_at=now,
        due_at=now + timedelta(days=settings.MIO_FORGET_GRACE_DAYS),
    )
    if erasure.due_at <= now:
        queue.enqueue("erase", str(erasure.id), end_user_id=end_user.pk)
    return erasure


def note(
    end_user: EndUser, asked: Message | None, missing: Iterable[str] = (), *, unclear: bool = False
) -> Erasure:
    """Stores a request that hides nothing: nothing stored matched, or it was ``unclear``."""
    state, now = State.UNCLEAR if unclear else State.NOT_FOUND, timezone.now()
    times = {"requested_at": now, "due_at": now, "finished_at": now}
    return _create_erasure(end_user, asked, missing, state=state, **times)


def _create_erasure(
    end_user: EndUser, request: Message | None, missing: Iterable[str], **columns: Any
) -> Erasure:
    """Stores a request, which the context reports until a day after it is due."""
    report_until(end_user, columns["due_at"] + REPORTED_FOR)
    session = request.session_id if request else ""
    return Erasure.objects.create(
        end_user=end_user, missing=sorted(set(missing)), session_id=session, **columns
    )


def cancel(change: Change) -> None:
    """Cancels the erasure of what a change had hidden, because that was undone."""
    pending = Erasure.objects.of(change.end_user_id).filter(change=change, state=State.PENDING)
    if not pending.exists():
        return
    hidden = context_tokens.hidden(change.end_user_id)
    pending.update(
        state=State.CANCELLED,
        finished_at=timezone.now(),
        words=[],
        names=[],
        unsure_message_ids=[],
        unsure_contact_ids=[],
    )
    shown = hidden - context_tokens.hidden(change.end_user_id)
    context_tokens.retokenise_beside(change.end_user_id, shown)


def report_until(end_user: EndUser, moment: datetime) -> None:
    """Makes the context look for erasures to report until ``moment``."""
    if end_user.forgetting_until is None or end_user.forgetting_until < moment:
        end_user.forgetting_until = moment
        EndUser.objects.filter(pk=end_user.pk).update(forgetting_until=moment)


def reported(end_user: EndUser) -> list[Erasure]:
    """Returns the pending erasures and those finished lately, newest first. Sends no statement for
    a user without recent requests."""
    now = timezone.now()
    if end_user.forgetting_until is None or end_user.forgetting_until < now:
        return []
    finished = [State.ERASED, State.NOT_FOUND, State.UNCLEAR]
    done = Q(state__in=finished, finished_at__gt=now - REPORTED_FOR)
    recent = Q(state=State.PENDING) | done
    rows = Erasure.objects.of(end_user).filter(recent).defer("words", "names")
    # An erasure by the app itself was done at once: no user waits for a report.
    requested = rows.exclude(state=State.ERASED, finished_at=F("requested_at"))
    return list(requested[:REPORTED])
