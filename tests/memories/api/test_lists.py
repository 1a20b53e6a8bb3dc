"""Users, sessions and messages over HTTP; metadata; and one count of memories everywhere."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import EndUser
from contacts.models import Contact
from dashboard.queries import contacts as dashboard
from memories import portability
from memories.erasure import erase
from memories.models import Memory, Message
from tests.api import ApiClient, assert_error
from tests.factories import make_contact, make_end_user, make_memory, make_message

pytestmark = pytest.mark.django_db

ZOE = "users/zoe/"


def following(body: dict[str, Any]) -> str:
    return str(body["next"]).partition("testserver")[2]


def test_users_are_listed_for_their_own_app_only(client: ApiClient, zoe: EndUser) -> None:
    make_end_user(app=client.app, external_id="Zoe/2")
    make_end_user(app=client.app, external_id="yan")
    make_end_user(external_id="zoe 3")
    assert client.get("users/?q=zoe")[1]["count"] == 2
    first = client.get("users/?limit=2")[1]
    assert [row["id"] for row in first["results"]] == ["yan", "Zoe/2"]
    (row,) = client.get(following(first))[1]["results"]
    assert row == client.get(ZOE)[1]
    with CaptureQueriesContext(connection) as queries:
        client.get("users/")
    assert len(queries) <= 3


def test_messages_and_sessions_are_listed_and_erased(client: ApiClient, zoe: EndUser) -> None:
    said = [make_message(zoe, text, session_id=at, client_id=text) for text, at in
            (("Nora sings.", "a"), ("Oda hums.", "b"), ("Fine.", "a"), ("It rains.", ""))]  # fmt: skip
    make_message(zoe, "")  # what an erasure leaves
    nora, oda = make_contact(zoe, "Nora"), make_contact(zoe, "Oda")
    gone = make_memory(zoe, "Nora sings.", nora, source_message_ids=[said[0].pk])
    both = make_memory(zoe, "Both make music.", nora, oda, quote="Oda hums.",
                       source_message_ids=[said[0].pk, said[1].pk])  # fmt: skip

    first = client.get(f"{ZOE}messages/?limit=3")[1]
    assert (first["count"], first["results"][0]["content"]) == (4, "It rains.")
    (last,) = client.get(following(first))[1]["results"]
    assert last.items() >= {"id": said[0].pk, "client_id": "Nora sings.", "metadata": {}}.items()
    assert last == client.get(f"{ZOE}messages/{said[0].pk}/")[1]
    for query, count in (("session_id=a", 2), ("session_id=", 1), ("role=tool", 0)):
        assert client.get(f"{ZOE}messages/?{query}")[1]["count"] == count

    sessions = client.get(f"{ZOE}sessions/?limit=1")[1]
    assert (sessions["count"], sessions["results"][0]["session_id"]) == (3, "")
    rest = client.get(following(sessions) + "&limit=9")[1]["results"]
    assert [(row["session_id"], row["messages"]) for row in rest] == [("a", 2), ("b", 1)]

    assert_error(client.delete(f"{ZOE}messages/"), 400, "invalid")
    assert_error(client.delete(f"{ZOE}messages/?session_id="), 400, "invalid")
    status, erased = client.delete(f"{ZOE}messages/?session_id=a")
    assert (status, erased["messages"], erased["memories"]) == (200, 2, 1)
    assert list(Memory.objects.facts()) == [both]
    assert not Memory.objects.filter(pk=gone.pk).exists()
    assert client.get(f"{ZOE}sessions/")[1]["count"] == 2
    assert client.delete(f"{ZOE}messages/{said[1].pk}/")[1]["messages"] == 1
    for number in (said[1].pk, 2**63, 10**30):
        assert_error(client.get(f"{ZOE}messages/{number}/"), 404, "unknown_message")


def test_metadata_is_kept_filtered_corrected_carried_and_erased(
    client: ApiClient, zoe: EndUser
) -> None:
    noted = {"channel": "wechat", "tags": ["家", "x"], "n": {"deep": 1}}
    sent = [{"role": "user", "content": "hi", "metadata": noted, "id": "1"},
            {"role": "user", "content": "ho"}]  # fmt: skip
    assert client.post(f"{ZOE}messages/", {"messages": sent})[0] == 202
    body = {"content": "Nora sings.", "metadata": noted, "importance": 0.4}
    memory = client.post(f"{ZOE}memories/", body)[1]
    make_memory(zoe, "Nora hums.")
    for kind in ("messages", "memories"):
        for asked, count in (({"channel": "wechat"}, 1), ({"tags": ["x"], "n": {"deep": 1}}, 1),
                             ({"channel": "sms"}, 0), ({}, 1)):  # fmt: skip
            query = quote(json.dumps(asked))
            assert client.get(f"{ZOE}{kind}/?metadata={query}")[1]["count"] == count, asked
        for wrong in ("x", "[]", '{"a":1,"a":2}', '"x"'):
            reply = client.get(f"{ZOE}{kind}/?metadata={quote(wrong)}")
            assert "metadata" in assert_error(reply, 400, "invalid")["fields"]
    for asked, count in ((noted, 1), ({"channel": "sms"}, 0), ({}, 2)):
        found = client.post(f"{ZOE}search/", {"query": "Nora", "metadata": asked})[1]
        assert len(found["results"]) == count

    address = f"{ZOE}memories/{memory['id']}/"
    status, body = client.patch(address, {"metadata": {"n": None, "channel": "sms"}})
    assert status == 200
    assert {k: v for k, v in body["metadata"].items() if k in noted} == {
        "channel": "sms", "tags": ["家", "x"]}  # fmt: skip
    assert body["metadata"]["pinned_importance"] == 0.4
    client.post(f"{ZOE}changes/{body['change_id']}/undo/", {})
    assert client.get(address)[1]["metadata"].items() >= noted.items()
    both = client.patch(address, {"importance": 0.7, "metadata": {"channel": "sms"}})[1]
    assert (both["importance"], both["metadata"]["pinned_importance"]) == (0.7, 0.7)
    client.post(f"{ZOE}changes/{both['change_id']}/undo/", {})
    for wrong in ({"pinned_importance": 1}, [], "x", {"k": "字" * 1400},
                  {str(n): n for n in range(51)}):  # fmt: skip
        assert_error(client.patch(address, {"metadata": wrong}), 400, "invalid")
    for n in range(3):
        status, _ = client.patch(address, {"metadata": {f"k{n}": "x" * 3500}})
    assert status == 409

    document = portability.export_user(zoe)
    for row in document["messages"][1:]:  # as earlier releases wrote them
        assert row["metadata"] == {}
    copy = portability.import_user(zoe.app, json.loads(json.dumps(document)), external_id="copy")
    assert Message.objects.of(copy).first().metadata == noted
    old = {**document, "messages": [{k: v for k, v in row.items() if k != "metadata"}
                                    for row in document["messages"]]}  # fmt: skip
    older = portability.import_user(zoe.app, json.loads(json.dumps(old)), external_id="older")
    assert Message.objects.of(older).first().metadata == {}

    make_contact(zoe, "Brenda")
    Message.objects.of(zoe).update(metadata={"with": "Brenda", "channel": "sms"})
    erase.forget_contact(zoe, Contact.objects.of(zoe).get(name="Brenda").pk)
    assert not Message.objects.of(zoe).filter(metadata__icontains="Brenda").exists()
    erase.forget_messages(zoe, Message.objects.of(zoe))
    assert set(map(str, Message.objects.of(zoe).values_list("metadata", flat=True))) == {"{}"}


def test_what_an_erasure_left_of_a_message_is_no_conflict(client: ApiClient, zoe: EndUser) -> None:
    text = "Nora sings. It rains in Lisbon."
    client.post(f"{ZOE}messages/", {"messages": [{"id": "1", "role": "user", "content": text}]})
    row = Message.objects.get()
    nora = make_memory(zoe, "Nora sings.", quote="Nora sings.", source_message_ids=[row.pk])
    make_memory(zoe, "It rains.", quote="It rains in Lisbon.", source_message_ids=[row.pk])
    client.delete(f"{ZOE}memories/{nora.pk}/")
    row.refresh_from_db()
    assert row.content == "It rains in Lisbon."
    again = {"messages": [{"id": "1", "role": "user", "content": said}
                          for said in (text, "It snows in Lisbon.")]}  # fmt: skip
    answer = client.post(f"{ZOE}messages/", again)[1]
    assert answer == {"accepted": 0, "duplicates": 1, "conflicts": ["1"]}


def test_one_count_of_memories_everywhere_and_names_beside_ids(
    client: ApiClient, zoe: EndUser
) -> None:
    nora = make_contact(zoe, "Nora")
    for n, fields in enumerate([{}, {}, {"status": "outdated"}, {"status": "archived"},
                                {"kind": "profile", "content_hash": f"profile:{nora.pk}"}]):  # fmt: skip
        make_memory(zoe, f"Nora sings song {n}.", nora, **fields)
    listed = client.get(f"{ZOE}memories/?contact={nora.pk}")[1]
    (row,) = client.get(f"{ZOE}contacts/")[1]["results"]
    one = client.get(f"{ZOE}contacts/{nora.pk}/")[1]
    dashboard.describe(zoe, [nora])
    counts = (listed["count"], row["memory_count"], one["memory_count"], nora.memory_count)
    assert counts == (2, 2, 2, 2)
    assert len(one["memory_ids"]) == 5
    named = [{"id": str(nora.pk), "name": "Nora"}]
    assert [memory["people"] for memory in listed["results"]] == [named, named]
