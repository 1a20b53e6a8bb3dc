"""Memories: listed, searched with reasons, one of them with its history, edges and importance."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Change, EndUser
from memories.corrections import edit_memories
from memories.models import Edge, Memory
from memories.providers.factory import embedder
from tests.dashboard.signin import signed_in
from tests.factories import (
    SOME_DAY,
    json_value,
    make_contact,
    make_end_user,
    make_memory,
    make_message,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user(external_id="zoe", language="en")


def embedded(end_user: EndUser, content: str, *about: object, **fields: object) -> Memory:
    vector = embedder().embed_passages([content])[0]
    return make_memory(end_user, content, *about, embedding=vector, **fields)


def listed(client: Client, end_user: EndUser, **query: str) -> Client:
    return client.get(reverse("dashboard:memories", args=[end_user.pk]), query)


def one(client: Client, memory: Memory):
    return client.get(reverse("dashboard:memory", args=[memory.end_user_id, memory.pk]))


def test_the_latest_stand_first_with_whom_they_are_about(reviewer: Client, zoe: EndUser) -> None:
    make_memory(zoe, "Greta hums.", make_contact(zoe, "Greta"))
    make_memory(zoe, "Oda sings.", said_at=SOME_DAY + timedelta(days=1))
    page = listed(reviewer, zoe).content.decode()
    assert page.index("Oda sings.") < page.index("Greta hums.")
    assert reverse("dashboard:contact", args=[zoe.pk, zoe.contacts.get().pk]) in page


def test_search_is_the_products_own_and_says_why(reviewer: Client, zoe: EndUser) -> None:
    embedded(zoe, "Greta plays the cello.")
    embedded(zoe, "Oda bakes bread.")
    page = listed(reviewer, zoe, q="Who plays the cello?")
    hit, memory = page.context["results"][0]
    assert memory.content == "Greta plays the cello."
    assert (hit.bm25_rank, hit.vector_rank) == (1, 1)
    assert "Why this result" in page.content.decode()
    assert page.context["understood"].intent == "recall"
    assert [memory.content for _hit, memory in page.context["near"]] == ["Greta plays the cello."]
    assert [memory.content for _hit, memory in page.context["far"]] == ["Oda bakes bread."]


def test_a_profile_of_others_is_folded_where_somebody_is_named(
    reviewer: Client, zoe: EndUser
) -> None:
    for name in ("Greta", "Oda"):
        contact = make_contact(zoe, name, attributes={"job_title": [json_value("cellist", [])]})
        embedded(zoe, f"{name}\n职业：cellist", contact, kind=Memory.Kind.PROFILE)
    page = listed(reviewer, zoe, q="What is Greta's job?")
    near, far = (
        [memory.displayed_content for _hit, memory in page.context[part]]
        for part in ("near", "far")
    )
    assert (near, far) == (["Greta · Job: cellist"], ["Oda · Job: cellist"])
    page = listed(reviewer, zoe, q="Who is a cellist by job?")
    assert len(page.context["near"]) == 2


def test_intent_type_and_status_narrow_a_search(reviewer: Client, zoe: EndUser) -> None:
    embedded(zoe, "Greta plays the cello.", type="activity")
    embedded(zoe, "Greta sold her cello.", type="personal", status="outdated")
    exact = listed(reviewer, zoe, q="cello", intent="exact").context
    assert exact["understood"].intent == "exact"
    assert len(exact["results"]) == 1
    assert len(listed(reviewer, zoe, q="cello", status="all").context["results"]) == 2
    personal = listed(reviewer, zoe, q="cello", status="all", type="personal").context["results"]
    assert [memory.type for _hit, memory in personal] == ["personal"]


@pytest.mark.parametrize(
    ("fields", "share", "why", "effect"),
    [
        ({"access_count": 3}, 0.9, "given to prompts +", "Given to a prompt 3 times"),
        ({"mention_count": 1}, 0.5, "said again or used +", "Said again or used in a reply 1 time"),
        (
            {"metadata": {"pinned_importance": 0.4}},
            0.4,
            "by a person or an app",
            "Not given to any",
        ),
        ({"expires_at": SOME_DAY}, 0.0, "it has expired", "It has expired"),
        ({"consolidated_into": True}, 0.05, "because the profile speaks for it", "No event"),
    ],
)
def test_importance_is_explained_in_words(
    reviewer: Client, zoe: EndUser, fields: dict, share: float, why: str, effect: str
) -> None:
    memory = make_memory(zoe, "Greta hums.")
    profile = make_memory(zoe, "Greta: hums", kind="profile", content_hash="profile:1")
    if "consolidated_into" in fields:
        fields = {"consolidated_into": profile, "importance": 0.05}
    Memory.objects.filter(pk=memory.pk).update(**fields)
    answer = one(reviewer, memory)
    assert answer.context["parts"].importance == pytest.approx(share, abs=0.1)
    assert why in answer.content.decode()
    assert effect in answer.content.decode()
    assert "Greta: hums" not in listed(reviewer, zoe).content.decode()


@pytest.mark.parametrize("query", [{"intent": "x", "q": "a"}, {"status": "x"}, {"type": "x"}])
def test_a_filter_that_makes_no_sense_is_none(reviewer: Client, zoe: EndUser, query: dict) -> None:
    make_memory(zoe, "Greta hums.")
    assert listed(reviewer, zoe, **query).status_code == 200


def test_what_is_no_longer_true_is_struck_through_beside_what_replaced_it(
    reviewer: Client, zoe: EndUser
) -> None:
    old, new = make_memory(zoe, "Greta lives in Bern."), make_memory(zoe, "Greta lives in Graz.")
    edit_memories.outdate(zoe, [old], actor="extractor", why="She moved.", by=new.pk)
    page = listed(reviewer, zoe, status="outdated").content.decode()
    assert '<del><bdi class="said">Greta lives in Bern.' in page
    assert "Greta lives in Graz." in page
    page = one(reviewer, old).content.decode()
    assert "Replaced by" in page
    assert "She moved." in page


def test_one_memory_shows_its_messages_history_edges_and_importance(
    reviewer: Client, zoe: EndUser
) -> None:
    said = make_message(zoe, content="Greta hums because she is glad.")
    memory = make_memory(
        zoe, "Greta hums.", make_contact(zoe, "Greta"),
        source_message_ids=[said.pk], quote="Greta hums",
    )  # fmt: skip
    cause = make_memory(zoe, "Greta is glad.")
    Edge.objects.create(
        end_user=zoe, source=cause, target=memory, kind="causes", reason="because", confidence=0.8
    )
    answer = one(reviewer, memory)
    page = answer.content.decode()
    assert "<mark>Greta hums</mark> because she is glad." in page
    ((words, group),) = answer.context["near"]
    assert (words, [other for other, _step in group]) == ("follows from", [cause])
    assert answer.context["parts"].newness == 2.0
    assert [version.content for version in answer.context["versions"]] == ["Greta hums."]


def test_an_edit_is_saved_shown_in_the_history_and_undone(reviewer: Client, zoe: EndUser) -> None:
    memory = make_memory(zoe, "Greta hums.")
    address = reverse("dashboard:edit-memory", args=[zoe.pk, memory.pk])
    page = reviewer.post(address, {"content": "Greta  whistles."}, follow=True).content.decode()
    memory.refresh_from_db()
    assert memory.content == "Greta whistles."
    assert '<del><bdi class="said">Greta hums.' in page
    reviewer.post(reverse("dashboard:undo", args=[zoe.pk, Change.objects.get().pk]))
    memory.refresh_from_db()
    assert memory.content == "Greta hums."


@pytest.mark.parametrize("content", ["", "   ", "x" * 10_001])
def test_a_bad_edit_is_refused_beside_the_field_and_loses_nothing(
    reviewer: Client, zoe: EndUser, content: str
) -> None:
    memory = make_memory(zoe, "Greta hums.")
    answer = reviewer.post(
        reverse("dashboard:edit-memory", args=[zoe.pk, memory.pk]), {"content": content}
    )
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    memory.refresh_from_db()
    assert memory.content == "Greta hums."


def test_two_memories_are_connected_and_disconnected_by_hand(
    reviewer: Client, zoe: EndUser
) -> None:
    one_, other = make_memory(zoe, "Greta hums."), make_memory(zoe, "Greta is glad.")
    address = reverse("dashboard:connect", args=[zoe.pk, one_.pk])
    there = reverse("dashboard:memory", args=[zoe.pk, other.pk])
    reviewer.post(address, {"kind": "motivated_by", "other": f"http://testserver{there}"})
    edge = Edge.objects.get()
    assert (edge.source, edge.target, edge.kind) == (one_, other, "motivated_by")
    reviewer.post(reverse("dashboard:disconnect", args=[zoe.pk, one_.pk, edge.pk]))
    assert not Edge.objects.exists()


@pytest.mark.parametrize("other", ["", "x", "0b9ac0de-0000-4000-8000-000000000000"])
def test_an_address_that_is_no_memory_of_the_user_connects_nothing(
    reviewer: Client, zoe: EndUser, other: str
) -> None:
    memory = make_memory(zoe, "Greta hums.")
    answer = reviewer.post(
        reverse("dashboard:connect", args=[zoe.pk, memory.pk]), {"kind": "causes", "other": other}
    )
    assert answer.status_code in (404, 422)
    assert not Edge.objects.exists()


def test_outdating_is_one_step_and_one_back(reviewer: Client, zoe: EndUser) -> None:
    memory = make_memory(zoe, "Greta hums.")
    address = reverse("dashboard:outdate-memories", args=[zoe.pk])
    reviewer.post(address, {"memory": memory.pk})
    memory.refresh_from_db()
    assert memory.status == "outdated"
    reviewer.post(reverse("dashboard:undo", args=[zoe.pk, Change.objects.get().pk]))
    memory.refresh_from_db()
    assert memory.status == "active"


def test_forgetting_lists_what_goes_and_only_admins_do_it(zoe: EndUser, reviewer: Client) -> None:
    memory = make_memory(zoe, "Greta hums.")
    address = reverse("dashboard:forget-memories", args=[zoe.pk])
    assert reviewer.post(address).status_code == 403
    admin = signed_in("admin")
    chosen = {"memory": memory.pk}
    assert "Greta hums." in admin.get(address, chosen).content.decode()
    admin.post(address, chosen)
    assert Memory.objects.exists()
    admin.post(address, chosen | {"sure": "1"})
    assert not Memory.objects.exists()


@pytest.mark.parametrize("query", [{}, {"q": "hums"}])
def test_a_list_takes_the_same_statements_whatever_its_length(
    reviewer: Client, zoe: EndUser, query: dict
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert listed(reviewer, zoe, **query).status_code == 200
        return len(queries)

    def add(name: str) -> None:
        make_memory(zoe, f"{name} hums.", make_contact(zoe, name))

    add("Greta")
    statements()
    few = statements()
    for place in range(10):
        add(f"Person {place}")
    assert statements() == few
