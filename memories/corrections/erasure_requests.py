"""What users asked in a chat to forget: when it is due to be erased, and what to tell the app.

Callers that write hold the end user's lock.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from accounts.models import Change, EndUser
from contacts.matching.mentions import entries_of, find_mentions
from contacts.models import Contact
from memories import queue
from memories.models import Erasure, Memory, Message
from memories.search import context_tokens

# How long the context tells of an erasure that is done, and how many it tells of.
REPORTED_FOR = timedelta(days=1)
REPORTED = 5

State = Erasure.State


def schedule(
    end_user: EndUser,
    change: Change | None,
    *,
    memory_ids: Collection[UUID],
    contact_ids: Collection[UUID] = (),
    message_ids: Collection[int] = (),
    words: Iterable[str] = (),
    asked: Message | None = None,
) -> Erasure:
    """Plans the erasure of what ``change`` has hidden, after the grace period of the settings
    or, where that is none, by the next worker. ``asked`` is the message that asked for it."""
    now = timezone.now()
    erasure = Erasure.objects.create(
        end_user=end_user,
        change=change,
        memory_ids=sorted(memory_ids),
        contact_ids=sorted(contact_ids),
        message_ids=sorted(message_ids),
        words=sorted(set(words)),
        session_id=asked.session_id if asked else "",
        requested_at=now,
        due_at=now + timedelta(days=settings.MIO_FORGET_GRACE_DAYS),
    )
    report_until(end_user, erasure.due_at + REPORTED_FOR)
    if erasure.due_at <= now:
        queue.enqueue("erase", str(erasure.id), end_user_id=end_user.pk)
    return erasure


def cancel(change: Change) -> None:
    """Calls off the erasure of what a change had hidden: it was undone."""
    hidden = context_tokens.hidden(change.end_user_id)
    Erasure.objects.of(change.end_user_id).filter(change=change, state=State.PENDING).update(
        state=State.CANCELLED, finished_at=timezone.now(), words=[]
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
    lately = Q(state=State.PENDING) | Q(state=State.ERASED, finished_at__gt=now - REPORTED_FOR)
    return list(Erasure.objects.of(end_user).filter(lately).defer("words")[:REPORTED])


def naming(model: type[Memory] | type[Message], end_user: EndUser, contact: Contact) -> list[Any]:
    """The ids of the user's rows whose content names the contact."""
    names = Q()
    for name in (contact.name, *contact.aliases):
        names |= Q(content__icontains=name)
    entries = entries_of([contact.person])
    rows = model.objects.of(end_user).filter(names).values_list("pk", "content")
    return [pk for pk, content in rows.iterator() if find_mentions(content, entries)]
