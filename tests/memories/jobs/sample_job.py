"""A job of the tests' own in the table of jobs, and runs of it that died."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from memories.budget import Budget
from memories.jobs import schedules
from memories.jobs.schedules import EachUser, Job
from memories.models import JobRun


class Visits:
    """A job over the users 1 to 5 that remembers whom it visited, and does as it is told."""

    def __init__(self, users: Iterable[int] = range(1, 6)) -> None:
        self.users = list(users)
        self.made: list[int] = []
        self.then: Callable[[int, Budget], None] = lambda _pk, _budget: None

    def __call__(self, pk: int, budget: Budget) -> dict[str, int]:
        self.made.append(pk)
        self.then(pk, budget)
        return {"touched": 2, "found": 0}

    def fail(self, at: int, error: BaseException, times: int = 1_000) -> None:
        left = [error] * times

        def then(pk: int, _budget: Budget) -> None:
            if pk == at and left:
                raise left.pop()

        self.then = then


def add_visits(monkeypatch: pytest.MonkeyPatch) -> Visits:
    """One more job in the table, ``visit``, whose users are ``Visits``."""
    made = Visits()
    job = Job("visit", 60, "visit users", EachUser(lambda: made.users, made))
    monkeypatch.setitem(schedules.JOBS, "visit", job)
    return made


def bound(monkeypatch: pytest.MonkeyPatch, **bounds: int) -> None:
    job = schedules.JOBS["visit"]
    monkeypatch.setitem(schedules.JOBS, "visit", replace(job, work=replace(job.work, **bounds)))


def abandon(cursor: dict[str, int] | None = None, job: str = "visit") -> JobRun:
    """A run whose process was killed."""
    long_ago = timezone.now() - timedelta(days=1)
    return JobRun.objects.create(
        job=job, cursor=cursor or {}, started_at=long_ago, leased_until=long_ago
    )
