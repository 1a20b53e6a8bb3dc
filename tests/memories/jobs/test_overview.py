"""How each job stands is kept, told in few statements, and mended by the doctor."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.reasons import read
from accounts.scope import all_users
from memories.doctor import invariants
from memories.jobs import job_runs, runner, schedules
from memories.models import JobRun
from memories.providers.errors import TransientError
from tests.memories.jobs.sample_job import abandon, bound

pytestmark = pytest.mark.django_db


def test_runs_that_found_nothing_leave_one_row(visits) -> None:
    runner.run("visit")
    visits.users = []
    for _ in range(4):
        runner.run("visit")
    assert [run.effect for run in JobRun.objects.all()] == [{}, {"users": 5, "touched": 10}]


def test_runs_of_long_ago_are_not_kept(visits) -> None:
    runner.run("visit")
    long_ago = timezone.now() - job_runs.KEPT - timedelta(days=1)
    JobRun.objects.update(started_at=long_ago, finished_at=long_ago)
    runner.run("visit")
    assert JobRun.objects.count() == 1


def status(name: str = "visit") -> runner.JobStatus:
    return next(status for status in runner.overview() if status.name == name)


def test_the_overview_tells_how_each_job_stands(visits, monkeypatch) -> None:
    assert (status().state, status().last_run, status().next_due) == ("never", None, None)
    visits.states = []
    visits.then = lambda _pk, _budget: visits.states.append(all_users()(status)().state)
    runner.run("visit")
    assert set(visits.states) == {"running"}
    done = status()
    assert (done.state, done.effect) == ("done", {"users": 5, "touched": 10})
    assert done.seconds is not None
    bound(monkeypatch, users=2)
    runner.run("visit")
    assert status().state == "stopped"
    visits.fail(3, TransientError("busy"))
    runner.run("visit")
    assert (status().state, str(read(status().error))) == ("failed", "User 3: busy")
    abandon()
    JobRun.objects.exclude(state="running").delete()
    assert status().state == "dead"
    schedules.install()
    assert status("rescore").next_due is not None


def test_the_overview_takes_two_statements_whatever_ran(visits, django_assert_num_queries) -> None:
    for _ in range(3):
        runner.run("visit")
    with django_assert_num_queries(2):
        runner.overview()


def test_the_doctor_sees_an_abandoned_run_and_ends_it(visits) -> None:
    abandon({"at": 2, "tries": 1})
    assert [f.subject for f in invariants.no_job_is_abandoned()] == ["job visit"]
    repair = invariants.CHECKS[invariants.no_job_is_abandoned]
    repair(list(invariants.no_job_is_abandoned()))
    assert not list(invariants.no_job_is_abandoned())
    runner.run("visit")
    assert visits.made == [2, 3, 4, 5]
