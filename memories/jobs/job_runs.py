"""The runs of maintenance jobs as rows: one at a time for each job, and none ever lost.

A run holds a lease while it works. One whose lease has ended is dead; whoever looks next
ends it and goes on from its cursor. What it did is whole: jobs commit as they go, and the
cursor says only where to go on.
"""

from datetime import datetime, timedelta

from django.db import IntegrityError
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.cells import atomic
from accounts.reasons import Reason, stored
from memories.models import JobRun
from memories.models.work import ServerStart, lease_is_void

State = JobRun.State

# A stopped job that nobody goes on with (its task was lost, its model server is away).
RESUME_AFTER = timedelta(minutes=15)
KEPT = timedelta(days=90)
DIED = Reason("process_gone").stored


class LostRun(Exception):
    """The lease ended and another run took over."""


def claim(job: str, lease: timedelta) -> JobRun | None:
    """A run of the job, held for ``lease``, with the cursor of the run before it; None while
    another one is alive."""
    now = timezone.now()
    end_dead(now, job)
    try:
        with atomic():
            run = JobRun.objects.create(
                job=job, started_at=now, leased_until=now + lease, server_start=ServerStart()
            )
    except IntegrityError:
        return None
    before = JobRun.objects.filter(job=job).exclude(pk=run.pk).first()
    if before is not None and before.cursor:
        run.cursor = before.cursor
        run.save(update_fields=["cursor"])
    return run


def keep(run: JobRun, lease: timedelta) -> None:
    """Writes down how far the run came, and holds it for another ``lease``. Raises LostRun."""
    run.leased_until = timezone.now() + lease
    _write(run, "leased_until")


def finish(run: JobRun, error: Reason | str = "") -> None:
    """Ends the run; with an ``error`` it has failed. Of runs that found nothing to do only
    the latest is kept, and no run for longer than ninety days. Raises LostRun."""
    run.state, run.error = State.FAILED if error else State.DONE, stored(error)
    run.finished_at, run.leased_until = timezone.now(), None
    _write(run, "state", "error", "finished_at", "leased_until")
    earlier = JobRun.objects.filter(job=run.job).exclude(pk=run.pk).exclude(state=State.RUNNING)
    stale = Q(finished_at__lt=run.finished_at - KEPT)
    if run.state == State.DONE and not run.effect:
        stale |= Q(state=State.DONE, effect={})
    earlier.filter(stale).delete()


def _write(run: JobRun, *fields: str) -> None:
    values = {name: getattr(run, name) for name in ("cursor", "effect", *fields)}
    if not JobRun.objects.filter(pk=run.pk, state=State.RUNNING).update(**values):
        raise LostRun(run.job)


def dead(now: datetime) -> QuerySet[JobRun]:
    """Runs whose process is gone."""
    return JobRun.objects.filter(lease_is_void(now), state=State.RUNNING)


def end_dead(now: datetime, job: str | None = None) -> int:
    """Ends dead runs, of one job or of all; their cursors stay for the next run."""
    runs = dead(now) if job is None else dead(now).filter(job=job)
    return runs.update(state=State.FAILED, error=DIED, finished_at=now, leased_until=None)


def latest() -> dict[str, JobRun]:
    """The latest run of each job that ever ran."""
    runs = JobRun.objects.order_by("job", "-started_at", "-pk").distinct("job")
    return {run.job: run for run in runs}


def unfinished(job: str) -> bool:
    """Whether the job stopped midway, or has died there."""
    run = JobRun.objects.filter(job=job).first()
    return run is not None and _stopped(run, timezone.now())


def left_lying(now: datetime) -> list[str]:
    """The jobs that stopped midway and that nobody went on with."""
    return [
        job
        for job, run in latest().items()
        if _stopped(run, now) and (run.finished_at is None or run.finished_at <= now - RESUME_AFTER)
    ]


def _stopped(run: JobRun, now: datetime) -> bool:
    if run.state == State.RUNNING:
        return dead(now).contains(run)
    return bool(run.cursor)
