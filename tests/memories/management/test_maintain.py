"""The commands maintain and rescore, as a person or a script runs them."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.models import App, EndUser
from memories.jobs import job_runs, runner, schedules
from memories.jobs.schedules import EachUser, Job
from memories.models import JobRun, Memory
from memories.providers.errors import OutputError
from tests.commands import run, run_json
from tests.factories import make_end_user, make_memory

pytestmark = pytest.mark.django_db


@pytest.fixture
def users() -> list[EndUser]:
    app = App.objects.create(name="default")
    made = [make_end_user(app=app, external_id=name, activity_days=99) for name in ("ann", "bea")]
    for end_user in made:
        make_memory(end_user, "Greta hums.")
    return made


def scores() -> list[bool]:
    """Whether each user's memory was rescored, by user."""
    return [m.importance < 0.5 for m in Memory.objects.order_by("end_user")]


def test_maintain_shows_every_job_and_how_it_stands(users) -> None:
    schedules.install()
    runner.run("rescore")
    lines = run("maintain").splitlines()
    assert len(lines) == 1 + len(schedules.JOBS)
    (line,) = (line for line in lines if line.startswith("rescore"))
    assert "1 d" in line
    assert "done" in line
    assert "users 2, changed 2" in line
    body = {job["name"]: job for job in run_json("maintain")["jobs"]}
    assert body.keys() == schedules.JOBS.keys()
    assert body["rescore"]["effect"] == {"users": 2, "changed": 2}
    assert body["refine"]["state"] == "never"
    assert body["refine"]["next_due"]


def test_maintain_runs_one_job_now(users) -> None:
    body = run_json("maintain", "rescore")
    assert (body["job"], body["state"], body["effect"]) == (
        "rescore", "done", {"users": 2, "changed": 2},
    )  # fmt: skip
    assert body["unfinished"] is False
    assert scores() == [True, True]


def test_maintain_runs_one_job_for_one_user(users) -> None:
    assert run_json("maintain", "rescore", "--user", "bea")["effect"] == {"users": 1, "changed": 1}
    assert scores() == [False, True]


@pytest.mark.parametrize("arguments", [
    ("maintain", "nothing"), ("maintain", "--user", "ann"), ("maintain", "sweep", "--user", "ann"),
    ("maintain", "rescore", "--user", "nobody"), ("rescore", "--user", "nobody"),
])  # fmt: skip
def test_what_cannot_be_done_is_an_error(users, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        call_command(*arguments)


def test_a_job_that_fails_says_why_and_exits_with_an_error(users, monkeypatch) -> None:
    def fail(_pk: int, _budget: object) -> dict[str, int]:
        raise OutputError("not in form")

    job = Job("rescore", 60, "", EachUser(lambda: [7], fail))
    monkeypatch.setitem(schedules.JOBS, "rescore", job)
    out = StringIO()
    with pytest.raises(CommandError, match="User 7: not in form"):
        call_command("maintain", "rescore", "--json", stdout=out)
    body = json.loads(out.getvalue().splitlines()[-1])
    assert (body["state"], body["error"]) == ("failed", "User 7: not in form")


@pytest.mark.parametrize("command", [("maintain", "rescore"), ("rescore",)])
def test_a_job_that_runs_already_is_not_run_beside(users, command: tuple[str, ...]) -> None:
    assert job_runs.claim("rescore", timedelta(minutes=1)) is not None
    with pytest.raises(CommandError, match="already"):
        call_command(*command)
    assert scores() == [False, False]


def test_rescore_goes_over_all_users_of_all_apps_in_as_many_runs_as_it_takes(
    users, monkeypatch
) -> None:
    make_memory(make_end_user(activity_days=99), "Greta hums.")
    job = schedules.JOBS["rescore"]
    each = EachUser(job.work.due, job.work.step, users=1)
    monkeypatch.setitem(schedules.JOBS, "rescore", Job("rescore", job.minutes, job.does, each))
    assert run_json("rescore") == {"users": 3, "changed": 3}
    assert run_json("rescore") == {"users": 3, "changed": 0}
    assert JobRun.objects.filter(state="done", cursor={}).count() == 2


def test_rescore_that_was_interrupted_goes_on_where_it_stopped(users, monkeypatch) -> None:
    job = schedules.JOBS["rescore"]
    broken = [users[1].pk]

    def step(pk: int, budget: object) -> dict[str, int]:
        if pk in broken:
            broken.clear()
            raise KeyboardInterrupt
        return job.work.step(pk, budget)

    each = EachUser(job.work.due, step)
    monkeypatch.setitem(schedules.JOBS, "rescore", Job("rescore", job.minutes, job.does, each))
    with pytest.raises(KeyboardInterrupt):
        call_command("rescore")
    assert scores() == [True, False]
    assert run_json("rescore") == {"users": 1, "changed": 1}


def test_rescore_for_one_user(users) -> None:
    assert run_json("rescore", "--user", "ann") == {"users": 1, "changed": 1}
    assert scores() == [True, False]
