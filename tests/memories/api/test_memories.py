"""Memories over HTTP: listed, added, corrected and moved."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Change, EndUser
from memories.models import Edge, Memory
from tests.api import ApiClient, assert_error
from tests.factories import make_contact, make_memory
from tests.queue import queued

pytestmark = pytest.mark.django_db


def test_memories_are_listed_by_status_kind_type_contact_and_words(
    client: ApiClient, zoe: EndUser
) -> None:
    greta = make_contact(zoe, "Greta")
    cello = make_memory(zoe, "Greta plays the cello.", greta, type="preference")
    rain = make_memory(zoe, "下雨天小明喜欢看书。")
    old = make_memory(zoe, "Greta lived in Rome.", greta, status="outdated")
    Edge.objects.create(end_user=zoe, source=cello, target=old, kind="supersedes")
    profile = make_memory(zoe, "Greta: plays the cello", greta, kind="profile")

    def listed(query: str = "") -> set[str]:
        status, body = client.get(f"users/zoe/memories/{query}")
        assert status == 200
        assert body["count"] == len(body["results"])
        return {row["id"] for row in body["results"]}

    assert listed() == {str(cello.id), str(rain.id)}
    assert listed("?status=outdated") == {str(old.id)}
    assert listed("?status=all&kind=all") == {str(m.id) for m in (cello, rain, old, profile)}
    assert listed("?kind=profile") == {str(profile.id)}
    assert listed("?type=preference") == {str(cello.id)}
    assert listed(f"?contact={greta.id}&status=all") == {str(cello.id), str(old.id)}
    assert listed("?q=cellos") == {str(cello.id)}
    assert listed("?q=看书") == {str(rain.id)}
    row = client.get(f"users/zoe/memories/{old.id}/")[1]
    assert row["superseded_by"] == [str(cello.id)]
    assert row["metadata"] == {}


def test_a_list_of_memories_takes_the_same_statements_whatever_its_length(
    client: ApiClient, zoe: EndUser
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get("users/zoe/memories/")[0] == 200
        return len(queries)

    greta = make_contact(zoe, "Greta")
    make_memory(zoe, "Greta sings.", greta)
    client.get("users/zoe/memories/")
    few = statements()
    for number in range(20):
        make_memory(zoe, f"Greta sings song {number}.", greta)
    assert statements() == few <= 6


@pytest.mark.parametrize(
    "query", ["status=gone", "kind=x", "type=x", "contact=7", "limit=-1", "q=%00", "sort=age"]
)
def test_a_bad_memory_query_is_refused(client: ApiClient, zoe: EndUser, query: str) -> None:
    assert_error(client.get(f"users/zoe/memories/?{query}"), 400, "invalid")


def test_a_memory_is_added_for_people_and_said_once(client: ApiClient) -> None:
    _, contact = client.post("users/zoe/contacts/", {"name": "Greta"})
    body = {
        "content": "Greta  plays\nthe cello.",
        "type": "preference",
        "contacts": [contact["id"], contact["id"]],
        "happens_at": "2026-05-01T10:00:00+02:00",
        "importance": 0.7,
    }
    status, memory = client.post("users/zoe/memories/", body)
    assert status == 201
    assert memory["content"] == "Greta plays the cello."
    assert (memory["contacts"], memory["type"]) == ([contact["id"]], "preference")
    assert memory["happens_at"] == "2026-05-01T10:00:00+02:00"
    assert memory["speaker"] == f"app:{client.app.name}"
    assert "memories.tasks.embed" in queued()
    assert client.get(f"users/zoe/contacts/{contact['id']}/")[1]["memory_ids"] == [memory["id"]]

    status, again = client.post("users/zoe/memories/", body)
    assert (status, again["id"], again["change_id"]) == (200, memory["id"], None)

    assert client.post(f"users/zoe/changes/{memory['change_id']}/undo/", {})[0] == 200
    assert not Memory.objects.exists()


def test_later_changes_of_the_same_are_named_and_undone_with_it(
    client: ApiClient, zoe: EndUser
) -> None:
    memory = make_memory(zoe, "Zoe sings.")
    first, second, third = (
        client.patch(f"users/zoe/memories/{memory.id}/", {"content": content, "why": content})[1]
        for content in ("Zoe sang.", "Zoe hums.", "Zoe hummed.")
    )
    address = f"users/zoe/changes/{first['change_id']}/undo/"
    error = assert_error(client.post(address, {}), 409, "later_changes")
    assert [one["id"] for one in error["changes"]] == [third["change_id"], second["change_id"]]
    assert {"verb", "actor", "why", "created_at"} <= error["changes"][0].keys()
    status, undone = client.post(address, {"with_later": True})
    assert (status, undone["undone_by"]) == (200, "app:" + zoe.app.name)
    memory.refresh_from_db()
    assert memory.content == "Zoe sings."
    assert not Change.objects.filter(undone_at=None).exists()


def test_a_memory_is_corrected_and_the_correction_undone(client: ApiClient, zoe: EndUser) -> None:
    greta = make_contact(zoe, "Greta")
    memory = make_memory(zoe, "Greta plays the cello.", greta)
    address = f"users/zoe/memories/{memory.id}/"

    status, body = client.patch(
        address, {"content": "Greta plays the viola.", "type": "activity", "importance": 1}
    )
    assert status == 200
    assert (body["content"], body["type"]) == ("Greta plays the viola.", "activity")
    greta.refresh_from_db()
    assert "viola" in greta.card

    assert client.post(f"users/zoe/changes/{body['change_id']}/undo/", {})[0] == 200
    assert client.get(address)[1]["content"] == "Greta plays the cello."
    error = assert_error(
        client.post(f"users/zoe/changes/{body['change_id']}/undo/"), 409, "cannot_undo"
    )
    assert "undone already" in error["message"]


def test_what_is_outdated_by_hand_leaves_the_card(client: ApiClient, zoe: EndUser) -> None:
    greta = make_contact(zoe, "Greta")
    memory = make_memory(zoe, "Greta plays the cello.", greta)
    _, body = client.patch(f"users/zoe/memories/{memory.id}/", {"status": "outdated"})
    assert body["status"] == "outdated"
    greta.refresh_from_db()
    assert "cello" not in greta.card


def test_a_memory_moves_to_another_person(client: ApiClient, zoe: EndUser) -> None:
    greta, oda = make_contact(zoe, "Greta"), make_contact(zoe, "Oda")
    memory = make_memory(zoe, "She plays the cello.", greta)
    address = f"users/zoe/memories/{memory.id}/move/"
    sides = {"from": str(greta.id), "to": str(oda.id)}

    status, body = client.post(address, {**sides, "why": "misread"})

    assert (status, body["contacts"]) == (200, [str(oda.id)])
    assert client.get(f"users/zoe/contacts/{greta.id}/")[1]["memory_ids"] == []
    assert Change.objects.get(pk=body["change_id"]).why == "misread"
    assert_error(client.post(address, sides), 409, "conflict")
    client.post(f"users/zoe/changes/{body['change_id']}/undo/")
    assert client.get(f"users/zoe/memories/{memory.id}/")[1]["contacts"] == [str(greta.id)]


BAD_MEMORIES: dict[str, tuple[dict[str, Any], str]] = {
    "content missing": ({}, "content"),
    "content blank": ({"content": "\n"}, "content"),
    "content too long": ({"content": "x" * 1001}, "content"),
    "type unknown": ({"content": "x", "type": "dream"}, "type"),
    "subtype unknown": ({"content": "x", "subtype": "pet"}, "subtype"),
    "importance above 1": ({"content": "x", "importance": 1.01}, "importance"),
    "importance negative": ({"content": "x", "importance": -0.1}, "importance"),
    "importance a string": ({"content": "x", "importance": "0.5"}, "importance"),
    "contact no id": ({"content": "x", "contacts": ["Greta"]}, "contacts[0]"),
    "contact a number": ({"content": "x", "contacts": [7]}, "contacts[0]"),
    "contact unknown": ({"content": "x", "contacts": [str(uuid4())]}, "contacts"),
    "time far away": ({"content": "x", "happens_at": "9999-01-01T00:00:00Z"}, "happens_at"),
    "embedding given": ({"content": "x", "embedding": [0.1]}, "embedding"),
    "status given": ({"content": "x", "status": "archived"}, "status"),
}


@pytest.mark.parametrize("kind", BAD_MEMORIES)
def test_a_bad_memory_is_refused_with_the_field_named(client: ApiClient, kind: str) -> None:
    body, field = BAD_MEMORIES[kind]
    assert field in assert_error(client.post("users/zoe/memories/", body), 400)["fields"]
    assert not Memory.objects.exists()
    assert not EndUser.objects.exists()


def test_a_profile_is_not_edited_by_hand(client: ApiClient, zoe: EndUser) -> None:
    profile = make_memory(zoe, "Greta: a cellist", kind="profile")
    reply = client.patch(f"users/zoe/memories/{profile.id}/", {"content": "x"})
    assert_error(reply, 409, "conflict")


def test_two_memories_can_not_say_the_same(client: ApiClient, zoe: EndUser) -> None:
    make_memory(zoe, "Greta sings.")
    other = make_memory(zoe, "Greta hums.")
    reply = client.patch(f"users/zoe/memories/{other.id}/", {"content": "greta SINGS."})
    assert_error(reply, 409, "conflict")
    assert client.get(f"users/zoe/memories/{other.id}/")[1]["content"] == "Greta hums."
