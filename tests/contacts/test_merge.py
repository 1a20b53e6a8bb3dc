"""Merging, splitting and telling apart over HTTP; and the pure uniting of what is known."""

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import EndUser
from contacts import merge_values, store
from contacts.models import Contact, Suggestion
from memories.corrections import derived
from memories.models import Memory
from tests.api import ApiClient, assert_error
from tests.factories import json_value, make_contact, make_end_user, make_memory

ADDRESS = "users/zoe/contacts/"


@pytest.fixture
def client(db: None) -> ApiClient:
    return ApiClient()


@pytest.fixture
def zoe(client: ApiClient) -> EndUser:
    return make_end_user(app=client.app, external_id="zoe", language="zh")


@pytest.fixture
def pair(zoe: EndUser) -> tuple[Contact, Contact]:
    """阿芳 and 林芳 with a memory each and jobs that contradict each other."""
    fang = make_contact(zoe, "阿芳", attributes={"job_title": [json_value("护士")]})
    lin = make_contact(zoe, "林芳", attributes={"job_title": [json_value("医生")]})
    make_memory(zoe, "阿芳养了一只猫", fang)
    make_memory(zoe, "林芳喜欢游泳", lin)
    for contact in (fang, lin):
        derived.write_profile_memory(contact)
    return fang, lin


def test_a_merge_answers_with_the_survivor_and_so_does_the_old_id(client, zoe, pair):
    fang, lin = pair
    before = client.get(f"{ADDRESS}{lin.id}/")[1]
    status, body = client.post(f"{ADDRESS}{fang.id}/merge/", {"into": str(lin.id), "why": "same"})
    assert status == 200
    assert body["id"] == str(lin.id)
    assert body["merged_from"] == [str(fang.id)]
    assert body["aliases"] == ["阿芳"]
    assert len(body["memory_ids"]) == len(before["memory_ids"]) + 1
    assert body["attributes"]["job_title"] == ["医生", "护士"]
    status, old = client.get(f"{ADDRESS}{fang.id}/")
    assert (status, old["id"], old["merged_from"]) == (200, str(lin.id), [str(fang.id)])
    status, listed = client.get(ADDRESS)
    assert [row["id"] for row in listed["results"]] == [str(lin.id)]
    status, found = client.post(
        "users/zoe/context/", {"message": "阿芳怎么样", "include": ["cards", "linked"]}
    )
    assert [row["name"] for row in found["contacts"]] == ["林芳"]
    status, linked = client.get(f"users/zoe/memories/?contact={fang.id}")
    assert linked["count"] == 2
    status, edited = client.patch(f"{ADDRESS}{fang.id}/", {"gender": "female"})
    assert (status, edited["id"]) == (200, str(lin.id))
    status, _ = client.post(f"users/zoe/changes/{edited['change_id']}/undo/", {})
    assert status == 200

    status, _ = client.post(f"users/zoe/changes/{body['change_id']}/undo/", {})
    assert status == 200
    back = client.get(f"{ADDRESS}{lin.id}/")[1]
    same = [key for key in before if key not in ("updated_at", "memory_ids", "memory_count")]
    assert {key: back[key] for key in same} == {key: before[key] for key in same}
    assert client.get(f"{ADDRESS}{fang.id}/")[1]["name"] == "阿芳"


def test_merges_that_make_no_sense_are_refused(client, zoe, pair):
    fang, lin = (str(contact.id) for contact in pair)
    stranger = str(make_contact(make_end_user(), "阿芳").id)
    merge = f"{ADDRESS}{fang}/merge/"
    assert_error(client.post(merge, {"into": fang}), 409, "conflict")
    assert_error(client.post(f"{ADDRESS}{uuid4()}/merge/", {"into": lin}), 404, "unknown_contact")
    assert_error(client.post(f"{ADDRESS}{stranger}/merge/", {"into": lin}), 404)
    for into in (stranger, str(uuid4())):
        assert "into" in assert_error(client.post(merge, {"into": into}), 400)["fields"]
    for body in ({}, {"into": 7}, {"into": "x"}, {"into": None}, {"into": lin, "x": 1}, []):
        assert_error(client.post(merge, body), 400)
    assert client.post(merge, {"into": lin})[0] == 200
    assert_error(client.post(merge, {"into": lin}), 409)
    assert_error(client.post(f"{ADDRESS}{lin}/merge/", {"into": fang}), 409)


def test_a_split_answers_with_the_new_contact(client, zoe, pair):
    fang, lin = pair
    memory = Memory.objects.get(content="林芳喜欢游泳")
    status, body = client.post(
        f"{ADDRESS}{lin.id}/split/",
        {"memories": [str(memory.id)], "name": "林芳", "relationship": "同事"},
    )
    assert status == 201
    assert (body["name"], body["relationship"]) == ("林芳", "同事")
    assert body["id"] != str(lin.id)
    assert body["memory_ids"] == [str(memory.id)]
    assert str(memory.id) not in client.get(f"{ADDRESS}{lin.id}/")[1]["memory_ids"]
    split = f"{ADDRESS}{fang.id}/split/"
    assert_error(client.post(split, {"memories": [str(memory.id)], "name": "x"}), 409)
    assert_error(client.post(split, {"memories": [], "name": "x"}), 400)
    assert_error(client.post(split, {"memories": [str(memory.id)], "name": "…"}), 400)
    assert client.post(f"users/zoe/changes/{body['change_id']}/undo/", {})[0] == 200
    assert client.get(f"{ADDRESS}{body['id']}/")[0] == 404


def test_not_the_same_is_remembered(client, zoe, pair):
    fang, lin = (str(contact.id) for contact in pair)
    status, body = client.post(f"{ADDRESS}{fang}/not-the-same/", {"other": lin})
    assert (status, body["id"]) == (200, fang)
    suggestion = Suggestion.objects.get()
    assert (suggestion.state, suggestion.decided_by) == ("different", f"app:{client.app.name}")
    assert_error(client.post(f"{ADDRESS}{fang}/not-the-same/", {"other": fang}), 409)
    assert client.post(f"users/zoe/changes/{body['change_id']}/undo/", {})[0] == 200
    assert not Suggestion.objects.exists()


def test_a_conflict_is_resolved(client, zoe, pair):
    fang, lin = pair
    client.post(f"{ADDRESS}{fang.id}/merge/", {"into": str(lin.id)})
    status, body = client.post(
        f"{ADDRESS}{fang.id}/resolve/", {"key": "job_title", "value": "护士"}
    )
    assert status == 200
    assert body["attributes"]["job_title"] == "护士"
    assert "医生" not in body["card"]
    assert_error(
        client.post(f"{ADDRESS}{lin.id}/resolve/", {"key": "job_title", "value": "画家"}), 409
    )


def test_a_role_that_only_the_loser_had_still_finds_the_person(client, zoe):
    boss = make_contact(zoe, "周姐", relationship="老板")
    friend = make_contact(zoe, "周敏", relationship="朋友")
    client.post(f"{ADDRESS}{boss.id}/merge/", {"into": str(friend.id)})
    contact = Contact.objects.get(pk=friend.pk)
    assert contact.relationship == "朋友"
    assert contact.aliases == ["周姐", "老板"]
    assert "kin:boss" in {key.key for key in store.keys_of(contact.person)}


ENTRY = st.builds(
    lambda value, sources: {"value": value, "sources": sources, "since": None},
    st.sampled_from(["red", "Red", "blue", "green"]),
    st.lists(st.sampled_from("abcd"), unique=True),
)
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["likes", "company"]),
    st.lists(ENTRY, min_size=1, unique_by=lambda entry: entry["value"].lower()),
)


@given(ATTRIBUTES, ATTRIBUTES)
def test_uniting_loses_no_value_and_repeats_none(mine: Any, theirs: Any) -> None:
    united = merge_values.attributes(mine, theirs)
    for key, entries in [*mine.items(), *theirs.items()]:
        kept = {entry["value"].lower() for entry in united[key]}
        assert kept >= {entry["value"].lower() for entry in entries}
    for entries in united.values():
        values = [entry["value"].lower() for entry in entries]
        assert len(values) == len(set(values))
    assert merge_values.attributes(united, theirs) == united


def test_events_are_in_order_and_each_once() -> None:
    def event(text: str, at: str, *sources: str) -> dict[str, Any]:
        return {"text": text, "at": at, "sources": list(sources)}

    mine = [event("born", "1990", "a"), event("moved", "2020-05", "b"), event("hm", "", "b")]
    theirs = [event("school", "1997", "c"), event("Moved", "2020-05", "d")]
    assert merge_values.timeline(mine, theirs) == [
        event("born", "1990", "a"),
        event("school", "1997", "c"),
        event("moved", "2020-05", "b", "d"),
        event("hm", "", "b"),
    ]
