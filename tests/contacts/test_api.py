"""Contacts over HTTP."""

from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from accounts.models import Change, EndUser
from contacts import store
from contacts.models import Contact
from memories import tasks
from memories.models import Link, Memory
from tests.api import ApiClient, assert_error
from tests.factories import SOME_DAY, json_value, make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db

ADDRESS = "users/zoe/contacts/"


@pytest.fixture
def client() -> ApiClient:
    return ApiClient()


@pytest.fixture
def zoe(client: ApiClient) -> EndUser:
    return make_end_user(app=client.app, external_id="zoe")


def walk(client: ApiClient, address: str) -> list[dict[str, Any]]:
    """All rows of a list, page by page."""
    rows: list[dict[str, Any]] = []
    following: str | None = address
    while following:
        _, body = client.get(following)
        rows += body["results"]
        split = urlsplit(body["next"] or "")
        following = f"{split.path}?{split.query}" if body["next"] else None
    return rows


def test_a_contact_shows_what_is_known_and_where_it_comes_from(
    client: ApiClient, zoe: EndUser
) -> None:
    contact = make_contact(zoe, "Nora Quist", aliases=["Nori"], relationship="cousin")
    memory = make_memory(zoe, "Nora Quist lives in Bergen.", contact)
    contact.attributes = {
        "location": [json_value("Bergen", [memory.id], "2026-03-02T12:00:00+00:00")],
        "interests": [json_value("sailing"), json_value("chess")],
    }
    contact.timeline = [{"text": "moved to Bergen", "at": "2025", "sources": [str(memory.id)]}]
    store.save(contact, ["attributes", "timeline", "aliases"])

    status, body = client.get(f"{ADDRESS}{contact.id}/")

    assert status == 200
    assert body["id"] == str(contact.id)
    assert body["name"] == "Nora Quist"
    assert body["aliases"] == ["Nori"]
    assert body["relationship"] == "cousin"
    assert body["attributes"] == {"location": "Bergen", "interests": ["sailing", "chess"]}
    assert body["attribute_sources"]["location"][0]["sources"] == [str(memory.id)]
    assert body["timeline"] == contact.timeline
    assert body["memory_ids"] == [str(memory.id)]
    assert body["memory_count"] == 1
    assert body["merged_from"] == []
    assert "Bergen" in body["card"]
    assert {"first_mentioned_at", "last_mentioned_at", "mention_count"} <= set(body)


def test_the_id_of_a_merged_contact_answers_with_the_survivor(
    client: ApiClient, zoe: EndUser
) -> None:
    survivor = make_contact(zoe, "Nora")
    middle = make_contact(zoe, "Nori", merged_into=survivor)
    first = make_contact(zoe, "Norchen", merged_into=middle)

    for contact in (survivor, middle, first):
        _, body = client.get(f"{ADDRESS}{contact.id}/")
        assert body["id"] == str(survivor.id)
        assert body["merged_from"] == [str(middle.id), str(first.id)]
    assert [row["name"] for row in client.get(ADDRESS)[1]["results"]] == ["Nora"]


def test_pages_hold_every_contact_once_even_while_new_ones_come(
    client: ApiClient, zoe: EndUser
) -> None:
    for number in range(7):
        make_contact(zoe, f"Person {number}", last_mentioned_at=SOME_DAY)

    status, first = client.get(f"{ADDRESS}?limit=3")
    make_contact(zoe, "Newcomer")
    rest = walk(client, first["next"].partition("testserver")[2])

    assert status == 200
    assert first["count"] == 7
    assert first["next"].startswith("http://testserver/api/v1/users/zoe/contacts/?")
    names = [row["name"] for row in first["results"] + rest]
    assert sorted(names) == [f"Person {number}" for number in range(7)]


def test_the_last_page_has_no_next(client: ApiClient, zoe: EndUser) -> None:
    make_contact(zoe, "Nora")
    assert client.get(f"{ADDRESS}?limit=1")[1]["next"] is None


def test_next_works_for_a_user_id_that_needs_quoting(client: ApiClient) -> None:
    odd = make_end_user(app=client.app, external_id="a/b 100%?#小")
    for name in ("Nora", "Oda", "Pia"):
        make_contact(odd, name)
    rows = walk(client, "users/a%2Fb%20100%25%3F%23%E5%B0%8F/contacts/?limit=1")
    assert {row["name"] for row in rows} == {"Nora", "Oda", "Pia"}


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=x", "cursor=x", "cursor=WzEsMl0=", "cursor=bnVsbA==",
     "q=%00", "page=2", f"q={'x' * 201}"],
)  # fmt: skip
def test_a_bad_query_is_refused(client: ApiClient, zoe: EndUser, query: str) -> None:
    error = assert_error(client.get(f"{ADDRESS}?{query}"), 400, "invalid")
    assert list(error["fields"]) == [query.partition("=")[0]]


def test_contacts_are_found_by_name_alias_and_other_spellings(
    client: ApiClient, zoe: EndUser
) -> None:
    contact = make_contact(zoe, "王秀英")
    contact.aliases = ["Auntie Xiu"]
    store.save(contact, ["aliases"])
    make_contact(zoe, "Oda")
    for wanted in ("秀英", "auntie", "XIU", "wangxiuying"):
        rows = client.get(f"{ADDRESS}?q={wanted}")[1]["results"]
        assert [row["name"] for row in rows] == ["王秀英"], wanted
    assert client.get(f"{ADDRESS}?q=nobody")[1]["count"] == 0


def test_a_list_takes_the_same_statements_whatever_its_length(
    client: ApiClient, zoe: EndUser
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(ADDRESS)[0] == 200
        return len(queries)

    client.get(ADDRESS)  # notes the use of the key
    make_memory(zoe, "Nora sings.", make_contact(zoe, "Nora"))
    few = statements()
    for number in range(20):
        contact = make_contact(zoe, f"Person {number}")
        make_memory(zoe, f"Person {number} sings.", contact)
    assert statements() == few <= 4


def test_a_list_shows_the_latest_memory_ids_and_one_contact_all(
    client: ApiClient, zoe: EndUser
) -> None:
    contact = make_contact(zoe, "Nora")
    memories = Memory.objects.bulk_create(
        Memory(end_user=zoe, content=f"fact {n}", content_hash=str(n), type="personal",
               subtype="friend")
        for n in range(120)
    )  # fmt: skip
    Link.objects.bulk_create(
        Link(end_user=zoe, contact=contact, memory=memory, made_by="extractor")
        for memory in memories
    )
    ids = [str(memory.id) for memory in memories]
    row = client.get(ADDRESS)[1]["results"][0]
    assert row["memory_ids"] == ids[-100:]
    assert row["memory_count"] == 120
    assert client.get(f"{ADDRESS}{contact.id}/")[1]["memory_ids"] == ids


def test_a_contact_without_memories_is_listed(client: ApiClient, zoe: EndUser) -> None:
    make_contact(zoe, "Nora")
    row = client.get(ADDRESS)[1]["results"][0]
    assert (row["memory_ids"], row["memory_count"]) == ([], 0)


def test_a_contact_is_created_with_its_keys_card_and_change(client: ApiClient) -> None:
    status, body = client.post(
        ADDRESS,
        {
            "name": "Nora Quist",
            "aliases": ["Nori", "nora quist", "Nori"],
            "relationship": "cousin",
            "gender": "female",
            "attributes": {"location": "Bergen", "interests": ["sailing", "chess"]},
            "why": "address book",
        },
    )

    assert status == 201
    contact = Contact.objects.get(pk=body["id"])
    assert contact.aliases == ["Nori"]
    assert body["attributes"] == {"location": "Bergen", "interests": ["sailing", "chess"]}
    assert "Bergen" in contact.card
    assert contact.keys.filter(key="nori").exists()
    change = Change.objects.get(pk=body["change_id"])
    assert (change.verb, change.why) == ("create_contact", "address book")
    assert change.actor == f"app:{client.app.name}"

    assert client.post(f"users/zoe/changes/{change.id}/undo/", {})[0] == 200
    assert not Contact.objects.exists()


BULK = f"{ADDRESS}bulk/"


def test_many_contacts_are_created_as_one_change_and_followed_in_the_background(
    client: ApiClient, zoe: EndUser
) -> None:
    memory = make_memory(zoe, "Nori bought a violin.")
    people = [
        {"name": "Nora Quist", "aliases": ["Nori"], "attributes": {"location": "Bergen"}},
        {"name": "小红", "relationship": "同事", "gender": "female", "personality": "外向"},
        {"name": "Nora Quist", "namesake": True},
    ]
    status, body = client.post(BULK, {"contacts": people, "why": "address book"})

    assert status == 201
    assert [row["name"] for row in body["contacts"]] == ["Nora Quist", "小红", "Nora Quist"]
    nora, *_ = Contact.objects.filter(pk=body["contacts"][0]["id"])
    assert client.get(f"{ADDRESS}{nora.id}/")[1].items() >= body["contacts"][0].items()
    assert nora.card == str(store.card_of(nora, zoe.language))
    before = set(nora.keys.values_list("key", "how", "text"))
    store.index(nora)
    assert set(nora.keys.values_list("key", "how", "text")) == before
    change = Change.objects.get()
    assert (change.verb, change.why, len(change.rows)) == ("create_contacts", "address book", 3)

    assert [task.name() for task in OrmQ.objects.all()] == [f"contacts_created {change.id}"]
    tasks.contacts_created(str(change.id))
    nora.refresh_from_db()
    profile = Memory.objects.get(content_hash=f"profile:{nora.id}")
    assert profile.vectors.exists()
    assert set(nora.memory_ids) == {memory.id, profile.id}


def test_of_many_contacts_all_are_created_or_none(client: ApiClient, zoe: EndUser) -> None:
    held = make_contact(zoe, "Nora")
    people = [{"name": name} for name in ("Oda", "nora", "Per", "Oda")]
    error = assert_error(client.post(BULK, {"contacts": people}), 409, "name_taken")
    assert list(error["fields"]) == ["contacts[1].name", "contacts[3].name"]
    assert str(held.id) in error["fields"]["contacts[1].name"][0]
    for sent, field in (
        ([{"name": "Oda"}, {"name": "!!!"}], "contacts[1].name"),
        ([{"name": "Oda", "why": "x"}], "contacts[0].why"),
        ([{"name": "Oda"}] * 501, "contacts"),
        ([], "contacts"),
        ("Oda", "contacts"),
        (["Oda"], "contacts[0]"),
    ):
        error = assert_error(client.post(BULK, {"contacts": sent}), 400, "invalid")
        assert field in error["fields"]
    assert list(Contact.objects.all()) == [held]


def test_creating_many_contacts_takes_as_many_statements_however_many_and_is_undone_at_once(
    client: ApiClient, zoe: EndUser
) -> None:
    def statements(letter: str, count: int) -> int:
        people = [{"name": f"{letter}{n}", "attributes": {"job": "x"}} for n in range(count)]
        with CaptureQueriesContext(connection) as queries:
            assert client.post(BULK, {"contacts": people})[0] == 201
        return len(queries)

    statements("A", 1)
    assert statements("B", 2) == statements("C", 50) <= 15
    latest = Change.objects.latest("created_at")
    assert client.post(f"users/zoe/changes/{latest.id}/undo/", {})[0] == 200
    assert Contact.objects.count() == 3


def test_a_taken_name_is_a_conflict_unless_it_is_another_person(
    client: ApiClient, zoe: EndUser
) -> None:
    first = make_contact(zoe, "Nora")
    error = assert_error(client.post(ADDRESS, {"name": " nora "}), 409, "name_taken")
    assert str(first.id) in error["message"]
    status, body = client.post(ADDRESS, {"name": "Nora", "namesake": True})
    assert status == 201
    assert body["id"] != str(first.id)


def test_a_correction_changes_what_is_given_and_nothing_else(
    client: ApiClient, zoe: EndUser
) -> None:
    contact = make_contact(zoe, "Nora", relationship="cousin", gender="female")
    source = make_memory(zoe, "Nora likes chess.", contact)
    contact.attributes = {
        "interests": [json_value("chess", [source.id])],
        "location": [json_value("Bergen", [source.id])],
    }
    store.save(contact, ["attributes"])

    status, body = client.patch(
        f"{ADDRESS}{contact.id}/",
        {"attributes": {"interests": ["chess", "sailing"], "location": None, "pet": "a parrot"}},
    )

    assert status == 200
    assert body["attributes"] == {"interests": ["chess", "sailing"], "pet": "a parrot"}
    kept, stated = body["attribute_sources"]["interests"]
    assert kept["sources"] == [str(source.id)]
    assert stated["sources"] == []
    assert (body["relationship"], body["gender"]) == ("cousin", "female")
    assert "sailing" in body["card"]
    assert "Bergen" not in body["card"]

    client.post(f"users/zoe/changes/{body['change_id']}/undo/")
    contact.refresh_from_db()
    assert store.flat_attributes(contact) == {"interests": "chess", "location": "Bergen"}
    assert "Bergen" in contact.card


def test_a_renamed_contact_is_still_found_by_its_old_name(client: ApiClient, zoe: EndUser) -> None:
    contact = make_contact(zoe, "Nora")
    _, body = client.patch(f"{ADDRESS}{contact.id}/", {"name": "Eleonora Quist"})
    assert (body["name"], body["aliases"]) == ("Eleonora Quist", ["Nora"])
    assert {"eleonora quist", "nora"} <= set(contact.keys.values_list("key", flat=True))

    _, body = client.patch(f"{ADDRESS}{contact.id}/", {"name": "Ella", "aliases": []})
    assert (body["name"], body["aliases"]) == ("Ella", [])
    assert "nora" not in set(contact.keys.values_list("key", flat=True))


def test_a_contact_can_not_take_the_name_of_another(client: ApiClient, zoe: EndUser) -> None:
    make_contact(zoe, "Nora")
    other = make_contact(zoe, "Oda")
    assert_error(client.patch(f"{ADDRESS}{other.id}/", {"name": "Nora"}), 409, "name_taken")
    other.refresh_from_db()
    assert other.name == "Oda"
    assert not Change.objects.exists()
    assert client.patch(f"{ADDRESS}{other.id}/", {"name": "Nora", "namesake": True})[0] == 200


def test_the_profile_memory_and_links_follow_a_correction(client: ApiClient, zoe: EndUser) -> None:
    contact = make_contact(zoe, "Nora")
    memory = make_memory(zoe, "Norchen bought a violin.")
    _, body = client.patch(
        f"{ADDRESS}{contact.id}/", {"aliases": ["Norchen"], "attributes": {"location": "Bergen"}}
    )
    assert f"contact_changed {contact.id}" in [task.name() for task in OrmQ.objects.all()]

    tasks.contact_changed(body["id"])

    profile = Memory.objects.get(kind=Memory.Kind.PROFILE)
    assert "Bergen" in profile.content
    assert profile.vectors.exists()
    contact.refresh_from_db()
    assert set(contact.memory_ids) == {memory.id, profile.id}


BAD_CONTACTS: dict[str, tuple[dict[str, Any], str]] = {
    "name missing": ({}, "name"),
    "name null": ({"name": None}, "name"),
    "name blank": ({"name": "  "}, "name"),
    "name a number": ({"name": 7}, "name"),
    "name only punctuation": ({"name": "!!!"}, "name"),
    "name of 201 characters": ({"name": "n" * 201}, "name"),
    "alias a number": ({"name": "Nora", "aliases": ["Nori", 1]}, "aliases[1]"),
    "alias only punctuation": ({"name": "Nora", "aliases": ["?"]}, "aliases[0]"),
    "aliases a string": ({"name": "Nora", "aliases": "Nori"}, "aliases"),
    "51 aliases": ({"name": "Nora", "aliases": ["n"] * 51}, "aliases"),
    "gender unknown": ({"name": "Nora", "gender": "x"}, "gender"),
    "attributes a list": ({"name": "Nora", "attributes": []}, "attributes"),
    "attribute key in capitals": ({"name": "Nora", "attributes": {"Job": "x"}}, "attributes"),
    "attribute value a number": ({"name": "Nora", "attributes": {"age": 7}}, "attributes.age"),
    "attribute value nested": ({"name": "Nora", "attributes": {"job": {"a": 1}}},
                               "attributes.job"),
    "attribute value blank": ({"name": "Nora", "attributes": {"job": [" "]}}, "attributes.job"),
    "a derived field": ({"name": "Nora", "card": "### Nora"}, "card"),
    "memory_ids": ({"name": "Nora", "memory_ids": [str(uuid4())]}, "memory_ids"),
    "a field of the row": ({"name": "Nora", "end_user": 1}, "end_user"),
    "namesake a string": ({"name": "Nora", "namesake": "yes"}, "namesake"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_CONTACTS)
def test_a_bad_contact_is_refused_with_the_field_named(client: ApiClient, kind: str) -> None:
    sent, field = BAD_CONTACTS[kind]
    error = assert_error(client.post(ADDRESS, sent), 400, "invalid")
    assert field in error["fields"]
    assert not Contact.objects.exists()
    assert not EndUser.objects.exists()


def test_an_unknown_contact_is_404(client: ApiClient, zoe: EndUser) -> None:
    for reply in (
        client.get(f"{ADDRESS}{uuid4()}/"),
        client.patch(f"{ADDRESS}{uuid4()}/", {"relationship": "x"}),
    ):
        assert_error(reply, 404, "unknown_contact")
    assert_error(client.get("users/nobody/contacts/"), 404, "unknown_user")
    assert_error(client.get(f"{ADDRESS}not-a-uuid/"), 404, "not_found")
