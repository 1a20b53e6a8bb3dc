"""Jobs in the queue: scheduled as the table says, and gone on with where they stopped."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler

from memories import queue, tasks
from memories.jobs import job_runs, runner, schedules, sweep
from memories.models import JobRun
from memories.providers.errors import TransientError
from tests.factories import make_end_user, make_memory
from tests.memories.jobs.sample_job import abandon, bound

pytestmark = pytest.mark.django_db


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
    runner.run("visit")
    assert "resume" not in runner.run("sweep").effect  # the server is given a while
    JobRun.objects.filter(job="visit").update(finished_at=timezone.now() - job_runs.RESUME_AFTER)
    assert runner.run("sweep").effect == {"resume": 1}
    assert queued() == [("resume_job", ("visit",))]
    tasks.resume_job("visit")
    assert visits.made == [1, 2, 3, 3, 4, 5]
    assert sweep.sweep()["resume"] == 0


def test_the_sweep_goes_on_with_a_job_whose_process_died(visits) -> None:
    abandon({"at": 4, "tries": 1})
    assert sweep.sweep()["resume"] == 1


def test_the_sweep_counts_the_users_whose_corrections_it_queues_to_read() -> None:
    memory = make_memory(make_end_user(), "Ann rows.", unread=True)
    assert runner.run("sweep").effect["reread"] == 1
    assert ("reread", (memory.end_user_id,)) in queued()


def test_a_busy_user_gets_vectors_too_but_the_queue_does_not_grow() -> None:
    end_user = make_end_user()
    make_memory(end_user, "Ann rows.")
    queue.enqueue("extract", end_user.pk)
    for _ in range(2 * sweep.CROWDED):
        sweep.sweep()
    embeds = [task for task in queued() if task[0] == "embed"]
    assert len(queued()) == sweep.CROWDED
    assert embeds == [("embed", (end_user.pk,))] * (sweep.CROWDED - 1)


@pytest.mark.parametrize("name", schedules.JOBS)
def test_every_job_of_the_table_runs_on_an_empty_database_and_does_nothing(name: str) -> None:
    schedules.install()
    run = runner.run(name)
    assert (run.state, run.error, run.effect) == ("done", "", {})


@pytest.mark.django_db(transaction=True)  # the queue's own scheduler closes connections
def test_every_job_is_scheduled_with_its_interval_and_the_queue_can_read_it() -> None:
    schedules.install()
    rows = {row.name: row for row in Schedule.objects.all()}
    assert {name: row.minutes or schedules.MONTH for name, row in rows.items()} == {
        f"mio: {job.name}": job.minutes for job in schedules.JOBS.values()
    }
    row = rows["mio: rescore"]
    scheduler(broker=get_broker())
    assert ("run_job", ("rescore",)) in queued()
    row.refresh_from_db()
    assert row.next_run > timezone.now() + timedelta(hours=23)


def test_installing_again_replaces_what_differs_and_removes_what_is_gone() -> None:
    schedules.install()
    Schedule.objects.filter(name="mio: relate").update(args="('sweep',)")
    Schedule.objects.create(name="mio: old", func="memories.tasks.old", minutes=3)
    Schedule.objects.create(name="of another app", func="x.y", minutes=3)
    assert schedules.installed() != schedules.SCHEDULES
    assert schedules.install() == 0
    assert schedules.installed() == schedules.SCHEDULES
    assert Schedule.objects.filter(name="of another app").exists()


def test_rescoring_as_a_job_reaches_every_user_with_memories() -> None:
    rows = [make_memory(make_end_user(activity_days=50), "Greta hums.") for _ in range(3)]
    make_end_user(activity_days=50)
    assert runner.run("rescore").effect == {"users": 3, "changed": 3}
    for row in rows:
        row.refresh_from_db()
        assert row.importance < 0.5
    assert runner.run("rescore").effect == {"users": 3}
