"""The pipeline: its work is seen, retried, cancelled; jobs run on demand."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django_q.models import OrmQ

from accounts.models import EndUser
from memories.jobs import schedules
from memories.models import Batch, Consolidation, ModelCall, Work
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_message

pytestmark = pytest.mark.django_db
LISTS = ("pipeline", "consolidations", "jobs", "calls")


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user(external_id="zoe", app=make_app(name="chatter"))


def a_batch(end_user: EndUser, **fields: object) -> Batch:
    seq = make_message(end_user).seq
    return Batch.objects.create(end_user=end_user, first_seq=seq, last_seq=seq, **fields)


@pytest.fixture
def stuck(zoe: EndUser) -> Batch:
    return a_batch(
        zoe, state="quarantined", attempts=5, error="The model server answered 401.",
        provider="openai",
    )  # fmt: skip


def queued() -> list[str]:
    return [task.name() for task in OrmQ.objects.all()]


def test_a_batch_shows_its_state_attempts_and_error(stuck: Batch) -> None:
    page = signed_in("viewer").get(reverse("dashboard:pipeline")).content.decode()
    assert "The model server answered 401." in page
    assert "quarantined" in page
    assert reverse("dashboard:retry", args=["batch", stuck.pk]) not in page  # a viewer looks


def test_a_quarantined_batch_is_sent_round_again_and_queued(stuck: Batch) -> None:
    page = signed_in("reviewer").post(
        reverse("dashboard:retry", args=["batch", stuck.pk]), follow=True
    )
    stuck.refresh_from_db()
    assert (stuck.state, stuck.attempts, stuck.error) == ("pending", 0, "")
    assert queued() == [f"extract {stuck.end_user_id}"]
    assert "Trying again" in page.content.decode()


def test_what_is_done_is_not_retried(zoe: EndUser) -> None:
    done = a_batch(zoe, state="done")
    page = signed_in("reviewer").post(
        reverse("dashboard:retry", args=["batch", done.pk]), follow=True
    )
    assert "not waiting for a retry" in page.content.decode()
    assert not queued()


def test_cancelling_leaves_it_undone_and_retry_brings_it_back(zoe: EndUser) -> None:
    work = Consolidation.objects.create(end_user=zoe, contact=make_contact(zoe, "Greta"))
    reviewer = signed_in("reviewer")
    reviewer.post(reverse("dashboard:cancel", args=["consolidation", work.pk]))
    work.refresh_from_db()
    assert work.state == Work.State.CANCELLED
    reviewer.post(reverse("dashboard:retry", args=["consolidation", work.pk]))
    work.refresh_from_db()
    assert work.state == Work.State.PENDING


def test_running_work_is_not_cancelled(zoe: EndUser) -> None:
    running = a_batch(zoe, state="running")
    signed_in("reviewer").post(reverse("dashboard:cancel", args=["batch", running.pk]))
    running.refresh_from_db()
    assert running.state == "running"


@pytest.mark.parametrize("kind", ["batch", "user"])
def test_work_of_another_app_and_unknown_kinds_do_not_exist(stuck: Batch, kind: str) -> None:
    limited = signed_in("admin", [make_app(name="other")])
    for name in ("retry", "cancel"):
        answer = limited.post(reverse(f"dashboard:{name}", args=[kind, stuck.pk]))
        assert answer.status_code == 404
    assert limited.get(reverse("dashboard:pipeline")).context["page"].rows == []


def test_the_state_narrows_the_list(zoe: EndUser, stuck: Batch) -> None:
    a_batch(zoe, state="done")
    client = signed_in("viewer")
    only = client.get(reverse("dashboard:pipeline"), {"state": "quarantined"})
    assert [row.pk for row in only.context["rows"]] == [stuck.pk]
    assert len(client.get(reverse("dashboard:pipeline"), {"state": "x"}).context["rows"]) == 2


def test_every_job_is_shown_and_runs_on_demand_for_admins_only() -> None:
    name = next(iter(schedules.JOBS))
    page = signed_in("viewer").get(reverse("dashboard:jobs")).content.decode()
    assert all(job in page for job in schedules.JOBS)
    address = reverse("dashboard:run-job", args=[name])
    assert signed_in("reviewer").post(address).status_code == 403
    assert signed_in("admin").post(address).status_code == 302
    assert queued() == [f"run_job {name}"]
    assert signed_in("admin", name="x").post(address.replace(name, "none")).status_code == 404


def test_model_calls_show_tokens_cost_and_failures(zoe: EndUser) -> None:
    call = {"end_user": zoe, "provider": "openai", "purpose": "extract"}
    ModelCall.objects.create(
        **call, model="gpt-4o-mini", outcome="ok", tokens_in=1_000_000, tokens_out=0
    )
    ModelCall.objects.create(**call, model="unheard-of", outcome="permanent")
    client = signed_in("viewer")
    page = client.get(reverse("dashboard:calls")).content.decode()
    assert "$0.1500" in page
    ModelCall.objects.create(**call | {"purpose": "embed"}, model="e5", outcome="ok")
    for asked, models in (
        ({}, ["unheard-of", "gpt-4o-mini"]),
        ({"outcome": "failed"}, ["unheard-of"]),
        ({"kind": "embed"}, ["e5"]),
        ({"kind": "embed", "outcome": "failed"}, []),
    ):
        listed = client.get(reverse("dashboard:calls"), asked)
        assert [call.model for call, _cost in listed.context["rows"]] == models


@pytest.mark.parametrize("name", LISTS)
def test_the_live_part_of_a_list_comes_alone(stuck: Batch, name: str) -> None:
    client = signed_in("viewer")
    fragment = client.get(reverse(f"dashboard:{name}"), headers={"HX-Request": "true"})
    assert b"<html" not in fragment.content
    assert b'id="live"' in fragment.content
    whole = client.get(
        reverse(f"dashboard:{name}"), headers={"HX-Request": "true", "HX-Boosted": "true"}
    )
    assert b"<html" in whole.content


@pytest.mark.parametrize("name", LISTS)
def test_a_list_takes_the_same_statements_whatever_its_length(zoe: EndUser, name: str) -> None:
    client = signed_in("viewer")

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse(f"dashboard:{name}")).status_code == 200
        return len(queries)

    def add(place: int) -> None:
        a_batch(zoe)
        Consolidation.objects.create(end_user=zoe, contact=make_contact(zoe, f"Person {place}"))
        ModelCall.objects.create(end_user=zoe, provider="p", model="m", purpose="x", outcome="ok")

    add(0)
    statements()
    few = statements()
    for place in range(1, 12):
        add(place)
    assert statements() == few
