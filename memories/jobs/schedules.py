"""The maintenance jobs, how often each runs, and their schedules in the queue.

A job either does all its work in one call, or visits end users in the order of their ids.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils.module_loading import import_string
from django_q.models import Schedule

from memories import tallies
from memories.budget import Budget
from memories.erasure.erase import erase_due
from memories.jobs import garbage_collect, reembed, rescore, sweep
from memories.pipeline import classify_edges, judge_suggestions, refine

Effect = Mapping[str, int]

# Begins the names of the jobs' schedules in the queue; the job's name follows.
PREFIX = "mio: "
# Longer than the queue lets a task run, so that no lease ends while its run is alive.
LEASE = timedelta(minutes=16)
HOUR, DAY, MONTH = 60, 24 * 60, 30 * 24 * 60


@dataclass(frozen=True, slots=True)
class EachUser:
    """Work done user by user: ``due`` returns the ids of users with something to do, ``step``
    does it for one user within the budget. One run makes at most ``calls`` provider calls,
    writes ``rows`` rows and visits ``users`` users."""

    due: Callable[[], Iterable[int]]
    step: Callable[[int, Budget], Effect]
    users: int = 1_000
    calls: int = 200
    rows: int = 50_000


@dataclass(frozen=True, slots=True)
class Job:
    """A maintenance job. ``work`` is a function that bounds itself, or EachUser; ``minutes`` is the
    time between runs."""

    name: str
    minutes: int
    does: str
    work: Callable[[], Effect] | EachUser
    lease: timedelta = LEASE


def _above(name: str) -> Callable[..., Any]:
    """Returns a function that imports and calls the function ``name`` of a higher package."""

    def called(*args: Any) -> Any:
        return import_string(name)(*args)

    return called


# Intervals: MIRA's, where it names the job.
JOBS: dict[str, Job] = {
    job.name: job
    for job in (
        Job(
            "sweep",
            1,
            "queue idle users, retries and interrupted jobs",
            sweep.sweep,
            lease=timedelta(minutes=5),  # it heals the others, so it must be back soon
        ),
        Job(
            "relate",
            1,
            "find what new memories have in common",
            EachUser(classify_edges.users_due, classify_edges.relate),
        ),
        Job("suggest", HOUR, "look for people who may be the same", sweep.suggest_merges),
        Job(
            "judge",
            HOUR,
            "let the model compare possible duplicates",
            EachUser(judge_suggestions.users_due, judge_suggestions.judge_user),
        ),
        Job("webhooks", 1, "send the webhooks that are due", _above("webhooks.sender.sweep")),
        Job(
            "dates",
            HOUR,
            "announce dates of the coming week to webhooks",
            EachUser(
                _above("webhooks.coming_dates.users_due"), _above("webhooks.coming_dates.tell")
            ),
        ),
        Job("erase", HOUR, "erase for good what users asked to forget", erase_due),
        Job(
            "rescore",
            DAY,
            "update how much each memory matters",
            EachUser(rescore.users_due, rescore.rescore_user, users=10_000, rows=200_000),
        ),
        Job("tally", DAY, "add up the figures of past days", tallies.store_past_days),
        Job("index", DAY, "index the vectors of users who have many", reembed.index),
        Job(
            "refine",
            7 * DAY,
            "split and shorten long memories, merge repeated ones",
            EachUser(refine.users_due, refine.refine_user),
        ),
        Job(
            "collect",
            MONTH,
            "delete names that no memory uses, and old records",
            EachUser(garbage_collect.users_due, garbage_collect.collect),
        ),
    )
}

# A row of the table: function, its arguments, kind of schedule, minutes between runs.
Row = tuple[str, str, str, int | None]
FUNCTION = "memories.tasks.run_job"
# The queue counts minutes in a small integer, which is less than a month.
SCHEDULES: dict[str, Row] = {
    PREFIX + job.name: (FUNCTION, repr((job.name,)), Schedule.MONTHLY, None)
    if job.minutes == MONTH
    else (FUNCTION, repr((job.name,)), Schedule.MINUTES, job.minutes)
    for job in JOBS.values()
}


def installed() -> dict[str, Row]:
    """Returns the jobs' schedules that are in the queue, in the form of SCHEDULES."""
    rows = Schedule.objects.filter(name__startswith=PREFIX)
    return {row.name: (row.func, row.args, row.schedule_type, row.minutes) for row in rows}


def install() -> int:
    """Makes the queue's schedules equal to SCHEDULES; returns how many were new. A schedule keeps
    its next run unless its row differs."""
    Schedule.objects.filter(name__startswith=PREFIX).exclude(name__in=SCHEDULES).delete()
    created = 0
    for name, row in SCHEDULES.items():
        columns = dict(zip(("func", "args", "schedule_type", "minutes"), row, strict=True))
        created += Schedule.objects.update_or_create(name=name, defaults=columns)[1]
    return created
