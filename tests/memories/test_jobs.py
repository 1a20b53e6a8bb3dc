"""Maintenance jobs: one at a time, bounded, gone on with where they stopped, and visible."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories import job_runs, jobs, schedules, sweeping, tasks
from memories.budget import Budget
from memories.doctor import work
from memories.jobs import AlreadyRunning, EachUser, Job
from memories.models import JobRun
from memories.providers.errors import OutputError, TransientError
from tests.factories import make_end_user

pytestmark = pytest.mark.django_db


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


@pytest.fixture
def visits(monkeypatch) -> Visits:
    """The table with one more job, ``visit``."""
    made = Visits()
    job = Job("visit", 60, "visit users", EachUser(lambda: made.users, made))
    monkeypatch.setitem(jobs.JOBS, "visit", job)
    return made


def bound(monkeypatch, **bounds: int) -> None:
    job = jobs.JOBS["visit"]
    monkeypatch.setitem(jobs.JOBS, "visit", replace(job, work=replace(job.work, **bounds)))


def abandon(cursor: dict[str, int] | None = None, job: str = "visit") -> JobRun:
    """A run whose process was killed."""
    long_ago = timezone.now() - timedelta(days=1)
    return JobRun.objects.create(
        job=job, cursor=cursor or {}, started_at=long_ago, leased_until=long_ago
    )


# Running ----------------------------------------------------------------------------------


def test_a_run_visits_all_users_in_order_and_says_what_it_did(visits) -> None:
    visits.users = [5, 2, 4, 1, 3]
    run = jobs.run("visit")
    assert visits.made == [1, 2, 3, 4, 5]
    run.refresh_from_db()
    assert (run.state, run.cursor, run.error) == ("done", {}, "")
    assert run.effect == {"users": 5, "touched": 10}
    assert run.finished_at >= run.started_at
    assert run.leased_until is None


def test_a_run_stops_at_its_bound_and_the_next_goes_on(visits, monkeypatch) -> None:
    bound(monkeypatch, users=2)
    first = jobs.run("visit")
    assert (first.state, first.cursor) == ("done", {"at": 3, "tries": 0})
    jobs.run("visit")
    last = jobs.run("visit")
    assert visits.made == [1, 2, 3, 4, 5]
    assert last.cursor == {}


def test_a_user_whose_work_is_more_than_the_budget_gets_the_rest_next_time(
    visits, monkeypatch
) -> None:
    bound(monkeypatch, calls=10)
    waiting = {3: 24}

    def then(pk: int, budget: Budget) -> None:
        while waiting.get(pk) and budget.left:
            budget.spend(calls=1)
            waiting[pk] -= 1

    visits.then = then
    assert jobs.run("visit").effect["calls"] == 10
    assert jobs.run("visit").effect["calls"] == 10
    assert jobs.run("visit").cursor == {}
    assert visits.made == [1, 2, 3, 3, 3, 4, 5]
    assert waiting == {3: 0}


def test_a_user_who_would_take_all_budgets_for_ever_lets_the_others_have_their_turn(
    visits, monkeypatch
) -> None:
    bound(monkeypatch, rows=10)
    visits.then = lambda pk, budget: budget.spend(rows=99 * (pk == 2))
    while (run := jobs.run("visit")).cursor:
        assert run.state == "done"
    assert visits.made == [1, 2, 2, 2, 3, 4, 5]
    assert run.effect["left_out"] == 1


def test_a_run_for_one_user_leaves_the_cursor_where_it_was(visits, monkeypatch) -> None:
    bound(monkeypatch, users=2)
    jobs.run("visit")
    run = jobs.run("visit", only=5)
    assert run.effect == {"users": 1, "touched": 2}
    jobs.run("visit")
    assert visits.made == [1, 2, 5, 3, 4]


def test_a_job_that_is_not_done_by_user_is_not_run_for_one() -> None:
    with pytest.raises(ValueError, match="user by user"):
        jobs.run("sweep", only=1)
    assert not JobRun.objects.exists()


# One at a time ----------------------------------------------------------------------------


def test_a_second_run_is_refused_while_the_first_is_alive(visits) -> None:
    refused = []

    def then(pk: int, _budget: Budget) -> None:
        try:
            jobs.run("visit")
        except AlreadyRunning:
            refused.append(pk)

    visits.then = then
    jobs.run("visit")
    assert refused == [1, 2, 3, 4, 5] == visits.made
    assert JobRun.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_eight_that_start_together_one_runs(visits) -> None:
    ready = threading.Barrier(8)
    refused = threading.Semaphore(0)
    outcomes: list[str] = []

    def then(pk: int, _budget: Budget) -> None:
        if pk == 1:  # until the seven others were sent away
            for _ in range(7):
                assert refused.acquire(timeout=30)

    visits.then = then

    def start() -> None:
        ready.wait(timeout=30)
        try:
            outcomes.append(jobs.run("visit").state)
        except AlreadyRunning:
            outcomes.append("refused")
            refused.release()
        finally:
            connection.close()

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(outcomes) == ["done", *["refused"] * 7]
    assert visits.made == [1, 2, 3, 4, 5]


def test_a_dead_run_is_taken_over_from_its_cursor(visits) -> None:
    gone = abandon({"at": 4, "tries": 1})
    jobs.run("visit")
    assert visits.made == [4, 5]
    gone.refresh_from_db()
    assert (gone.state, gone.error, gone.cursor) == ("failed", job_runs.DIED, {"at": 4, "tries": 1})


def test_a_run_that_was_taken_over_writes_nothing_and_stops(visits) -> None:
    def then(pk: int, _budget: Budget) -> None:
        if pk == 2:  # as if this process had slept beyond its lease
            JobRun.objects.update(leased_until=timezone.now())
            assert job_runs.claim("visit", timedelta(minutes=1)) is not None

    visits.then = then
    run = jobs.run("visit")
    assert visits.made == [1, 2]
    assert (run.state, run.error) == ("failed", job_runs.DIED)
    newer = JobRun.objects.get(state="running")
    assert newer.cursor == {"at": 2, "tries": 1}


# Failing ----------------------------------------------------------------------------------


def test_where_the_model_server_is_away_the_run_stops_and_begins_there_again(visits) -> None:
    visits.fail(3, TransientError("busy"), times=1)
    run = jobs.run("visit")
    assert (run.state, run.error) == ("failed", "User 3: busy")
    assert run.effect == {"users": 3, "touched": 4}
    assert jobs.run("visit").state == "done"
    assert visits.made == [1, 2, 3, 3, 4, 5]


def test_what_another_try_cannot_help_fails_the_run_but_keeps_nobody_waiting(visits) -> None:
    visits.fail(3, OutputError("not in form"))
    run = jobs.run("visit")
    assert (run.state, run.error, run.cursor) == ("failed", "User 3: not in form", {})
    assert visits.made == [1, 2, 3, 4, 5]


def test_an_unforeseen_error_is_written_down_raised_and_gone_on_from(visits) -> None:
    visits.fail(3, ZeroDivisionError("oops"), times=1)
    with pytest.raises(ZeroDivisionError):
        jobs.run("visit")
    run = JobRun.objects.get()
    assert (run.state, run.error) == ("failed", "ZeroDivisionError: oops")
    assert run.effect == {"users": 3, "touched": 4}
    jobs.run("visit")
    assert visits.made == [1, 2, 3, 3, 4, 5]


@settings(max_examples=30, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(
    st.sets(st.integers(1, 40), min_size=1, max_size=12),
    st.dictionaries(st.integers(1, 40), st.tuples(st.integers(1, 5), st.sampled_from(
        [TransientError("busy"), KeyboardInterrupt(), ZeroDivisionError(), OutputError("no")]))),
    st.integers(1, 6),
)  # fmt: skip
def test_whatever_fails_every_user_gets_their_turn_once_and_the_job_comes_to_its_end(
    users: set[int], failures: dict, most: int
) -> None:
    JobRun.objects.all().delete()
    visits = Visits(sorted(users))
    left = {pk: times for pk, (times, _) in failures.items()}
    went_well: list[int] = []

    def then(pk: int, _budget: Budget) -> None:
        if left.get(pk):
            left[pk] -= 1
            raise failures[pk][1]
        went_well.append(pk)

    visits.then = then
    with pytest.MonkeyPatch.context() as patch:
        each = EachUser(lambda: visits.users, visits, users=most)
        patch.setitem(jobs.JOBS, "visit", Job("visit", 60, "", each))
        for _ in range(200):
            try:
                run = jobs.run("visit")
            except (KeyboardInterrupt, ZeroDivisionError):
                continue
            if not run.cursor:
                break
    assert run.cursor == {}
    healthy = [
        pk
        for pk in visits.users
        if pk not in failures
        or (failures[pk][0] < jobs.MOST_TRIES and not isinstance(failures[pk][1], OutputError))
    ]
    assert went_well == healthy
    assert max(visits.made.count(pk) for pk in users) <= jobs.MOST_TRIES


# In the queue -----------------------------------------------------------------------------


def queued() -> list[tuple[str, tuple]]:
    tasks_ = [task.task for task in OrmQ.objects.all()]
    return [(task["func"].rpartition(".")[2], tuple(task["args"])) for task in tasks_]


def test_a_job_that_stopped_at_its_bound_is_queued_for_the_rest(visits, monkeypatch) -> None:
    bound(monkeypatch, users=3)
    tasks.run_job("visit")
    assert queued() == [("resume_job", ("visit",))]
    OrmQ.objects.all().delete()
    tasks.resume_job("visit")
    assert visits.made == [1, 2, 3, 4, 5]
    assert queued() == []


def test_resuming_what_is_finished_or_running_does_nothing(visits) -> None:
    tasks.resume_job("visit")
    tasks.run_job("visit")
    tasks.resume_job("visit")
    assert visits.made == [1, 2, 3, 4, 5]
    assert job_runs.claim("visit", timedelta(minutes=1)) is not None
    tasks.resume_job("visit")
    tasks.run_job("visit")
    assert visits.made == [1, 2, 3, 4, 5]


def test_the_sweep_goes_on_with_what_was_left_lying(visits) -> None:
    visits.fail(3, TransientError("busy"), times=1)
    jobs.run("visit")
    assert "resume" not in jobs.run("sweep").effect  # the server is given a while
    JobRun.objects.filter(job="visit").update(finished_at=timezone.now() - job_runs.RESUME_AFTER)
    assert jobs.run("sweep").effect == {"resume": 1}
    assert queued() == [("resume_job", ("visit",))]
    tasks.resume_job("visit")
    assert visits.made == [1, 2, 3, 3, 4, 5]
    assert sweeping.sweep()["resume"] == 0


def test_the_sweep_goes_on_with_a_job_whose_process_died(visits) -> None:
    abandon({"at": 4, "tries": 1})
    assert sweeping.sweep()["resume"] == 1


@pytest.mark.parametrize("name", jobs.JOBS)
def test_every_job_of_the_table_runs_on_an_empty_database_and_does_nothing(name: str) -> None:
    schedules.install()
    run = jobs.run(name)
    assert (run.state, run.error, run.effect) == ("done", "", {})


@pytest.mark.django_db(transaction=True)  # the queue's own scheduler closes connections
def test_every_job_is_scheduled_with_its_interval_and_the_queue_can_read_it() -> None:
    schedules.install()
    rows = {row.name: row for row in Schedule.objects.all()}
    assert {name: row.minutes or jobs.MONTH for name, row in rows.items()} == {
        f"mio: {job.name}": job.minutes for job in jobs.JOBS.values()
    }
    row = rows["mio: rescore"]
    scheduler(broker=get_broker())
    assert ("run_job", ("rescore",)) in queued()
    row.refresh_from_db()
    assert row.next_run > timezone.now() + timedelta(hours=23)


def test_installing_again_replaces_what_differs_and_removes_what_is_gone() -> None:
    schedules.install()
    Schedule.objects.filter(name="mio: poll").update(args="('sweep',)")
    Schedule.objects.create(name="mio: old", func="memories.tasks.old", minutes=3)
    Schedule.objects.create(name="of another app", func="x.y", minutes=3)
    assert schedules.installed() != schedules.SCHEDULES
    assert schedules.install() == 0
    assert schedules.installed() == schedules.SCHEDULES
    assert Schedule.objects.filter(name="of another app").exists()


# Watching ---------------------------------------------------------------------------------


def test_runs_that_found_nothing_leave_one_row(visits) -> None:
    jobs.run("visit")
    visits.users = []
    for _ in range(4):
        jobs.run("visit")
    assert [run.effect for run in JobRun.objects.all()] == [{}, {"users": 5, "touched": 10}]


def test_runs_of_long_ago_are_not_kept(visits) -> None:
    jobs.run("visit")
    long_ago = timezone.now() - job_runs.KEPT - timedelta(days=1)
    JobRun.objects.update(started_at=long_ago, finished_at=long_ago)
    jobs.run("visit")
    assert JobRun.objects.count() == 1


def status(name: str = "visit") -> jobs.JobStatus:
    return next(status for status in jobs.overview() if status.name == name)


def test_the_overview_tells_how_each_job_stands(visits, monkeypatch) -> None:
    assert (status().state, status().last_run, status().next_due) == ("never", None, None)
    visits.then = lambda _pk, _budget: visits.states.append(status().state)
    visits.states = []
    jobs.run("visit")
    assert set(visits.states) == {"running"}
    done = status()
    assert (done.state, done.effect) == ("done", {"users": 5, "touched": 10})
    assert done.seconds is not None
    bound(monkeypatch, users=2)
    jobs.run("visit")
    assert status().state == "stopped"
    visits.fail(3, TransientError("busy"))
    jobs.run("visit")
    assert (status().state, status().error) == ("failed", "User 3: busy")
    abandon()
    JobRun.objects.exclude(state="running").delete()
    assert status().state == "dead"
    schedules.install()
    assert status("rescore").next_due is not None


def test_the_overview_takes_two_statements_whatever_ran(visits, django_assert_num_queries) -> None:
    for _ in range(3):
        jobs.run("visit")
    with django_assert_num_queries(2):
        jobs.overview()


def test_the_doctor_sees_an_abandoned_run_and_ends_it(visits) -> None:
    abandon({"at": 2, "tries": 1})
    assert [f.subject for f in work.no_job_is_abandoned()] == ["job visit"]
    repair = work.CHECKS[work.no_job_is_abandoned]
    repair(list(work.no_job_is_abandoned()))
    assert not list(work.no_job_is_abandoned())
    jobs.run("visit")
    assert visits.made == [2, 3, 4, 5]


def test_rescoring_as_a_job_reaches_every_user_with_memories() -> None:
    from tests.factories import make_memory

    rows = [make_memory(make_end_user(activity_days=50), "Greta hums.") for _ in range(3)]
    make_end_user(activity_days=50)
    assert jobs.run("rescore").effect == {"users": 3, "changed": 3}
    for row in rows:
        row.refresh_from_db()
        assert row.importance < 0.5
    assert jobs.run("rescore").effect == {"users": 3}
