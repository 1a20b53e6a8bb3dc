"""Who is served next, by the queue's own broker."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from accounts import fair_queue
from accounts.fair_queue import FairQueue
from memories.queue import enqueue
from tests.factories import make_app, make_end_user

pytestmark = pytest.mark.django_db


def take() -> str | None:
    """What a free worker is given."""
    for _pk, payload in FairQueue().dequeue():
        name: str = SignedPackage.loads(payload)["name"]
        return name
    return None


@pytest.fixture(autouse=True)
def _no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conf, "POLL", 0)


def finish(name: str) -> None:
    next(task for task in OrmQ.objects.all() if task.name() == name).delete()


def test_a_user_has_one_task_under_way_and_apps_take_turns() -> None:
    busy, quiet = make_app(), make_app()
    ann, ben, eva = (make_end_user(app=app).pk for app in (busy, busy, quiet))
    for task in ("extract", "consolidate", "embed"):
        enqueue(task, ann)
    enqueue("erase", "some-id", end_user_id=ann)
    enqueue("extract", ben)
    enqueue("extract", eva)
    enqueue("run_job", "sweep")
    assert take() == f"extract {ann}"
    assert take() == f"extract {eva}", "of the app that has none under way"
    assert take() == "run_job sweep"
    assert take() == f"extract {ben}", "of a user who has none under way"
    assert take() is None
    finish(f"extract {ann}")
    assert take() == f"consolidate {ann}"
    finish(f"consolidate {ann}")
    finish(f"extract {eva}")
    enqueue("embed", eva)
    assert take() == f"embed {eva}", "queued last"


def leave_under_way(taken: str) -> None:
    """A task under way since then, by a worker that is no more, and one of the same user."""
    ann = make_end_user().pk
    enqueue("extract", ann)
    enqueue("embed", ann)
    assert take() == f"extract {ann}"
    assert take() is None
    first = min(task.pk for task in OrmQ.objects.all())
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE django_q_ormq SET lock = {taken} + %s WHERE id = %s",
            [timedelta(seconds=Conf.RETRY - 1), first],
        )


def test_a_worker_that_died_does_not_block_its_user() -> None:
    leave_under_way("now() - interval '10 min'")
    assert str(take()).startswith("embed")


def test_a_worker_that_lost_its_server_does_not_block_its_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # However long the server of the tests has been up, the task would count as under way.
    long = timedelta(days=1000)
    monkeypatch.setattr(Conf, "RETRY", long.total_seconds())
    monkeypatch.setattr(fair_queue, "ALIVE", long)
    leave_under_way("pg_postmaster_start_time()")
    assert str(take()).startswith("embed")


def test_the_choice_is_one_statement_however_much_waits() -> None:
    app = make_app()
    for number in range(40):
        enqueue("extract", make_end_user(app=app).pk)
        enqueue("embed", number + 10**6)
    with CaptureQueriesContext(connection) as queries:
        assert take() is not None
    assert len(queries) == 2  # and the one that takes it
