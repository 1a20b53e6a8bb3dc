"""What users asked in a chat to forget: when it is due to be erased, and what to tell the app.

Callers that write hold the end user's lock.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Change, EndUser
from memories import queue
from memories.models import Erasure, Message
from memories.search import context_tokens

# How long the context tells of an erasure that is done, and how many it tells of.
REPORTED_FOR = timedelta(days=1)
REPORTED = 5

State = Erasure.State


@dataclass(slots=True)
class Unsure:
    """What may mean forgotten people, or be one of them: ids of messages and contacts."""

    messages: set[int] = field(default_factory=set)
    contacts: set[UUID] = field(default_factory=set)


def schedule(
    end_user: EndUser,
    change: Change | None,
    *,
    memory_ids: Collection[UUID],
    contact_ids: Collection[UUID] = (),
    message_ids: Collection[int] = (),
    words: Iterable[str] = (),
    names: Iterable[str] = (),
    unsure: Unsure | None = None,
    asked: Message | None = None,
    missing: Iterable[str] = (),
) -> Erasure:
    """Plans the erasure of what ``change`` has hidden, after the grace period of the settings
    or, where that is none, by the next worker. ``asked`` is the message that asked for it, for
    what is ``missing`` too, of which nothing is kept."""
    unsure = unsure or Unsure()
    now = timezone.now()
    erasure = Erasure.objects.create(
        end_user=end_user,
        change=change,
        memory_ids=sorted(memory_ids),
        contact_ids=sorted(contact_ids),
        message_ids=sorted(message_ids),
        words=sorted(set(words)),
        names=sorted(set(names)),
        missing=sorted(set(missing)),
        unsure_message_ids=sorted(set(unsure.messages) - {*message_ids}),
        unsure_contact_ids=sorted(unsure.contacts),
        session_id=asked.session_id if asked else "",
        requested_at=now,
        due_at=now + timedelta(days=settings.MIO_FORGET_GRACE_DAYS),
    )
    report_until(end_user, erasure.due_at + REPORTED_FOR)
    if erasure.due_at <= now:
        queue.enqueue("erase", str(erasure.id), end_user_id=end_user.pk)
    return erasure


def note(
    end_user: EndUser, asked: Message | None, missing: Iterable[str] = (), *, unclear: bool = False
) -> Erasure:
    """Files a request that hides nothing, to be told of like any other: nothing that is kept was
    meant, or it was ``unclear`` what is."""
    now = timezone.now()
    report_until(end_user, now + REPORTED_FOR)
    return Erasure.objects.create(
        end_user=end_user,
        state=State.UNCLEAR if unclear else State.NOT_FOUND,
        missing=sorted(set(missing)),
        session_id=asked.session_id if asked else "",
        requested_at=now,
        due_at=now,
        finished_at=now,
    )


def cancel(change: Change) -> None:
    """Calls off the erasure of what a change had hidden: it was undone."""
    hidden = context_tokens.hidden(change.end_user_id)
    Erasure.objects.of(change.end_user_id).filter(change=change, state=State.PENDING).update(
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
    """The pending erasures and those done lately, newest first. No statement for a user who
    has had nothing to forget lately, at most one for any."""
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
