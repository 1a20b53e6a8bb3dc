"""Maintenance jobs: one at a time, bounded, and gone on with where they stopped."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.reasons import read
from accounts.scope import all_users
from memories.budget import Budget
from memories.jobs import job_runs, runner, schedules
from memories.jobs.runner import AlreadyRunning
from memories.jobs.schedules import EachUser, Job
from memories.models import JobRun
from memories.providers.errors import OutputError, TransientError
from tests.memories.jobs.sample_job import Visits, abandon, bound

pytestmark = pytest.mark.django_db


def test_a_run_visits_all_users_in_order_and_says_what_it_did(visits) -> None:
    visits.users = [5, 2, 4, 1, 3]
    run = runner.run("visit")
    assert visits.made == [1, 2, 3, 4, 5]
    run.refresh_from_db()
    assert (run.state, run.cursor, run.error) == ("done", {}, "")
    assert run.effect == {"users": 5, "touched": 10}
    assert run.finished_at >= run.started_at
    assert run.leased_until is None


def test_a_run_stops_at_its_bound_and_the_next_goes_on(visits, monkeypatch) -> None:
    bound(monkeypatch, users=2)
    first = runner.run("visit")
    assert (first.state, first.cursor) == ("done", {"at": 3, "tries": 0})
    runner.run("visit")
    last = runner.run("visit")
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
    assert runner.run("visit").effect["calls"] == 10
    assert runner.run("visit").effect["calls"] == 10
    assert runner.run("visit").cursor == {}
    assert visits.made == [1, 2, 3, 3, 3, 4, 5]
    assert waiting == {3: 0}


def test_a_user_who_would_take_all_budgets_for_ever_lets_the_others_have_their_turn(
    visits, monkeypatch
) -> None:
    bound(monkeypatch, rows=10)
    visits.then = lambda pk, budget: budget.spend(rows=99 * (pk == 2))
    while (run := runner.run("visit")).cursor:
        assert run.state == "done"
    assert visits.made == [1, 2, 2, 2, 3, 4, 5]
    assert run.effect["left_out"] == 1


def test_a_run_for_one_user_leaves_the_cursor_where_it_was(visits, monkeypatch) -> None:
    bound(monkeypatch, users=2)
    runner.run("visit")
    run = runner.run("visit", only=5)
    assert run.effect == {"users": 1, "touched": 2}
    runner.run("visit")
    assert visits.made == [1, 2, 5, 3, 4]


def test_a_job_that_is_not_done_by_user_is_not_run_for_one() -> None:
    with pytest.raises(ValueError, match="user by user"):
        runner.run("sweep", only=1)
    assert not JobRun.objects.exists()


def test_a_second_run_is_refused_while_the_first_is_alive(visits) -> None:
    refused = []

    def then(pk: int, _budget: Budget) -> None:
        try:
            runner.run("visit")
        except AlreadyRunning:
            refused.append(pk)

    visits.then = then
    runner.run("visit")
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
            outcomes.append(runner.run("visit").state)
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
    runner.run("visit")
    assert visits.made == [4, 5]
    gone.refresh_from_db()
    assert (gone.state, gone.error, gone.cursor) == ("failed", job_runs.DIED, {"at": 4, "tries": 1})


def test_a_run_that_was_taken_over_writes_nothing_and_stops(visits) -> None:
    def then(pk: int, _budget: Budget) -> None:
        if pk == 2:  # as if this process had slept beyond its lease
            with all_users():
                JobRun.objects.update(leased_until=timezone.now())
                assert job_runs.claim("visit", timedelta(minutes=1)) is not None

    visits.then = then
    run = runner.run("visit")
    assert visits.made == [1, 2]
    assert (run.state, run.error) == ("failed", job_runs.DIED)
    newer = JobRun.objects.get(state="running")
    assert newer.cursor == {"at": 2, "tries": 1}


def test_where_the_model_server_is_away_the_run_stops_and_begins_there_again(visits) -> None:
    visits.fail(3, TransientError("busy"), times=1)
    run = runner.run("visit")
    assert (run.state, str(read(run.error))) == ("failed", "User 3: busy")
    assert run.effect == {"users": 3, "touched": 4}
    assert runner.run("visit").state == "done"
    assert visits.made == [1, 2, 3, 3, 4, 5]


def test_what_another_try_cannot_help_fails_the_run_but_keeps_nobody_waiting(visits) -> None:
    visits.fail(3, OutputError("not in form"))
    run = runner.run("visit")
    assert (run.state, str(read(run.error)), run.cursor) == ("failed", "User 3: not in form", {})
    assert visits.made == [1, 2, 3, 4, 5]


def test_an_unforeseen_error_is_written_down_without_its_words_and_the_others_go_on(visits) -> None:
    visits.fail(3, ZeroDivisionError("Anna's secret"), times=1)
    run = runner.run("visit")
    assert (run.state, run.cursor) == ("failed", {})
    assert str(read(run.error)).startswith("User 3: It failed with ZeroDivisionError at tests/")
    assert "Anna" not in run.error
    assert run.effect == {"users": 5, "touched": 8}
    assert visits.made == [1, 2, 3, 4, 5]


@settings(max_examples=30,
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
        patch.setitem(schedules.JOBS, "visit", Job("visit", 60, "", each))
        for _ in range(200):
            try:
                run = runner.run("visit")
            except KeyboardInterrupt:
                continue
            if not run.cursor:
                break
    assert run.cursor == {}
    healthy = [
        pk
        for pk in visits.users
        if pk not in failures
        or (
            failures[pk][0] < runner.MOST_TRIES
            and not isinstance(failures[pk][1], OutputError | ZeroDivisionError)
        )
    ]
    assert went_well == healthy
    assert max(visits.made.count(pk) for pk in users) <= runner.MOST_TRIES
