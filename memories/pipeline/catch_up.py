"""Running everything that is due for an end user to its end, together with other workers."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet, Sum
from django.utils import timezone

from accounts.models import EndUser
from memories.models import Batch, Consolidation, Work
from memories.pipeline import run

# Between looks at what another worker is doing.
POLL = 0.2


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """``extracted`` and ``quarantined`` count messages and batches, ``consolidated`` runs."""

    pending: int
    extracted: int
    consolidated: int
    quarantined: int


class OutOfTime(Exception):
    """Work is left after the time that was given."""


class Postponed(Exception):
    """Work is left that waits for another try in ``seconds``."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"The model failed; the next try is in {seconds} s.")
        self.seconds = seconds


def catch_up(
    end_user_id: int,
    *,
    until: float = float("inf"),
    progress: Callable[[int], object] = lambda _pending: None,
) -> CaughtUp:
    """Extracts and consolidates until nothing is left, waiting for what others have claimed.

    ``progress`` is told how many messages are pending, after each step. ``until`` is a
    ``time.monotonic()``. Raises OutOfTime and Postponed.
    """
    started = timezone.now()
    while True:
        while run.extract_next(end_user_id, everything=True):
            progress(pending(end_user_id))
            _check(until, end_user_id)
        run.consolidate_user(end_user_id)
        if _others_work(end_user_id):
            time.sleep(POLL)
        elif not _unclaimed(end_user_id):
            break
        progress(pending(end_user_id))
        _check(until, end_user_id)
    if wait := _next_try(end_user_id):
        raise Postponed(wait)
    return _summary(end_user_id, started)


def pending(end_user_id: int) -> int:
    """Messages received and not extracted yet; those in quarantine wait for an operator."""
    return _unclaimed(end_user_id) + _messages(_open(end_user_id))


def _check(until: float, end_user_id: int) -> None:
    if time.monotonic() > until:
        left = pending(end_user_id)
        raise OutOfTime(f"{left} messages are still pending; they go on in the background.")


def _open(end_user_id: int) -> QuerySet[Batch]:
    states = (
        Work.State.PENDING,
        Work.State.RUNNING,
        Work.State.SUBMITTED,
        Work.State.FAILED,
    )
    return Batch.objects.of(end_user_id).filter(state__in=states)


def _messages(batches: QuerySet[Batch]) -> int:
    return batches.aggregate(n=Sum(F("last_seq") - F("first_seq") + 1))["n"] or 0


def _unclaimed(end_user_id: int) -> int:
    waiting = EndUser.objects.filter(pk=end_user_id)
    return waiting.values_list(F("message_seq") - F("extracted_seq"), flat=True).first() or 0


def _others_work(end_user_id: int) -> bool:
    return any(
        work.objects.of(end_user_id)
        .filter(state__in=(Work.State.RUNNING, Work.State.SUBMITTED))
        .exists()
        for work in (Batch, Consolidation)
    )


def _next_try(end_user_id: int) -> int:
    """Seconds until the first failed work is tried again, 0 when there is none."""
    now = timezone.now()
    due = [
        at
        for work in (Batch, Consolidation)
        for at in work.objects.of(end_user_id)
        .filter(state=Work.State.FAILED)
        .values_list("retry_at", flat=True)
        if at is not None
    ]
    return max(1, round((min(due) - now).total_seconds())) if due else 0


def _summary(end_user_id: int, started: datetime) -> CaughtUp:
    batches = Batch.objects.of(end_user_id)
    done = {"state": Work.State.DONE, "finished_at__gte": started}
    return CaughtUp(
        pending=pending(end_user_id),
        extracted=_messages(batches.filter(**done)),
        consolidated=Consolidation.objects.of(end_user_id).filter(**done).count(),
        quarantined=batches.filter(state=Work.State.QUARANTINED).count(),
    )
