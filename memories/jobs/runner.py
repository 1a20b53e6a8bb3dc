"""Runs the maintenance jobs, and reports the status of each.

A job commits as it goes and may be repeated: a run that stops at its bound, fails or dies
leaves a cursor, from which the next run continues. Over all machines, each job has at most one
run at a time."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import InterfaceError, OperationalError
from django.utils import timezone
from django_q.models import Schedule

from accounts.reasons import Reason, fault
from accounts.scope import all_users, user_scope
from memories.budget import Budget
from memories.jobs import job_runs
from memories.jobs.schedules import JOBS, PREFIX, EachUser, Effect, Job
from memories.models import JobRun
from memories.providers.errors import ProviderError, RefusedError, TransientError

log = logging.getLogger(__name__)

# A user at whom the process died, the model server was away or the budget ended is tried so
# often; then the job skips them.
MOST_TRIES = 3
MOST_ERRORS = 20  # stored with a run
# Seconds after which a run stops at the next user, so that other work has its turn.
MOST_SECONDS = 60


class AlreadyRunning(Exception):
    """Another run of the job is alive."""


@all_users()
def run(
    name: str, *, only: int | None = None, visited: Callable[[], object] | None = None
) -> JobRun:
    """Runs a job now, from where its last run stopped, and returns the run; with ``only``, for this
    end user alone, and the cursor stays. ``visited`` is called after each successful visit.

    If a visit fails, the other users are still visited and the run is marked as failed; errors of
    the database connection, and errors other than ProviderError of a job that is not done user by
    user, are raised. A run with a cursor stopped at its bound. Raises AlreadyRunning, and
    ValueError for ``only`` with a job that is not done user by user."""
    job = JOBS[name]
    if only is not None and not isinstance(job.work, EachUser):
        raise ValueError(f"{name} is not done user by user.")
    this_run = job_runs.claim(name, job.lease)
    if this_run is None:
        raise AlreadyRunning(name)
    error: Reason | str = ""
    try:
        if isinstance(job.work, EachUser):
            if errors := _visit_users(job, job.work, this_run, only, visited):
                error = Reason("of_users", errors=errors[:MOST_ERRORS])
        else:
            try:
                this_run.effect = _without_zeros(job.work())
            except ProviderError as provider_error:
                error = provider_error.reason
        job_runs.finish(this_run, error)
    except job_runs.LostRun:
        this_run.refresh_from_db()
    except BaseException as failure:
        job_runs.finish(this_run, fault(failure))
        raise
    return this_run


def _visit_users(
    job: Job,
    work: EachUser,
    this_run: JobRun,
    only: int | None,
    visited: Callable[[], object] | None,
) -> list[Reason]:
    """Visits users until all are done or a bound is reached; returns the errors of failed visits.
    In the cursor, ``at`` is the next user, ``tries`` how often their visit was begun already."""
    budget, effect, errors = Budget(work.calls, work.rows), Counter[str](), list[Reason]()
    at, tries = this_run.cursor.get("at", 0), this_run.cursor.get("tries", 0)
    users = [only] if only is not None else sorted(pk for pk in work.due() if pk >= at)
    stop_at = time.monotonic() + MOST_SECONDS
    for place, pk in enumerate(users):
        if only is None:
            begun = tries if pk == at else 0
            this_run.cursor = {"at": pk, "tries": begun}
            if place == work.users or time.monotonic() > stop_at:
                return errors
            if begun == MOST_TRIES:
                effect["left_out"] += 1
                continue
            # Written before the visit: a process that dies in it has used a try.
            this_run.cursor = {"at": pk, "tries": begun + 1}
            job_runs.keep(this_run, job.lease)
        error = _visit(job, work, pk, budget, effect)
        this_run.effect = _without_zeros({**effect, "calls": work.calls - budget.calls})
        if error is not None:
            errors.append(Reason("of_user", user=pk, error=fault(error)))
        elif visited is not None:
            visited()
        provider_is_away = isinstance(error, TransientError | RefusedError)
        if provider_is_away or (not budget.left and only is None):
            return errors
    if only is None:
        this_run.cursor = {}
    return errors


def _visit(
    job: Job, work: EachUser, pk: int, budget: Budget, effect: Counter[str]
) -> Exception | None:
    """Does the work of one user; returns the error if it failed."""
    effect["users"] += 1
    try:
        with user_scope(pk):
            effect.update(work.step(pk, budget))
    except (InterfaceError, OperationalError):
        raise
    except Exception as error:  # noqa: BLE001 the other users are visited
        log.warning("%s of user %s failed: %s", job.name, pk, fault(error))
        return error
    return None


def _without_zeros(effect: Effect) -> dict[str, int]:
    """Returns the counts that are not zero, so that a run that did nothing has an empty effect."""
    return {name: count for name, count in effect.items() if count}


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The status of a job, for display. ``state`` is ``never``, ``running``, ``done``, ``stopped``
    (midway, to be continued), ``failed`` or ``dead``; ``seconds`` is how long the last run took,
    None until it ends; ``next_due`` is None if the job is not scheduled."""

    name: str
    does: str
    minutes: int
    state: str
    last_run: datetime | None
    seconds: float | None
    effect: dict[str, int]
    error: str
    next_due: datetime | None


def overview() -> list[JobStatus]:
    """Returns the status of every job of the table; two statements."""
    runs = job_runs.latest()
    due = dict(Schedule.objects.filter(name__startswith=PREFIX).values_list("name", "next_run"))
    never = JobRun(state="never")
    return [
        _status(job, runs.get(job.name, never), due.get(PREFIX + job.name)) for job in JOBS.values()
    ]


def _status(job: Job, last: JobRun, next_due: datetime | None) -> JobStatus:
    state = last.state
    if state == JobRun.State.RUNNING and last.leased_until and last.leased_until <= timezone.now():
        state = "dead"
    elif state == JobRun.State.DONE and last.cursor:
        state = "stopped"
    took = (last.finished_at - last.started_at).total_seconds() if last.finished_at else None
    began = last.started_at if last.pk else None
    return JobStatus(
        job.name, job.does, job.minutes, state, began, took, last.effect, last.error, next_due
    )
