"""Messages, process, context, search, changes, export and forget over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import EndUser
from memories import tasks
from memories.models import Batch, Link, Memory, Message
from memories.pipeline.store_memories import embed_missing
from memories.providers.factory import embedder
from tests.api import ApiClient, assert_error
from tests.factories import make_contact, make_memory, make_message
from tests.queue import queued

pytestmark = pytest.mark.django_db


def say(*contents: str, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text, **fields} for text in contents]}


def test_messages_are_stored_in_order_as_they_were_sent(client: ApiClient) -> None:
    odd = "  👩‍👩‍👧‍👦𠮷野家é\n" + "字" * 300
    body = {
        "messages": [
            {"id": "1", "role": "user", "content": odd, "session_id": "s",
             "created_at": "2026-01-02T03:04:05.678901+08:00"},
            {"id": None, "role": "assistant", "content": "ok", "created_at": "2026-01-02T03:04"},
            {"role": "tool", "content": "{}", "session_id": None},
        ]
    }  # fmt: skip
    assert client.post("users/zoe/messages/", body) == (
        202,
        {"accepted": 3, "duplicates": 0, "conflicts": []},
    )

    first, second, third = Message.objects.order_by("seq")
    assert (first.content, first.client_id, first.session_id) == (odd, "1", "s")
    assert first.created_at == datetime(2026, 1, 1, 19, 4, 5, 678901, tzinfo=UTC)
    assert second.created_at == datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    assert (third.role, third.session_id) == ("tool", "")


def test_the_same_id_twice_is_one_message_and_a_conflict_with_other_words(
    client: ApiClient,
) -> None:
    body = say("hello", id="1")
    client.post("users/zoe/messages/", body)
    again = body["messages"] + say("new", id="2")["messages"] * 2
    again += say("other", "hello", id="1")["messages"] + say("newer", id="2")["messages"]
    again += [{"role": "assistant", "content": "hello", "id": "1"}]
    reply = client.post("users/zoe/messages/", {"messages": again})
    assert reply == (202, {"accepted": 1, "duplicates": 3, "conflicts": ["1", "2"]})
    assert list(Message.objects.values_list("content", flat=True)) == ["hello", "new"]
    # An id counts for one end user only.
    assert client.post("users/yan/messages/", body)[1] == {
        "accepted": 1,
        "duplicates": 0,
        "conflicts": [],
    }


def test_a_full_cadence_is_handed_to_the_workers(client: ApiClient) -> None:
    client.post("users/zoe/messages/", say(*["hello"] * (settings.MIO_EXTRACT_EVERY - 1)))
    assert queued() == []
    client.post("users/zoe/messages/", say("hello"))
    assert queued() == ["memories.tasks.extract"]


def test_process_with_wait_answers_when_everything_is_extracted(client: ApiClient) -> None:
    client.post("users/zoe/messages/", say("My colleague Greta moved to Oslo.", "She is a nurse."))
    status, body = client.post("users/zoe/process/", {"wait": True})
    assert status == 200
    assert (body["pending"], body["extracted"], body["quarantined"]) == (0, 2, 0)
    assert Batch.objects.get().state == Batch.State.DONE
    assert not Link.objects.standing().filter(consolidated_at=None, memory__kind="fact").exists()

    status, body = client.post("users/zoe/process/", {"wait": True})
    assert (status, body["extracted"], body["consolidated"]) == (200, 0, 0)


def test_process_without_wait_is_queued(client: ApiClient, zoe: EndUser) -> None:
    make_message(zoe)
    status, asked = client.post("users/zoe/process/")
    assert (status, asked["pending"]) == (202, 1)
    assert queued() == ["memories.tasks.process"]
    address = f"users/zoe/jobs/{asked['job']}/"
    assert client.get(address)[1].items() >= {"state": "queued", "pending": 1}.items()
    later = timezone.now() + timedelta(minutes=4)
    batch = Batch.objects.create(end_user=zoe, first_seq=1, last_seq=1, state="running")
    EndUser.objects.update(extracted_seq=1)
    assert client.get(address)[1].items() >= {"state": "running", "pending": 1}.items()
    Batch.objects.filter(pk=batch.pk).update(state="failed", retry_at=later)
    assert client.get(address)[1].items() >= {"state": "postponed", "pending": 1}.items()
    Batch.objects.filter(pk=batch.pk).update(state="pending")
    make_message(zoe, "It came later and is no part of it.", seq=2)
    tasks.consolidate(zoe.pk)
    assert client.get(address)[1]["state"] == "queued"
    Batch.objects.filter(pk=batch.pk).update(state="done", finished_at=timezone.now())
    tasks.consolidate(zoe.pk)
    done = client.get(address)[1]
    assert done.items() >= {"state": "done", "pending": 0, "extracted": 1}.items()
    assert done["finished_at"]
    assert_error(client.get(f"users/zoe/jobs/{uuid4()}/"), 404, "unknown_job")


def test_process_tells_when_work_waits_for_another_try(client: ApiClient, zoe: EndUser) -> None:
    make_message(zoe)
    later = timezone.now() + timedelta(minutes=4)
    Batch.objects.create(end_user=zoe, first_seq=1, last_seq=1, state="failed", retry_at=later)
    EndUser.objects.update(extracted_seq=1)
    assert_error(client.post("users/zoe/process/", {"wait": True}), 503, "postponed")
    assert 200 < int(client.reply.headers["Retry-After"]) <= 240


@pytest.mark.parametrize("body", [{"wait": "yes"}, {"wait": 1}, {"now": True}, []])
def test_a_bad_process_request_is_refused(client: ApiClient, zoe: EndUser, body: Any) -> None:
    assert_error(client.post("users/zoe/process/", body), 400)
    assert queued() == []


def test_context_says_who_is_meant_and_how_it_knows(client: ApiClient, zoe: EndUser) -> None:
    contact = make_contact(zoe, "Greta", relationship="colleague")
    memory = make_memory(zoe, "Greta moved to Oslo.", contact)

    status, body = client.post("users/zoe/context/", {"message": "How is Greta?"})

    assert status == 200
    (found,) = body["contacts"]
    assert (found["id"], found["name"]) == (str(contact.id), "Greta")
    assert (found["matched_by"], found["matched_text"]) == ("name", "Greta")
    assert "Oslo" in body["system_prompt"]
    assert str(memory.id) in [m["id"] for m in body["memories"]]
    assert body["timing_ms"] > 0


def test_context_is_about_whom_the_user_names_and_not_about_a_letter(
    client: ApiClient, zoe: EndUser
) -> None:
    for name in ("Viktor", "Kim"):
        make_contact(zoe, name)
    letter = "<source>My brother Viktor lives in Minsk.</source>"
    asked = {"message": f"{letter}\n\nWhat does Kim say?", "include": ["cards"]}
    found = client.post("users/zoe/context/", asked)[1]
    assert [contact["name"] for contact in found["contacts"]] == ["Kim"]
    task = {"message": "Summarize this conversation with Kim in one short sentence, as JSON only."}
    assert client.post("users/zoe/context/", task)[1]["contacts"] == []


def test_a_user_never_seen_has_no_context_and_is_not_made(client: ApiClient) -> None:
    status, body = client.post("users/zoe/context/", {"message": "How is Greta?"})
    assert (status, body["system_prompt"], body["contacts"], body["memories"]) == (200, "", [], [])
    status, reply = client.post("users/zoe/search/", {"query": "Greta"})
    assert (status, reply["results"]) == (200, [])
    assert not EndUser.objects.exists()


BAD_CONTEXTS: dict[str, tuple[Any, str]] = {
    "message missing": ({}, "message"),
    "message a number": ({"message": 1}, "message"),
    "message blank": ({"message": " "}, "message"),
    "history a string": ({"message": "x", "history": "y"}, "history"),
    "turn without a role": ({"message": "x", "history": [{"content": "y"}]}, "history[0].role"),
    "turn content a number": ({"message": "x", "history": [{"role": "user", "content": 1}]},
                              "history[0].content"),
    "limit 0": ({"message": "x", "limit": 0}, "limit"),
    "limit a string": ({"message": "x", "limit": "5"}, "limit"),
    "limit true": ({"message": "x", "limit": True}, "limit"),
    "limit a fraction": ({"message": "x", "limit": 1.5}, "limit"),
    "limit huge": ({"message": "x", "limit": 10**30}, "limit"),
    "budget negative": ({"message": "x", "token_budget": -1}, "token_budget"),
    "include unknown": ({"message": "x", "include": ["dreams"]}, "include[0]"),
    "include a string": ({"message": "x", "include": "cards"}, "include"),
    "a misspelt field": ({"message": "x", "sesion_id": "s"}, "sesion_id"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_CONTEXTS)
def test_a_bad_context_request_is_refused_with_the_field_named(
    client: ApiClient, zoe: EndUser, kind: str
) -> None:
    body, field = BAD_CONTEXTS[kind]
    assert field in assert_error(client.post("users/zoe/context/", body), 400)["fields"]


def test_search_returns_memories_with_their_ranks(client: ApiClient, zoe: EndUser) -> None:
    contact = make_contact(zoe, "Greta")
    wanted = make_memory(zoe, "Greta plays the cello.", contact)
    make_memory(zoe, "It rained in Lisbon.")
    old = make_memory(zoe, "Greta played the cello in Rome.", contact, status="outdated")
    embed_missing(zoe, embedder())
    for intent in ("recall", "explore", "exact", "general", None):
        body = {"query": "who plays the cello", "intent": intent, "limit": 5}
        status, reply = client.post("users/zoe/search/", body)
        assert status == 200
        first = reply["results"][0]
        assert first["id"] == str(wanted.id)
        assert first["contacts"] == [str(contact.id)]
        assert {"content", "score", "bm25_rank", "vector_rank", "reason"} <= set(first)
        assert str(old.id) not in [row["id"] for row in reply["results"]]
    body = {"query": "who plays the cello", "include_outdated": True}
    ids = [row["id"] for row in client.post("users/zoe/search/", body)[1]["results"]]
    assert str(old.id) in ids


@pytest.mark.parametrize(
    "body",
    [{}, {"query": ""}, {"query": 1}, {"query": "x", "intent": "guess"},
     {"query": "x", "limit": 101}, {"query": "x", "include_outdated": "no"}],
)  # fmt: skip
def test_a_bad_search_is_refused(client: ApiClient, zoe: EndUser, body: Any) -> None:
    assert_error(client.post("users/zoe/search/", body), 400, "invalid")


def test_changes_are_listed_latest_first_and_shown_with_their_rows(
    client: ApiClient, zoe: EndUser
) -> None:
    memory = make_memory(zoe, "Greta sings.")
    for importance in (0.1, 0.2, 0.3):
        client.patch(f"users/zoe/memories/{memory.id}/", {"importance": importance})

    status, body = client.get("users/zoe/changes/?limit=2")

    assert (status, body["count"], len(body["results"])) == (200, 3, 2)
    assert body["next"]
    latest = client.get(f"users/zoe/changes/{body['results'][0]['id']}/")[1]
    assert latest["verb"] == "edit"
    assert latest["subjects"] == [str(memory.id)]
    assert latest["rows"][0]["after"]["importance"] == 0.3
    with CaptureQueriesContext(connection) as queries:
        client.get("users/zoe/changes/")
    assert len(queries) <= 4


def test_export_holds_everything(client: ApiClient, zoe: EndUser) -> None:
    make_message(zoe, "Greta sings.")
    make_memory(zoe, "Greta sings.", make_contact(zoe, "Greta"))
    status, body = client.get("users/zoe/export/")
    assert (status, body["format"], body["version"]) == (200, "mio-user", 2)
    assert [m["content"] for m in body["messages"]] == ["Greta sings."]
    assert [c["name"] for c in body["contacts"]] == ["Greta"]
    assert len(body["links"]) == 1
    assert "embedding" not in body["memories"][0]


def test_forgetting_a_memory_a_contact_or_everything_leaves_nothing(
    client: ApiClient, zoe: EndUser
) -> None:
    greta = make_contact(zoe, "Greta")
    cello = make_memory(zoe, "Greta plays the cello.", greta)
    make_memory(zoe, "Greta hums.", greta)
    make_memory(zoe, "It rains.")

    status, body = client.post("users/zoe/forget/", {"memory": str(cello.id)})
    assert (status, body["memories"]) == (200, 1)
    status, body = client.post("users/zoe/forget/", {"contact": str(greta.id)})
    assert (status, body["contacts"], body["memories"]) == (200, 1, 1)
    status, body = client.post("users/zoe/forget/", {"everything": True})
    assert (status, body["memories"]) == (200, 1)
    assert_error(client.get("users/zoe/memories/"), 404, "unknown_user")
    assert_error(client.post("users/zoe/forget/", {"everything": True}), 404, "unknown_user")


@pytest.mark.parametrize(
    "body",
    [{}, [], {"everything": False}, {"everything": "yes"}, {"contact": "Greta"}, {"contact": 7},
     {"everything": True, "contact": str(uuid4())}, {"user": "zoe"}],
)  # fmt: skip
def test_a_doubtful_request_to_forget_forgets_nothing(
    client: ApiClient, zoe: EndUser, body: Any
) -> None:
    make_memory(zoe, "Greta sings.")
    assert_error(client.post("users/zoe/forget/", body), 400, "invalid")
    assert Memory.objects.exists()


def test_forgetting_what_is_not_there_is_404(client: ApiClient, zoe: EndUser) -> None:
    for kind in ("contact", "memory"):
        assert_error(client.post("users/zoe/forget/", {kind: str(uuid4())}), 404, "not_found")
