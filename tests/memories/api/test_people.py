"""Relations, suggestions, links and erasing over HTTP."""

from typing import Any
from uuid import uuid4

import pytest

from accounts.models import Change, EndUser
from contacts.models import Contact, Relation, Suggestion
from memories.models import Link, Memory, Message
from tests.api import ApiClient, assert_error
from tests.factories import json_value, make_contact, make_memory, make_message, make_suggestion

pytestmark = pytest.mark.django_db

ZOE = "users/zoe/"


@pytest.fixture
def people(zoe: EndUser) -> list[Contact]:
    return [make_contact(zoe, name) for name in ("Nora", "Oda", "Per")]


def undo(client: ApiClient, body: dict[str, Any]) -> None:
    assert client.post(f"{ZOE}changes/{body['change_id']}/undo/", {})[0] == 200


def test_a_relation_is_stated_listed_and_taken_away_and_both_can_be_undone(
    client: ApiClient, people: list[Contact]
) -> None:
    nora, oda, per = (str(one.pk) for one in people)
    stated = {"subject": nora, "kind": " 上司 ", "object": oda, "why": "badge"}
    status, body = client.post(f"{ZOE}relations/", stated)
    assert (status, body["kind"], body["sources"]) == (201, "上司", [])
    assert body["subject"] == {"id": nora, "name": "Nora"}
    assert Change.objects.get(pk=body["change_id"]).why == "badge"
    assert "上司" in client.get(f"{ZOE}contacts/{oda}/")[1]["card"]
    status, again = client.post(f"{ZOE}relations/", stated)
    assert (status, again["change_id"], again["id"]) == (200, None, body["id"])
    client.post(f"{ZOE}relations/", {"subject": per, "kind": "son", "object": nora})

    listed = client.get(f"{ZOE}relations/?limit=1")[1]
    assert (listed["count"], listed["results"][0]["kind"]) == (2, "son")
    rest = client.get(listed["next"].partition("testserver")[2])[1]
    assert [row["kind"] for row in rest["results"]] == ["上司"]
    assert client.get(f"{ZOE}relations/?contact={oda}")[1]["count"] == 1

    status, gone = client.delete(f"{ZOE}relations/{body['id']}/?why=misread")
    assert (status, Relation.objects.count()) == (200, 1)
    assert Change.objects.get(pk=gone["change_id"]).why == "misread"
    undo(client, gone)
    assert client.get(f"{ZOE}relations/?contact={oda}")[1]["count"] == 1


def test_what_can_not_be_a_relation_is_refused(client: ApiClient, people: list[Contact]) -> None:
    nora, oda, _ = (str(one.pk) for one in people)
    table: list[tuple[dict[str, Any], int, str]] = [
        ({"subject": nora, "kind": "boss", "object": nora}, 409, "conflict"),
        ({"subject": nora, "kind": " ", "object": oda}, 400, "invalid"),
        ({"subject": nora, "kind": "x" * 51, "object": oda}, 400, "invalid"),
        ({"subject": nora, "kind": "boss", "object": str(uuid4())}, 400, "invalid"),
        ({"subject": nora, "kind": "boss"}, 400, "invalid"),
    ]
    for body, status, code in table:
        assert_error(client.post(f"{ZOE}relations/", body), status, code)
    reply = client.post(f"{ZOE}relations/", table[0][0])
    assert assert_error(reply, 409)["reason"] == "relation_to_self"
    for number in (10**6, 2**63, 10**30):
        assert_error(client.delete(f"{ZOE}relations/{number}/"), 404, "unknown_relation")
    assert_error(client.get(f"{ZOE}relations/?contact={uuid4()}"), 404, "unknown_contact")
    assert_error(client.get(f"{ZOE}relations/?cursor=WzEsMl0"), 400, "invalid")


@pytest.mark.parametrize("decision", ["merge", "different", "later"])
def test_a_suggestion_is_decided_and_asked_no_more(
    client: ApiClient, people: list[Contact], decision: str
) -> None:
    nora, oda, per = people
    other, row = make_suggestion(nora, per), make_suggestion(nora, oda, confidence=0.8)
    listed = client.get(f"{ZOE}suggestions/?limit=1")[1]
    assert (listed["count"], listed["results"][0]["id"]) == (2, row.pk)
    assert {one["name"] for one in listed["results"][0]["contacts"]} == {"Nora", "Oda"}
    assert client.get(listed["next"].partition("testserver")[2])[1]["results"][0]["id"] == other.pk

    body = {"decision": decision, **({"into": str(oda.pk)} if decision == "merge" else {})}
    address = f"{ZOE}suggestions/{row.pk}/decide/"
    status, decided = client.post(address, body)

    state = {"merge": "merged"}.get(decision, decision)
    assert (status, decided["state"]) == (200, state)
    assert decided["decided_by"] == f"app:{client.app.name}"
    assert client.get(f"{ZOE}suggestions/")[1]["count"] == 1
    assert client.get(f"{ZOE}suggestions/?state={state}&contact={oda.pk}")[1]["count"] == 1
    if decision == "later":
        assert decided["change_id"] is None
        return
    nora.refresh_from_db()
    assert nora.merged_into_id == (oda.pk if decision == "merge" else None)
    reason = assert_error(client.post(address, {"decision": "later"}), 409, "conflict")["reason"]
    assert reason in ("not_asked", "merged_already")
    undo(client, decided)
    assert client.get(f"{ZOE}suggestions/")[1]["count"] == 2


def test_the_evidence_of_a_suggestion_has_codes_and_words(
    client: ApiClient, people: list[Contact]
) -> None:
    found = [
        {"code": "homophone", "params": {"first": "Nora", "second": "Norah"}, "weight": 1.5},
        {"text": "an old note", "weight": -1},
    ]
    row = make_suggestion(*people[:2], evidence=found)
    shown = client.get(f"{ZOE}suggestions/")[1]["results"][0]["evidence"]
    assert shown == [
        {"code": "homophone", "text": "Nora and Norah only sound alike.", "weight": 1.5},
        {"code": "", "text": "an old note", "weight": -1},
    ]
    address, third = f"{ZOE}suggestions/{row.pk}/decide/", str(people[2].pk)
    for body in ({"decision": "merge", "into": third}, {"decision": "guess"}, {},
                 {"decision": "later", "into": str(people[0].pk)}):  # fmt: skip
        assert_error(client.post(address, body), 400, "invalid")
    assert Suggestion.objects.get().state == "open"


def test_a_link_is_rejected_for_good_until_somebody_states_it(
    client: ApiClient, zoe: EndUser, people: list[Contact]
) -> None:
    nora, oda, _ = people
    memory = make_memory(zoe, "Nora sings.", nora)
    links = f"{ZOE}memories/{memory.pk}/links/"
    (shown,) = client.get(links)[1]["results"]
    assert (shown["contact"]["name"], shown["made_by"]) == ("Nora", "extractor")

    status, gone = client.delete(f"{links}{nora.pk}/?why=another%20Nora")
    assert status == 200
    assert Change.objects.get(pk=gone["change_id"]).why == "another Nora"
    assert Link.objects.get().rejected
    assert client.get(f"{ZOE}contacts/{nora.pk}/")[1]["memory_ids"] == []
    assert_error(client.delete(f"{links}{nora.pk}/"), 404, "unknown_link")
    undo(client, gone)
    client.delete(f"{links}{nora.pk}/")

    for contact, made in ((nora, 1), (oda, 2)):
        status, body = client.post(links, {"contact": str(contact.pk)})
        assert (status, body["made_by"], body["rejected"]) == (201, "operator", False)
        assert Link.objects.standing().count() == made
        assert client.post(links, {"contact": str(contact.pk)})[1]["change_id"] is None
    assert "Nora sings." in client.get(f"{ZOE}contacts/{oda.pk}/")[1]["card"]
    undo(client, body)
    assert Link.objects.count() == 1
    assert_error(client.post(links, {"contact": str(uuid4())}), 400, "invalid")


@pytest.mark.parametrize("what", ["memories", "contacts", "users"])
def test_delete_erases_for_good(
    client: ApiClient, zoe: EndUser, people: list[Contact], what: str
) -> None:
    message = make_message(zoe, "Nora sings.")
    memory = make_memory(zoe, "Nora sings.", people[0], quote="Nora sings.",
                         source_message_ids=[message.pk])  # fmt: skip
    address = {
        "memories": f"{ZOE}memories/{memory.pk}/",
        "contacts": f"{ZOE}contacts/{people[0].pk}/",
        "users": ZOE,
    }[what]
    status, gone = client.delete(address)
    assert (status, gone["memories"], gone["messages"]) == (200, 1, 1)
    assert gone["contacts"] == {"memories": 0, "contacts": 1, "users": 3}[what]
    assert not Memory.objects.filter(content__contains="sings").exists()
    assert not Message.objects.filter(content__contains="sings").exists()
    code = {"memories": "unknown_memory", "contacts": "unknown_contact", "users": "unknown_user"}
    assert_error(client.delete(address), 404, code[what])


def test_of_two_values_one_is_right_or_all_are(client: ApiClient, zoe: EndUser) -> None:
    values = [json_value("Oslo"), json_value("Bergen")]
    nora = make_contact(zoe, "Nora", attributes={"location": values})
    resolve = f"{ZOE}contacts/{nora.pk}/resolve/"
    for asked in ({}, {"value": "Oslo", "all": True}):
        assert_error(client.post(resolve, {"key": "location", **asked}), 400, "invalid")
    assert_error(client.post(resolve, {"key": "company", "all": True}), 409, "conflict")
    status, kept = client.post(resolve, {"key": "location", "all": True, "why": "commutes"})
    assert (status, kept["attributes"]["location"]) == (200, ["Oslo", "Bergen"])
    assert not Contact.objects.in_conflict().exists()
    undo(client, kept)
    assert Contact.objects.in_conflict().exists()
    _, one = client.post(resolve, {"key": "location", "value": "bergen"})
    assert one["attributes"]["location"] == "Bergen"
