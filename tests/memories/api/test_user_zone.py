"""The time zone of a user over HTTP, and the days of what is answered."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import EndUser
from memories.models import Memory, Message
from memories.providers.factory import embedder
from memories.search import recall
from memories.search.recall import SearchRequest
from tests.api import assert_error
from tests.factories import make_contact, make_end_user, make_memory


def test_a_users_time_zone_is_set_shown_and_taken_away(client):
    assert_error(client.get("users/ann/"), 404, "unknown_user")
    status, ann = client.patch("users/ann/", {"time_zone": "Asia/Shanghai"})
    assert (status, ann["days_in"]) == (200, "Asia/Shanghai")
    assert client.get("users/ann/") == (200, ann)
    assert client.patch("users/ann/", {"time_zone": ""})[1]["days_in"] == "UTC"
    client.post(
        "users/ann/messages/",
        {
            "messages": [
                {"role": "user", "content": "hi", "created_at": "2026-03-03T00:30:00+08:00"}
            ]
        },
    )
    ann = client.get("users/ann/")[1]
    told = {"time_zone": "", "days_in": "UTC+08:00", "learnt_offset": 480}
    assert told.items() <= ann.items()
    message = Message.objects.get()
    assert (message.created_at.hour, message.utc_offset) == (16, 480)
    assert EndUser.objects.get().last_active_on.day == 3


def test_the_apps_time_zone_is_that_of_users_who_have_none(client):
    make_end_user(app=client.app, external_id="ann")
    status, app = client.patch("app/", {"time_zone": "Europe/Berlin"})
    assert (status, app) == (200, client.get("app/")[1])
    assert app == {
        "name": client.app.name,
        "time_zone": "Europe/Berlin",
        "days_in": "Europe/Berlin",
    }
    assert client.get("users/ann/")[1]["days_in"] == "Europe/Berlin"


@pytest.mark.parametrize("address", ["app/", "users/ann/"])
@pytest.mark.parametrize("name", ["Mars/Olympus", "+08:00", 8, None, "x" * 99])
def test_what_is_no_time_zone_is_refused(client, address, name):
    error = assert_error(client.patch(address, {"time_zone": name}), 400)
    assert list(error["fields"]) == ["time_zone"]
    assert not EndUser.objects.exists()


def test_times_are_given_out_by_the_clock_they_were_told_by(client, zoe):
    zoe.settle("Asia/Shanghai")
    body = {"content": "Greta plays the cello.", "happens_at": "2026-05-01T10:00:00+02:00"}
    body |= {"valid_from": "2026-04-30T16:00:00Z"}
    _, memory = client.post("users/zoe/memories/", body)
    assert memory["happens_at"] == "2026-05-01T10:00:00+02:00"
    assert memory["said_at"].endswith("+08:00")
    assert memory["valid_from"] == "2026-05-01T00:00:00+08:00"
    address = f"users/zoe/memories/{memory['id']}/"
    # UTC says nothing of a place: it is the user's clock.
    for sent, shown in (
        ("2026-05-01T10:00:00Z", "2026-05-01T18:00:00+08:00"),
        ("2026-05-01T10:00:00", "2026-05-01T18:00:00+08:00"),
        (None, None),
    ):
        _, memory = client.patch(address, {"happens_at": sent})
        assert memory["happens_at"] == shown
    client.post(f"users/zoe/changes/{memory['change_id']}/undo/", {})
    assert client.get(address)[1]["happens_at"] == "2026-05-01T18:00:00+08:00"


def test_a_question_asks_about_the_days_of_the_user(client, zoe):
    zoe.settle("Asia/Shanghai")
    for query in ("昨天发生了什么？", "What happened yesterday?"):
        found = client.post("users/zoe/search/", {"query": query})[1]["range"]
        since, until = map(datetime.fromisoformat, (found["since"], found["until"]))
        assert (f"{since:%H:%M %z}", until - since) == ("00:00 +0800", timedelta(days=1))
        assert timedelta(0) <= timezone.now() - until <= timedelta(days=1)


def test_a_search_reads_the_days_of_a_question_in_the_users_zone(client, zoe):
    """It is half past midnight in Shanghai, and still the day before in UTC."""
    zoe.settle("Asia/Shanghai")
    now = datetime(2026, 3, 2, 16, 30, tzinfo=UTC)
    morning = datetime(2026, 3, 2, 2, tzinfo=UTC)
    make_memory(zoe, "小红去了博物馆", said_at=morning, said_offset=480)
    (hit,) = recall.search(zoe, SearchRequest("昨天小红去了哪里？", now=now), embedder=embedder())
    assert hit.in_range


def test_an_event_stays_in_its_days_wherever_its_user_is(client, zoe):
    """Of the 12th in Shanghai, asked for in Lima; and what is of the 12th only for UTC."""
    zoe.settle("America/Lima")
    for content, at in (
        ("Greta went skating", "2026-03-12T00:00:00+08:00"),
        ("Greta went swimming", "2026-03-13T00:30:00+08:00"),
    ):
        client.post("users/zoe/memories/", {"content": content, "happens_at": at})
    found = client.post("users/zoe/search/", {"query": "What did Greta do on 2026-03-12?"})[1]
    assert {one["content"]: one["in_range"] for one in found["results"]} == {
        "Greta went skating": True,
        "Greta went swimming": False,
    }


def test_a_prompt_dates_what_was_said_by_the_clock_of_who_said_it(client, zoe):
    at = datetime(2026, 3, 2, 16, 30, tzinfo=UTC)
    make_memory(zoe, "Greta hums", make_contact(zoe, "Greta"), said_at=at, said_offset=480)
    body = {"message": "How is Greta?", "include": ["linked"]}
    context = client.post("users/zoe/context/", body)[1]
    assert "- [2026-03-03] Greta hums" in context["system_prompt"]


def test_a_context_reads_no_more_for_a_zone_that_is_the_apps(client, zoe):
    make_memory(zoe, "Greta hums", make_contact(zoe, "Greta"))
    Memory.objects.update(status="outdated", valid_to=timezone.now())
    counts = []
    for zone in ("", "Asia/Shanghai", ""):  # the first makes the note of the day
        zoe.settle(zone)
        with CaptureQueriesContext(connection) as statements:
            client.post("users/zoe/context/", {"message": "Where did Greta use to live last week?"})
        counts.append(len(statements))
    assert counts[1] == counts[2]
