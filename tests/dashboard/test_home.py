"""Home: what waits, and how the pipeline is doing, from real rows."""

import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import Change, EndUser
from accounts.reasons import Reason
from dashboard.queries.home import DAYS
from dashboard.views.home import HEIGHT, LEAST, bars
from memories.corrections.undo import undo_change
from memories.jobs import schedules
from memories.models import (
    Batch,
    Consolidation,
    Edge,
    Erasure,
    Link,
    Memory,
    Message,
    ModelCall,
    Outage,
    Retrieval,
    SlowModel,
)
from memories.pipeline import sync_contacts
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_memory, make_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user(external_id="zoe", app=make_app(name="chatter"))


def home(client: Client) -> dict:
    return client.get(reverse("dashboard:home")).context


def test_an_empty_installation_says_what_to_do_next() -> None:
    page = signed_in("viewer").get(reverse("dashboard:home")).content.decode()
    assert "Nothing needs your attention" in page
    assert "No app has sent a message yet" in page


def test_everything_that_waits_is_counted_and_listed(zoe: EndUser) -> None:
    make_message(zoe)
    Batch.objects.create(end_user=zoe, first_seq=1, last_seq=1, state="quarantined")
    Erasure.objects.create(end_user=zoe, due_at=timezone.now() + timedelta(days=1))
    make_memory(zoe, "Greta left.", make_contact(zoe, "Greta"))
    Link.objects.update(confidence=0.5)
    left = make_memory(zoe, "Her brother sails.", subtype="family")
    other = make_memory(zoe, "I sail.", subtype="self")
    Edge.objects.create(end_user=zoe, source=left, target=other, kind="conflicts")
    Memory.objects.update(created_at=timezone.now() - timedelta(hours=1))
    sync_contacts.note_unlinked(zoe.pk)
    context = home(signed_in("viewer"))
    assert context["counts"] == {
        "merges": 0, "links": 1, "conflicts": 0, "contradictions": 1, "nobody": 1, "quarantined": 1, "forgetting": 1
    }  # fmt: skip
    assert context["total"] == 5


def test_a_request_to_forget_says_what_it_means_without_zeros(zoe: EndUser) -> None:
    due = timezone.now() + timedelta(days=1)
    message, memory = make_message(zoe), make_memory(zoe, "Greta left.", make_contact(zoe, "Greta"))
    wish = Erasure.objects.create(end_user=zoe, due_at=due, message_ids=[message.pk])
    client = signed_in("viewer")
    pages = [reverse("dashboard:home"), reverse("dashboard:user", args=[zoe.pk])]
    for page in pages:
        shown = " ".join(client.get(page).content.decode().split())
        assert "1 message ·" in shown
        assert "0 memories" not in shown
    wish.memory_ids = [memory.pk]
    wish.save()
    for page in pages:
        shown = " ".join(client.get(page).content.decode().split())
        assert "1 memory · 1 message ·" in shown


@pytest.mark.parametrize(
    ("decision", "text", "subtype"),
    [
        ("person", "A friend sails.", "friend"),
        ("self", "A friend sails.", "friend"),
        ("self", "My brother sails.", "self"),
        ("person", "昨天我弟弟去划船 sails", "other"),
    ],
)
def test_what_was_told_of_a_person_and_got_none_is_decided(
    zoe: EndUser, decision: str, text: str, subtype: str, capsys: pytest.CaptureFixture[str]
) -> None:
    greta = make_contact(zoe, "Greta")
    left = make_memory(zoe, text, subtype=subtype)
    make_memory(zoe, "A friend sings.", greta, subtype="friend", content_hash="linked")
    make_memory(zoe, "I sing.", subtype="self", content_hash="own")
    Memory.objects.update(created_at=timezone.now() - timedelta(hours=1))
    make_memory(zoe, "A friend has just come.", subtype="friend", content_hash="new")
    sync_contacts.note_unlinked(zoe.pk)
    schedules.install()
    call_command("doctor", "--json")
    assert "1 memory mentions a friend" in capsys.readouterr().out
    client = signed_in("admin")
    listed = reverse("dashboard:memories", args=[zoe.pk]) + "?about=nobody"
    assert [one.pk for one in client.get(listed).context["page"].rows] == [left.pk]
    found = client.get(f"{listed}&q=sails sings").context["results"]
    assert [memory.pk for _hit, memory in found] == [left.pk]
    act = reverse("dashboard:about-memory", args=[zoe.pk, left.pk])
    assert client.post(act).status_code == 422
    assert client.post(act, {decision: str(greta.pk)}).status_code == 302
    assert home(client)["counts"]["nobody"] == 0
    undo_change(Change.objects.get(), actor="operator:x")
    assert home(client)["counts"]["nobody"] == 1


def test_a_model_server_that_refuses_everything_is_one_cause(zoe: EndUser) -> None:
    cause = Reason("server_status", status="401 (invalid_api_key)")
    for number in range(1, 4):
        Batch.objects.create(
            end_user=zoe, first_seq=number, last_seq=number, state="failed",
            error=Reason("server_refuses", cause=cause).stored,
        )  # fmt: skip
    for model in ("one", "two"):
        Outage.objects.create(provider="openai", model=model, error=cause.stored)
    response = signed_in("viewer").get(reverse("dashboard:home"))
    page = response.content.decode()
    assert page.count("The model server answered 401 (invalid_api_key).") == 1
    assert "3 pieces of work continue" in page
    assert "Up to date" not in page
    assert response.context["health"].failed == 0
    limited = home(signed_in("admin", [make_app(name="other")]))
    assert limited["health"].refusal["waiting"] == 0


def test_work_that_failed_is_told_with_its_cause_before_it_is_in_quarantine(zoe: EndUser) -> None:
    error = Reason("server_status", status=503).stored
    retry = timezone.now() + timedelta(minutes=3, seconds=30)
    for number in (1, 2):
        Batch.objects.create(end_user=zoe, first_seq=number, last_seq=number, state="failed",
                             error=error, retry_at=retry)  # fmt: skip
    Consolidation.objects.create(end_user=zoe, contact=make_contact(zoe), state="running")
    page = signed_in("viewer").get(reverse("dashboard:home")).content.decode()
    assert "Work failed and is tried again" in page
    assert page.count("The model server answered 503.") == 1
    shown = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert "2 batches of messages The model server answered 503. next try in 3 minutes" in shown
    assert f'href="{reverse("dashboard:pipeline")}?state=failed"' in page
    assert f'href="{reverse("dashboard:consolidations")}?state=running">1 consolidation<' in page
    assert "Up to date" not in page


def test_home_tells_what_came_of_asking_whom_messages_mean(zoe: EndUser, settings: object) -> None:
    settings.MIO_LLM, settings.MIO_RESOLVE_MODEL = "openai", "tiny"
    for outcome in ("ok", "changed", "late", "late"):
        ModelCall.objects.create(
            end_user=zoe, provider="openai", model="tiny", purpose="who", outcome=outcome
        )
    client = signed_in("viewer")
    page = client.get(reverse("dashboard:home"))
    assert "4 times; otherwise than without the model: 1; late: 2" in page.content.decode()
    assert page.context["failures"] == 0
    assert "slow model" not in page.content.decode()
    SlowModel.objects.create(model="tiny", since=timezone.now())
    assert "slow model" in client.get(reverse("dashboard:home")).content.decode()


def test_who_works_for_another_app_sees_none_of_it(zoe: EndUser) -> None:
    make_memory(zoe, "Greta left.", make_contact(zoe, "Greta"))
    Link.objects.update(confidence=0.5)
    ModelCall.objects.create(
        end_user=zoe, provider="p", model="m", purpose="x", outcome="ok", tokens_in=7
    )
    limited = signed_in("admin", [make_app(name="other")])
    assert home(limited)["total"] == 0
    pages = [one.get(reverse("dashboard:home")).content for one in (limited, signed_in("admin"))]
    assert [b">zoe<" in page for page in pages] == [False, True]
    assert home(limited)["charts"] == []


def test_tokens_and_cost_are_those_of_the_last_two_weeks(zoe: EndUser, settings: object) -> None:
    settings.MIO_TOKEN_PRICES = {"m": [1.0, 2.0]}
    call = {"end_user": zoe, "provider": "p", "model": "m", "purpose": "x", "outcome": "ok"}
    ModelCall.objects.create(**call, tokens_in=1_000_000, tokens_out=500_000)
    old = ModelCall.objects.create(**call, tokens_in=9)
    ModelCall.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=DAYS + 1))
    context = home(signed_in("viewer"))
    tokens, cost = context["charts"]
    assert cost["summary"] == "$2.00 in the last 14 days"
    assert [bar["height"] for bar in cost["bars"] if bar["height"]] == [HEIGHT]
    assert "1,500,000" in tokens["summary"]


def test_a_model_without_a_known_price_shows_no_cost(zoe: EndUser) -> None:
    ModelCall.objects.create(
        end_user=zoe, provider="p", model="unheard-of", purpose="x", outcome="ok", tokens_in=7
    )
    context = home(signed_in("viewer"))
    assert len(context["charts"]) == 1
    assert not context["free"]


def test_lag_is_since_the_first_message_that_no_batch_has_read(zoe: EndUser) -> None:
    viewer = signed_in("viewer")
    for _ in range(3):
        make_message(zoe)
    EndUser.objects.filter(pk=zoe.pk).update(extracted_seq=1)
    long_ago = timezone.now() - timedelta(hours=5)
    Message.objects.filter(seq=1).update(received_at=long_ago - timedelta(days=1))
    Message.objects.filter(seq=2).update(received_at=long_ago)
    assert home(viewer)["health"].oldest == long_ago
    EndUser.objects.filter(pk=zoe.pk).update(extracted_seq=3)
    assert home(viewer)["health"].oldest is None


def test_a_contradiction_stands_in_the_queue(zoe: EndUser) -> None:
    values = [{"value": value, "sources": [], "since": None} for value in ("Acme", "Brightwater")]
    make_contact(zoe, "Greta", attributes={"company": values})
    page = signed_in("viewer").get(reverse("dashboard:home"))
    assert page.context["counts"]["conflicts"] == 1
    assert b"two values, only one can be right" in page.content


def test_the_fallback_rate_is_of_the_day(zoe: EndUser) -> None:
    Retrieval.objects.create(end_user=zoe, day=timezone.localdate(), linked=3, fallback=1)
    (chart,) = home(signed_in("viewer"))["charts"]
    assert "25%" in chart["summary"]


def test_the_live_part_is_the_same_partial(zoe: EndUser) -> None:
    make_message(zoe)
    fragment = signed_in("viewer").get(reverse("dashboard:health")).content.decode()
    assert "1 message waits to be read" in fragment
    assert "<html" not in fragment


def test_home_takes_the_same_statements_however_much_waits(zoe: EndUser) -> None:
    viewer = signed_in("viewer")

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            home(viewer)
        return len(queries)

    def doubt(name: str) -> None:
        make_memory(zoe, f"{name} left.", make_contact(zoe, name))
        Link.objects.update(confidence=0.5)

    doubt("Greta")
    statements()
    few = statements()
    for place in range(8):
        doubt(f"Person {place}")
    assert statements() == few


def test_bars_fill_the_box_and_nothing_is_no_bar() -> None:
    chart = bars([0, 5, 10, 0.001], "abcd", "words", "{:.0f} €")
    assert chart["top"] == "10 €"
    assert bars([0], "a", "words", "{:.0f}")["top"] == ""
    heights = [bar["height"] for bar in chart["bars"]]
    assert heights[0] == 0
    assert heights[2] == HEIGHT
    assert heights[1] == HEIGHT / 2
    assert heights[3] == LEAST
    assert [bar["y"] + bar["height"] for bar in chart["bars"]] == [HEIGHT] * 4
    assert bars([], "", "none", "{}")["bars"] == []
