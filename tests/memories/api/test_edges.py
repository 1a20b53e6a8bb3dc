"""The graph over HTTP."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import EndUser
from memories.models import Edge, Memory
from tests.api import ApiClient, assert_error
from tests.factories import make_end_user, make_memory

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(zoe: EndUser) -> list[Memory]:
    return [make_memory(zoe, f"memory {n}") for n in range(3)]


def address(memory: Memory, rest: str = "") -> str:
    return f"users/zoe/memories/{memory.pk}/edges/{rest}"


def joined(source: Memory, target: Memory, kind: str) -> Edge:
    return Edge.objects.create(
        end_user=source.end_user, source=source, target=target, kind=kind, reason="so it is"
    )


def results(client: ApiClient, at: str) -> list[dict[str, Any]]:
    status, body = client.get(at)
    assert status == 200
    assert set(body) == {"results"}
    return body["results"]


def test_edges_are_told_from_the_memory_that_was_asked_for(
    client: ApiClient, three: list[Memory]
) -> None:
    a, b, c = three
    joined(a, b, "causes")
    joined(c, a, "supersedes")

    older, effect = results(client, address(a))

    assert (older["kind"], older["direction"]) == ("supersedes", "in")
    assert (effect["kind"], effect["direction"]) == ("causes", "out")
    assert effect["via"] == str(a.pk)
    assert (effect["hops"], effect["confidence"], effect["weight"]) == (1, 1.0, 0.8)
    assert effect["reason"] == "so it is"
    assert effect["memory"] == {
        "id": str(b.pk), "content": "memory 1", "type": "personal", "status": "active",
        "said_at": effect["memory"]["said_at"],
    }  # fmt: skip
    assert [edge["direction"] for edge in results(client, address(b))] == ["in"]


def test_two_hops_tell_the_memory_between(client: ApiClient, three: list[Memory]) -> None:
    a, b, c = three
    joined(a, b, "causes")
    joined(b, c, "conflicts")
    near, far = results(client, address(a, "?hops=2"))
    assert (near["via"], far["via"]) == (str(a.pk), str(b.pk))
    assert (far["hops"], far["kind"], far["direction"]) == (2, "conflicts", "both")


def test_kind_and_limit_narrow_what_is_told(client: ApiClient, three: list[Memory]) -> None:
    a, b, c = three
    joined(a, b, "causes")
    joined(a, c, "shares_entity:里斯本")
    assert len(results(client, address(a, "?limit=1"))) == 1
    for kind, told in (("causes", b), ("shares_entity", c), ("shares_entity:里斯本", c)):
        (edge,) = results(client, address(a, f"?kind={kind}"))
        assert edge["memory"]["id"] == str(told.pk)
    assert results(client, address(a, "?kind=conflicts")) == []


def test_archived_memories_are_not_told(client: ApiClient, three: list[Memory]) -> None:
    a, b, _ = three
    joined(a, b, "causes")
    status, _ = client.patch(f"users/zoe/memories/{b.pk}/", {"status": "archived"})
    assert status == 200
    assert results(client, address(a)) == []


@pytest.mark.parametrize(
    "query",
    [
        "hops=0",
        "hops=3",
        "hops=x",
        "kind=",
        "kind=friend",
        "kind=a%00b",
        "limit=0",
        "limit=101",
        "hop=1",
    ],
)
def test_a_query_that_means_nothing_is_refused(
    client: ApiClient, three: list[Memory], query: str
) -> None:
    assert_error(client.get(address(three[0], f"?{query}")), 400)


def test_the_cost_does_not_grow_with_the_edges(
    client: ApiClient, zoe: EndUser, three: list[Memory]
) -> None:
    a, *_ = three

    def cost() -> int:
        with CaptureQueriesContext(connection) as statements:
            results(client, address(a))
        return len(statements)

    joined(a, three[1], "causes")
    cost()
    few = cost()
    for n in range(20):
        joined(a, make_memory(zoe, f"more {n}"), "causes")
    assert cost() == few


def test_an_app_states_an_edge_and_takes_it_away(client: ApiClient, three: list[Memory]) -> None:
    a, b, _ = three
    body = {"target": str(b.pk), "kind": "motivated_by", "why": "said at lunch"}
    status, made = client.post(address(a), body)
    assert status == 201
    assert (made["source"], made["target"]) == (str(a.pk), str(b.pk))
    assert (made["kind"], bool(made["change_id"])) == ("motivated_by", True)
    again = client.post(address(a), body)
    assert again == (200, {**made, "change_id": None})

    (seen,) = results(client, address(b))
    status, gone = client.call("DELETE", address(b, f"{seen['id']}/"))
    assert (status, list(gone)) == (200, ["change_id"])
    assert results(client, address(a)) == []

    assert client.post(f"users/zoe/changes/{gone['change_id']}/undo/", {})[0] == 200
    assert len(results(client, address(a))) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"target": None}, {"target": "x"}, {"target": 1}, {"kind": "supersedes"}, {"kind": "shares_entity:x"},
        {"kind": 1}, {"kind": None}, {"why": 1}, {"why": "x" * 501}, {"confidence": 1},
    ],
)  # fmt: skip
def test_a_body_that_states_no_edge_is_refused_by_field(
    client: ApiClient, three: list[Memory], change: dict[str, Any]
) -> None:
    body = {"target": str(three[1].pk), "kind": "causes", **change}
    error = assert_error(client.post(address(three[0]), body), 400)
    assert list(error["fields"]) == list(change)
    assert not Edge.objects.exists()


def test_an_edge_to_itself_or_to_an_archived_memory_is_a_conflict(
    client: ApiClient, zoe: EndUser, three: list[Memory]
) -> None:
    a, *_ = three
    archived = make_memory(zoe, "old", status="archived")
    for target in (a, archived):
        assert_error(client.post(address(a), {"target": str(target.pk), "kind": "causes"}), 409)


def test_where_a_memory_comes_from_cannot_be_taken_away(
    client: ApiClient, three: list[Memory]
) -> None:
    a, b, _ = three
    edge = joined(a, b, "supersedes")
    assert_error(client.call("DELETE", address(a, f"{edge.pk}/")), 409)


def test_unknown_memories_and_edges_are_404(client: ApiClient, three: list[Memory]) -> None:
    a, b, c = three
    edge = joined(a, b, "causes")
    unknown = f"users/zoe/memories/{uuid4()}/edges/"
    body = {"target": str(b.pk), "kind": "causes"}
    for reply in (
        client.get(unknown),
        client.post(unknown, body),
        client.call("DELETE", f"{unknown}{edge.pk}/"),
    ):
        assert_error(reply, 404, "unknown_memory")
    for wrong in (edge.pk + 10_000, 2**63, 10**30):
        assert_error(client.call("DELETE", address(a, f"{wrong}/")), 404, "unknown_edge")
    assert_error(client.call("DELETE", address(c, f"{edge.pk}/")), 404, "unknown_edge")
    assert Edge.objects.exists()


def test_another_users_memory_is_no_target_and_its_edges_are_not_shown(
    client: ApiClient, three: list[Memory]
) -> None:
    yan = make_end_user(app=client.app, external_id="yan")
    theirs, more = make_memory(yan, "theirs"), make_memory(yan, "more")
    edge = joined(theirs, more, "causes")
    a = three[0]
    error = assert_error(client.post(address(a), {"target": str(theirs.pk), "kind": "causes"}), 400)
    assert list(error["fields"]) == ["target"]
    assert_error(client.get(address(theirs)), 404, "unknown_memory")
    assert_error(client.call("DELETE", address(a, f"{edge.pk}/")), 404, "unknown_edge")
    assert Edge.objects.get() == edge
