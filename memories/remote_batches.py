"""What was handed to a model server for a day: whether it still stands, and taking it back.

The callers of the withdrawing functions hold the end user's lock.
"""

import hashlib
import json

from django.db.models import F
from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import Reason
from contacts.models import Contact
from memories.models import Batch, Message, RemoteBatch, Work

FORGOTTEN = Reason("held_forgotten")


def fingerprint(batch: Batch, from_seq: int) -> str:
    """A hash of what the messages from ``from_seq`` to the end of the batch say."""
    rows = Message.objects.of(batch.end_user_id).filter(seq__range=(from_seq, batch.last_seq))
    said = list(rows.order_by("seq").values_list("seq", "role", "content"))
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def stands(batch: Batch) -> bool:
    """Whether every message that was sent says what it said, and every person is there."""
    shown = batch.result.get("shown", [])
    if Contact.objects.of(batch.end_user_id).filter(pk__in=shown).count() < len(shown):
        return False
    return batch.result.get("said") == fingerprint(batch, batch.result.get("from_seq", 0))


def withdraw(end_user: EndUser) -> int:
    """Calls off every remote batch that was given words of the end user; returns how many.

    What it holds of other users goes back to the pipeline; the server is told, and its files
    are deleted, by the next poll.
    """
    theirs = RemoteBatch.objects.filter(state=RemoteBatch.State.OPEN, batches__end_user=end_user)
    return call_off(list(theirs.values_list("pk", flat=True)), FORGOTTEN)


def withdraw_changed(end_user: EndUser) -> int:
    """The same, where something that the user's batch sent was changed or erased since."""
    sent = Batch.objects.of(end_user).filter(state=Work.State.SUBMITTED)
    return 0 if all(stands(batch) for batch in sent) else withdraw(end_user)


@atomic()
def call_off(remote_ids: list[int], why: Reason) -> int:
    """Cancels open remote batches here and gives their requests back, untried."""
    open_ = RemoteBatch.objects.filter(pk__in=remote_ids, state=RemoteBatch.State.OPEN)
    ids = list(open_.order_by("pk").select_for_update().values_list("pk", flat=True))
    Batch.objects.filter(remote__in=ids, state=Work.State.SUBMITTED).update(
        state=Work.State.PENDING, attempts=F("attempts") - 1, result={}
    )
    return RemoteBatch.objects.filter(pk__in=ids).update(
        state=RemoteBatch.State.CANCELLED, error=why.stored, checked_at=timezone.now()
    )
