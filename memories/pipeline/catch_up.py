"""Finishes the work of an end user that exists now, together with other workers.

What arrives or is corrected meanwhile is left out, so that it ends however busy the user is.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import F, Max, Q, QuerySet, Sum, Value
from django.utils import timezone

from accounts.models import EndUser
from memories.models import Batch, Consolidation, Link, ProcessJob, Work
from memories.pipeline import consolidate, read_facts, run

# Seconds between checks of what other workers have done.
POLL = 0.2


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """Counts: messages pending and extracted, runs of consolidation, batches in quarantine."""

    pending: int
    extracted: int
    consolidated: int
    quarantined: int


class Postponed(Exception):
    """Some work waits ``seconds`` for another try."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"The model failed; the next try is in {seconds} s.")
        self.seconds = seconds


def catch_up(
    end_user_id: int, progress: Callable[[int], object] = lambda _pending: None
) -> CaughtUp:
    """Extracts and consolidates what has arrived by now, and waits for what others have claimed.
    ``progress`` is called with the number of pending messages after each step. Raises Postponed."""
    started = timezone.now()
    for step in steps(end_user_id):
        if not step():
            time.sleep(POLL)
        progress(pending(end_user_id))
    return outcome(end_user_id, started)


def steps(end_user_id: int) -> Iterator[Callable[[], object]]:
    """Yields the steps left for the messages received before the first step. Each extracts a batch,
    reads a memory or consolidates contacts, and returns false if there was nothing to do for it."""
    received = EndUser.objects.filter(pk=end_user_id).values_list("message_seq", flat=True)
    last_seq = received.first() or 0
    while _unread(end_user_id, last_seq):
        yield partial(run.extract_next, end_user_id, everything=True)
    for memory in read_facts.waiting(end_user_id):
        yield partial(read_facts.read, end_user_id, memory)
    started = timezone.now()
    newest_link = _newest_link_id(end_user_id)
    run.begin_consolidation(end_user_id)
    while due := _unconsolidated(end_user_id, newest_link, started):
        for contact_ids in consolidate.in_groups(sorted(due)):
            yield partial(run.consolidate_contacts, end_user_id, contact_ids)


def outcome(end_user_id: int, started: datetime) -> CaughtUp:
    """Returns counts of work done since ``started``. Raises Postponed if work waits for a try."""
    if wait := _next_try(end_user_id):
        raise Postponed(wait)
    return _summary(end_user_id, started)


def pending(end_user_id: int, last: int | None = None) -> int:
    """Returns how many messages received (up to ``last``) are not extracted yet, except those in
    quarantine, which wait for an operator."""
    received = F("message_seq") if last is None else Value(last)
    users = EndUser.objects.filter(pk=end_user_id)
    unclaimed = users.values_list(received - F("extracted_seq"), flat=True).first() or 0
    return max(0, unclaimed) + _message_count(
        _batches(end_user_id, last).filter(state__in=Work.UNDER_WAY)
    )


def begin(end_user_id: int) -> ProcessJob:
    """Creates a job: all messages received so far are to be extracted, linked and consolidated."""
    received = EndUser.objects.values_list("message_seq", flat=True).get(pk=end_user_id)
    return ProcessJob.objects.create(end_user_id=end_user_id, up_to_seq=received)


def follow_all(end_user_id: int) -> None:
    """Stores which jobs of an end user are done."""
    with suppress(EndUser.DoesNotExist):  # erased meanwhile
        for job in ProcessJob.objects.of(end_user_id).filter(finished_at=None):
            follow(job)


def follow(job: ProcessJob) -> dict[str, Any]:
    """Returns the progress of a job, by the work that is left: the counts of CaughtUp, and
    ``state`` queued, running, postponed (a model failed, and is asked again in ``retry_after``
    seconds) or done, which is stored. Work that came after the job is not waited for."""
    if job.finished_at:
        return {"pending": 0, **job.result, "state": "done", "retry_after": None}
    user_id, last = job.end_user_id, job.up_to_seq
    row = ProcessJob.objects.filter(pk=job.pk)  # it may have been erased with its user meanwhile
    unread = _unread(user_id, last)
    if not unread and job.up_to_link is None:
        job.up_to_link = _newest_link_id(user_id)
        row.update(up_to_link=job.up_to_link)
    is_left = unread or _unconsolidated(user_id, job.up_to_link or 0, job.created_at)
    wait = 0 if is_left else _next_try(user_id, last)
    figures = asdict(_summary(user_id, job.created_at, last))
    if is_left:
        works: tuple[Any, ...] = (Batch, Consolidation)
        running = (work.objects.of(user_id).filter(state=Work.State.RUNNING) for work in works)
        state = "running" if any(rows.exists() for rows in running) else "queued"
    elif wait:
        state = "postponed"
    else:
        state = "done"
        job.result = {name: n for name, n in figures.items() if name != "pending"}
        job.finished_at = timezone.now()
        row.update(result=job.result, finished_at=job.finished_at)
    return {**figures, "state": state, "retry_after": wait or None}


def _newest_link_id(end_user_id: int) -> int:
    return Link.objects.of(end_user_id).aggregate(pk=Max("pk", default=0))["pk"]


def _batches(end_user_id: int, last: int | None) -> QuerySet[Batch]:
    """Returns the batches with messages up to ``last``, all if None."""
    rows = Batch.objects.of(end_user_id)
    return rows if last is None else rows.filter(first_seq__lte=last)


def _message_count(batches: QuerySet[Batch]) -> int:
    return batches.aggregate(n=Sum(F("last_seq") - F("first_seq") + 1, default=0))["n"]


def _unread(end_user_id: int, last: int) -> bool:
    """Whether messages up to ``last`` are in no batch, or in one that is under way or due."""
    if EndUser.objects.filter(pk=end_user_id, extracted_seq__lt=last).exists():
        return True
    tried = Q(state=Work.State.FAILED, retry_at__gt=timezone.now())
    return _batches(end_user_id, last).filter(state__in=Work.UNDER_WAY).exclude(tried).exists()


def _unconsolidated(end_user_id: int, newest: int, started: datetime) -> set[UUID]:
    """Returns the contacts whose profile has not read all links up to ``newest``, except those that
    were tried since ``started`` or wait for another try."""
    links = Link.objects.due(EndUser.objects.select_related("app").get(pk=end_user_id))
    due = links.filter(pk__lte=newest, contact__merged_into=None).values("contact")
    work = Consolidation.objects.of(end_user_id).filter(contact__in=due)
    ended = [Work.State.DONE, Work.State.FAILED, Work.State.QUARANTINED]
    tried = Q(started_at__gte=started, state__in=ended)
    waits = Q(state=Work.State.FAILED, retry_at__gt=timezone.now())
    settled = set(work.filter(tried | waits).values_list("contact", flat=True))
    return set(due.values_list("contact", flat=True)) - settled


def _next_try(end_user_id: int, last: int | None = None) -> int:
    """Returns the seconds until the first failed consolidation, or batch of messages up to
    ``last``, is tried again; 0 if there is none."""
    works: list[QuerySet[Any]] = [
        _batches(end_user_id, last),
        Consolidation.objects.of(end_user_id),
    ]
    failed = [work.filter(state=Work.State.FAILED).exclude(retry_at=None) for work in works]
    due = [at for rows in failed for at in rows.values_list("retry_at", flat=True)]
    return max(1, round((min(due) - timezone.now()).total_seconds())) if due else 0


def _summary(end_user_id: int, started: datetime, last: int | None = None) -> CaughtUp:
    batches = _batches(end_user_id, last)
    done = {"state": Work.State.DONE, "finished_at__gte": started}
    return CaughtUp(
        pending=pending(end_user_id, last),
        extracted=_message_count(batches.filter(**done)),
        consolidated=Consolidation.objects.of(end_user_id).filter(**done).count(),
        quarantined=batches.filter(state=Work.State.QUARANTINED).count(),
    )
