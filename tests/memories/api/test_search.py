"""The filters of the search endpoint, and what it says of each result."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import EndUser
from memories.models import Edge
from tests.api import ApiClient, assert_error
from tests.factories import make_contact, make_memory

pytestmark = pytest.mark.django_db


def search(client: ApiClient, query: str, **asked: Any) -> dict[str, Any]:
    status, reply = client.post("users/zoe/search/", {"query": query, **asked})
    assert status == 200
    return reply


def contents(reply: dict[str, Any]) -> list[str]:
    return [row["content"] for row in reply["results"]]


def test_the_intent_and_the_time_asked_about_are_shown(client: ApiClient, zoe: EndUser) -> None:
    make_memory(zoe, "Greta rowed", said_at=timezone.now() - timedelta(days=400))
    make_memory(zoe, "Greta swam", said_at=timezone.now() - timedelta(days=1))
    reply = search(client, "What did Greta do yesterday?")
    assert reply["intent"] == "recall"
    assert reply["range"]["words"] == "yesterday"
    assert reply["range"]["since"] < reply["range"]["until"]
    assert contents(reply) == ["Greta swam", "Greta rowed"]
    assert [row["in_range"] for row in reply["results"]] == [True, False]
    untimed = search(client, "Greta", intent="explore")
    assert (untimed["intent"], untimed["range"]) == ("explore", None)


def test_results_are_narrowed_as_asked(client: ApiClient, zoe: EndUser) -> None:
    greta, ines = make_contact(zoe, "Greta"), make_contact(zoe, "Ines")
    make_memory(zoe, "Greta plays chess", greta, type="activity", importance=0.9)
    make_memory(zoe, "Greta likes chess", greta, type="preference", importance=0.2)
    make_memory(zoe, "Ines plays chess", ines, type="activity", importance=0.5)
    make_memory(zoe, "Greta played go", greta, type="activity", status="archived")
    assert contents(search(client, "plays chess", types=["preference"])) == ["Greta likes chess"]
    assert contents(search(client, "plays chess", contacts=[str(ines.id)])) == ["Ines plays chess"]
    assert contents(search(client, "chess", min_importance=0.6)) == ["Greta plays chess"]
    assert contents(search(client, "go", statuses=["archived"])) == ["Greta played go"]
    later = (timezone.now() + timedelta(days=1)).isoformat()
    assert contents(search(client, "chess", since=later)) == []
    assert len(contents(search(client, "chess yesterday", until=later))) == 3
    assert search(client, "chess yesterday", until=later)["range"] is None


def test_history_says_what_took_its_place(client: ApiClient, zoe: EndUser) -> None:
    old = make_memory(zoe, "Greta loves pizza", status="outdated")
    new = make_memory(zoe, "Greta no longer eats cheese")
    Edge.objects.create(end_user=zoe, source=new, target=old, kind="supersedes")
    rows = search(client, "Does Greta love pizza?", include_outdated=True)["results"]
    history = next(row for row in rows if row["id"] == str(old.id))
    assert history["history"] is True
    assert history["superseded_by"] == [str(new.id)]
    assert [row["history"] for row in rows if row["id"] == str(new.id)] == [False]


def test_a_result_tells_the_way_to_it(client: ApiClient, zoe: EndUser) -> None:
    quit_ = make_memory(zoe, "Greta quit the bakery")
    why = make_memory(zoe, "Night shifts are long", said_at=timezone.now() - timedelta(days=900))
    Edge.objects.create(end_user=zoe, source=quit_, target=why, kind="motivated_by")
    for n in range(30):
        make_memory(zoe, f"Rain on day {n}")
    rows = search(client, "Why did Greta quit?", limit=2)["results"]
    assert (rows[0]["hops"], rows[0]["path"]) == (0, [])
    assert rows[1]["id"] == str(why.id)
    assert rows[1]["hops"] == 1
    assert rows[1]["path"] == [{"kind": "motivated_by", "memory": str(quit_.id)}]
    without = search(client, "Why did Greta quit?", limit=2, hops=0)["results"]
    assert str(why.id) not in [row["id"] for row in without]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("types", ["guess"]),
        ("statuses", []),
        ("statuses", ["gone"]),
        ("contacts", ["x"]),
        ("contacts", ["8b1c2c3e-0000-4000-8000-000000000000"]),
        ("since", "soon"),
        ("min_importance", 1.1),
        ("min_importance", "high"),
        ("hops", 3),
        ("hops", True),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(
    client: ApiClient, zoe: EndUser, field: str, value: Any
) -> None:
    body = {"query": "chess", field: value}
    (named,) = assert_error(client.post("users/zoe/search/", body), 400)["fields"]
    assert named.partition("[")[0] == field


def test_a_range_must_begin_before_it_ends(client: ApiClient, zoe: EndUser) -> None:
    body = {"query": "x", "since": "2026-02-02T00:00Z", "until": "2026-02-02T00:00Z"}
    assert "until" in assert_error(client.post("users/zoe/search/", body), 400)["fields"]
