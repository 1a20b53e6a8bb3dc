"""Running the maintenance jobs, and how each stands.

A job commits as it goes and may be repeated: a run that stops at its bound, fails or dies
leaves a cursor, from which the next one goes on. One run of a job at a time, on whatever
machine.
"""

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

# A user with whom a job died, met a model server that was away, or came to the end of its
# budget is tried so often; then the next one has their turn.
MOST_TRIES = 3
MOST_ERRORS = 20  # kept of a run
# Seconds after which a run stops at the next user, so that other work has its turn.
MOST_SECONDS = 60


class AlreadyRunning(Exception):
    """Another run of the job is alive."""


@all_users()
def run(
    name: str, *, only: int | None = None, visited: Callable[[], object] | None = None
) -> JobRun:
    """Runs a job now, from where its last run stopped; with ``only`` for this end user alone,
    and the cursor stays as it was. ``visited`` is called after each user.

    The run returned has failed when a visit did, which the others outlive; an error of a job
    that is not done user by user, or of the database's connection, is raised.
    A run with a cursor has stopped at its bound. Raises AlreadyRunning, and ValueError for
    ``only`` with a job that is not done user by user.
    """
    job = JOBS[name]
    if only is not None and not isinstance(job.work, EachUser):
        raise ValueError(f"{name} is not done user by user.")
    held = job_runs.claim(name, job.lease)
    if held is None:
        raise AlreadyRunning(name)
    try:
        error = _work(job, held, only, visited)
        job_runs.finish(held, error)
    except job_runs.LostRun:
        held.refresh_from_db()
    except BaseException as error:
        job_runs.finish(held, fault(error))
        raise
    return held


def _work(
    job: Job, held: JobRun, only: int | None, visited: Callable[[], object] | None
) -> Reason | str:
    """Does the work and notes its effect on the run; returns what went wrong with providers."""
    if isinstance(job.work, EachUser):
        return _Visit(job, job.work, held, visited).all(only)
    try:
        held.effect = _told(job.work())
    except ProviderError as error:
        return error.reason
    return ""


class _Visit:
    """One run over end users. Cursor: ``at`` is the user to begin with, ``tries`` how often
    that was begun already."""

    def __init__(
        self,
        job: Job,
        work: EachUser,
        held: JobRun,
        visited: Callable[[], object] | None,
    ) -> None:
        self.job, self.work, self.held, self.visited = job, work, held, visited
        self.budget = Budget(work.calls, work.rows)
        self.effect: Counter[str] = Counter()
        self.errors: list[Reason] = []

    def all(self, only: int | None) -> Reason | str:
        """Visits users until all, or the bounds, are reached; returns the errors."""
        at, tries = self.held.cursor.get("at", 0), self.held.cursor.get("tries", 0)
        users = [only] if only is not None else sorted(pk for pk in self.work.due() if pk >= at)
        stop_at = time.monotonic() + MOST_SECONDS
        for place, pk in enumerate(users):
            begun = tries if pk == at else 0
            if only is None:
                self._note(pk, begun)
                if place == self.work.users or time.monotonic() > stop_at:
                    return self._told()
                if begun == MOST_TRIES:
                    self.effect["left_out"] += 1
                    continue
                # Written before the visit: a process that dies in it has used a try.
                self._note(pk, begun + 1)
                job_runs.keep(self.held, self.job.lease)
            if not self._visit(pk) or (not self.budget.left and only is None):
                return self._told()
        if only is None:
            self.held.cursor = {}
        return self._told()

    def _visit(self, pk: int) -> bool:
        """False when the provider is away, so that there is no use in going on."""
        self.effect["users"] += 1
        try:
            with user_scope(pk):
                self.effect.update(self.work.step(pk, self.budget))
        except (InterfaceError, OperationalError):
            raise
        except Exception as error:  # noqa: BLE001 the other users are visited
            reason = fault(error)
            log.warning("%s of user %s failed: %s", self.job.name, pk, reason)
            self.errors.append(Reason("of_user", user=pk, error=reason))
            return not isinstance(error, TransientError | RefusedError)
        finally:
            self.effect["calls"] = self.work.calls - self.budget.calls
            self.held.effect = _told(self.effect)
        if self.visited is not None:
            self.visited()
        return True

    def _note(self, pk: int, tries: int) -> None:
        self.held.cursor = {"at": pk, "tries": tries}

    def _told(self) -> Reason | str:
        return Reason("of_users", errors=self.errors[:MOST_ERRORS]) if self.errors else ""


def _told(effect: Effect) -> dict[str, int]:
    """Only what is not nothing: a run without effect is told from others by an empty one."""
    return {name: count for name, count in effect.items() if count}


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job for people to look at. ``state`` is ``never``, ``running``, ``done``, ``stopped``
    (midway, to be gone on with), ``failed`` or ``dead``; ``seconds`` of the last run that
    ended; ``next_due`` None when it is not scheduled."""

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
    """How every job of the table stands; two statements."""
    runs = job_runs.latest()
    due = dict(Schedule.objects.filter(name__startswith=PREFIX).values_list("name", "next_run"))
    return [_status(job, runs.get(job.name), due.get(PREFIX + job.name)) for job in JOBS.values()]


def _status(job: Job, last: JobRun | None, next_due: datetime | None) -> JobStatus:
    took = (last.finished_at - last.started_at) if last and last.finished_at else None
    return JobStatus(
        name=job.name,
        does=job.does,
        minutes=job.minutes,
        state=_state(last),
        last_run=last.started_at if last else None,
        seconds=took.total_seconds() if took else None,
        effect=last.effect if last else {},
        error=last.error if last else "",
        next_due=next_due,
    )


def _state(last: JobRun | None) -> str:
    if last is None:
        return "never"
    if (
        last.state == JobRun.State.RUNNING
        and last.leased_until
        and (last.leased_until <= timezone.now())
    ):
        return "dead"
    if last.state == JobRun.State.DONE and last.cursor:
        return "stopped"
    return last.state
