"""What users asked in a chat to forget: hiding it, when it is due to be erased, and what to tell the
app.

Callers that write hold the end user's lock.
"""

from collections.abc import Collection, Iterable
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

# How long the context tells of an erasure that is done, and how many it tells of.
REPORTED_FOR = timedelta(days=1)
REPORTED = 5

State = Erasure.State


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
    from them, and deletes the ``contacts`` known only through them, until they are erased or
    brought back by an undo. None when there is nothing to do."""
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
        graph.let_go(end_user, ids, recorder)
        derived.unlearn(end_user, ids, recorder)
        if contacts:
            remove_contacts(end_user, contacts, recorder, forget_names=True)
        GatewayTurn.objects.of(end_user).forget_blocks()
    return change


def schedule(
    end_user: EndUser,
    change: Change | None,
    *,
    memory_ids: Collection[UUID],
    contact_ids: Collection[UUID] = (),
    message_ids: Collection[int] = (),
    words: Iterable[str] = (),
    names: Iterable[str] = (),
    unsure_messages: Collection[int] = (),
    unsure_contacts: Collection[UUID] = (),
    asked: Message | None = None,
    missing: Iterable[str] = (),
) -> Erasure:
    """Plans the erasure of what ``change`` has hidden, after the grace period. ``asked`` is the
    message that asked for it, and for what is ``missing``, of which nothing is kept."""
    now = timezone.now()
    erasure = _filed(
        end_user,
        asked,
        missing,
        change=change,
        memory_ids=sorted(memory_ids),
        contact_ids=sorted(contact_ids),
        message_ids=sorted(message_ids),
        words=sorted(set(words)),
        names=sorted(set(names)),
        unsure_message_ids=sorted({*unsure_messages} - {*message_ids}),
        unsure_contact_ids=sorted(unsure_contacts),
        requested_at=now,
        due_at=now + timedelta(days=settings.MIO_FORGET_GRACE_DAYS),
    )
    if erasure.due_at <= now:
        queue.enqueue("erase", str(erasure.id), end_user_id=end_user.pk)
    return erasure


def note(
    end_user: EndUser, asked: Message | None, missing: Iterable[str] = (), *, unclear: bool = False
) -> Erasure:
    """Files a request that hides nothing: nothing kept was meant, or it was ``unclear`` what is."""
    state, now = State.UNCLEAR if unclear else State.NOT_FOUND, timezone.now()
    times = {"requested_at": now, "due_at": now, "finished_at": now}
    return _filed(end_user, asked, missing, state=state, **times)


def _filed(
    end_user: EndUser, asked: Message | None, missing: Iterable[str], **columns: Any
) -> Erasure:
    report_until(end_user, columns["due_at"] + REPORTED_FOR)
    session = asked.session_id if asked else ""
    return Erasure.objects.create(
        end_user=end_user, missing=sorted(set(missing)), session_id=session, **columns
    )


def cancel(change: Change) -> None:
    """Calls off the erasure of what a change had hidden: it was undone."""
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
    """From now to ``moment`` the context looks for erasures to tell of."""
    if end_user.forgetting_until is None or end_user.forgetting_until < moment:
        end_user.forgetting_until = moment
        EndUser.objects.filter(pk=end_user.pk).update(forgetting_until=moment)


def reported(end_user: EndUser) -> list[Erasure]:
    """The pending erasures and those done lately, newest first. No statement for a user who has had
    nothing to forget lately."""
    now = timezone.now()
    if end_user.forgetting_until is None or end_user.forgetting_until < now:
        return []
    over = [State.ERASED, State.NOT_FOUND, State.UNCLEAR]
    done = Q(state__in=over, finished_at__gt=now - REPORTED_FOR)
    lately = Q(state=State.PENDING) | done
    rows = Erasure.objects.of(end_user).filter(lately).defer("words", "names")
    # What the app itself had erased was erased as it asked, and no user waits to be told.
    asked = rows.exclude(state=State.ERASED, finished_at=F("requested_at"))
    return list(asked[:REPORTED])
