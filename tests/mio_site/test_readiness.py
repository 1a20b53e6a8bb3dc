"""What is ready of Mio, part by part."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule, Task

from memories.models import Outage
from mio_site import readiness
from tests.mio_site.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def long_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "_started", timezone.now() - 2 * HOUR)


def asked(client: Client, parts: str = "") -> tuple[int, Any]:
    response = client.get("/readyz", {"parts": parts} if parts else {})
    return response.status_code, response.json()


def test_all_parts_are_named(client: Client) -> None:
    parts = dict.fromkeys(("database", "migrations", "worker", "model", "warm_up"), "ok")
    assert asked(client) == (200, {"status": "ok", "parts": parts})


def test_work_that_nobody_takes_says_that_no_worker_runs(client: Client) -> None:
    Schedule.objects.create(func="x", next_run=timezone.now() - HOUR)
    status, answer = asked(client)
    assert (status, answer["error"]["code"]) == (503, "no_worker")
    assert "is a worker running?" in answer["parts"]["worker"]
    assert answer["parts"]["database"] == "ok"


def test_tasks_that_are_due_and_that_nobody_takes_say_that_the_worker_is_stuck(
    client: Client, settings: Any
) -> None:
    settings.MIO_QUEUE_STUCK_S = 0  # the server of tests may have started just now
    OrmQ.objects.create(key="mio", payload="", lock=timezone.now() - HOUR)
    status, answer = asked(client)
    assert (status, answer["error"]["code"]) == (503, "worker_stuck")
    assert answer["parts"]["worker"].startswith("stuck for ")
    settings.MIO_QUEUE_STUCK_S = 60
    OrmQ.objects.update(lock=timezone.now())
    assert asked(client)[0] == 200


def test_a_long_queue_that_moves_and_long_tasks_in_every_worker_are_not_stuck(
    client: Client, settings: Any
) -> None:
    settings.MIO_QUEUE_STUCK_S = 0
    OrmQ.objects.create(key="mio", payload="", lock=timezone.now() - HOUR)
    busy = OrmQ.objects.create(
        key="mio", payload="", lock=timezone.now() + timedelta(seconds=Conf.RETRY)
    )
    assert asked(client)[0] == 200
    busy.delete()
    soon = timezone.now() + HOUR
    Task.objects.create(id="1", name="1", func="x", started=soon, stopped=soon, success=True)
    assert asked(client)[0] == 200


def test_a_process_that_just_began_gives_the_worker_time(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    Schedule.objects.create(func="x", next_run=timezone.now() - HOUR)
    monkeypatch.setattr(readiness, "_started", timezone.now())
    assert asked(client)[0] == 200


def test_a_task_under_way_is_not_waiting(client: Client) -> None:
    OrmQ.objects.create(key="mio", payload="", lock=timezone.now() + HOUR)
    assert asked(client)[0] == 200


def test_a_model_that_refuses_everything_is_not_ready(client: Client) -> None:
    Outage.objects.create(provider="openai", model="m", error="")
    status, answer = asked(client)
    assert (status, answer["error"]["code"]) == (503, "model_away")


def test_a_web_process_is_not_ready_before_its_warm_up_has_succeeded(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "TRY_AGAIN", 0.01)
    tried, may_fail, may_end = threading.Event(), threading.Event(), threading.Event()

    def load() -> None:
        if not tried.is_set():
            tried.set()
            assert may_fail.wait(30)
            raise OSError("no such dictionary: Zoe")
        assert may_end.wait(30)

    readiness.start_warm_up("load", load)
    status, answer = asked(client)
    assert (status, answer["error"]["code"]) == (503, "cold")
    assert "still loads" in answer["parts"]["warm_up"]
    may_fail.set()
    assert eventually(lambda: "load failed: OSError" in asked(client)[1]["parts"]["warm_up"])
    may_end.set()
    assert eventually(lambda: asked(client)[0] == 200)


def test_a_proxy_asks_for_the_parts_without_which_nothing_is_answered(client: Client) -> None:
    Outage.objects.create(provider="openai", model="m", error="")
    status, answer = asked(client, "database,migrations")
    assert (status, answer["parts"]) == (200, {"database": "ok", "migrations": "ok"})


def test_an_unknown_part_is_refused_with_those_there_are(client: Client) -> None:
    status, answer = asked(client, "databse")
    assert status == 400
    assert "database, migrations, worker, model" in answer["error"]["message"]
