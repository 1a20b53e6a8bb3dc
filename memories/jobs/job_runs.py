"""The runs of maintenance jobs as rows: at most one active run per job, and no run is ever lost.

A run holds a lease while it works. A run whose lease has ended is dead; the next claim of its job
marks it as failed and continues from its cursor. Jobs commit as they go, so what a dead run did is
complete; the cursor only says where to continue."""

from datetime import datetime, timedelta

from django.db import IntegrityError
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.cells import atomic
from accounts.reasons import Reason, stored
from memories.models import JobRun
from memories.models.work import ServerStart, lease_is_void

State = JobRun.State

# A job that stopped so long ago is queued again (its task was lost, its model server is away).
RESUME_AFTER = timedelta(minutes=15)
KEPT = timedelta(days=90)
DIED = Reason("process_gone").stored


class LostRun(Exception):
    """The lease ended and another run took over."""


def claim(job: str, lease: timedelta) -> JobRun | None:
    """Starts a run of the job, leased for ``lease``, with the cursor of the run before it; returns
    None while another run of the job is alive."""
    now = timezone.now()
    end_dead(now, job)
    try:
        with atomic():
            run = JobRun.objects.create(
                job=job, started_at=now, leased_until=now + lease, server_start=ServerStart()
            )
    except IntegrityError:
        return None
    previous = JobRun.objects.filter(job=job).exclude(pk=run.pk).first()
    if previous is not None and previous.cursor:
        run.cursor = previous.cursor
        run.save(update_fields=["cursor"])
    return run


def keep(run: JobRun, lease: timedelta) -> None:
    """Stores the run's cursor and effect, and renews its ``lease`` from now. Raises LostRun."""
    run.leased_until = timezone.now() + lease
    _write(run, "leased_until")


def finish(run: JobRun, error: Reason | str = "") -> None:
    """Ends the run, as failed if there is an ``error``. Deletes the job's runs older than ninety
    days and, if this run had nothing to do, the earlier ones that had nothing. Raises LostRun."""
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
    """Returns the running rows whose process is gone, as their lease is void."""
    return JobRun.objects.filter(lease_is_void(now), state=State.RUNNING)


def end_dead(now: datetime, job: str | None = None) -> int:
    """Marks dead runs, of one job or of all, as failed; returns how many. Their cursors stay."""
    runs = dead(now) if job is None else dead(now).filter(job=job)
    return runs.update(state=State.FAILED, error=DIED, finished_at=now, leased_until=None)


def latest() -> dict[str, JobRun]:
    """Returns the latest run of each job that ever ran, by the job's name."""
    runs = JobRun.objects.order_by("job", "-started_at", "-pk").distinct("job")
    return {run.job: run for run in runs}


def unfinished(job: str) -> bool:
    """Whether the job's latest run stopped midway or died."""
    run = JobRun.objects.filter(job=job).first()
    return run is not None and _stopped(run, timezone.now())


def left_lying(now: datetime) -> list[str]:
    """Returns the jobs whose latest run died, or stopped midway ``RESUME_AFTER`` ago or earlier."""
    return [
        job
        for job, run in latest().items()
        if _stopped(run, now) and (run.finished_at is None or run.finished_at <= now - RESUME_AFTER)
    ]


def _stopped(run: JobRun, now: datetime) -> bool:
    if run.state == State.RUNNING:
        return dead(now).contains(run)
    return bool(run.cursor)
