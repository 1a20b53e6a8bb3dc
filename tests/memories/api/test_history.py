"""Versions, what held at a moment and what was forgotten, over HTTP."""

from datetime import timedelta
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from accounts.models import Change, EndUser
from memories.context import build
from memories.context.request import ContextRequest
from memories.corrections import edit_memories
from memories.corrections.edit_memories import Ending
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.jobs import sweep
from memories.models import Erasure, Memory
from memories.pipeline import run
from memories.pipeline.forget_requests import forget_asked
from memories.types import ForgetRequest
from tests.api import assert_error
from tests.factories import SOME_DAY, make_contact, make_memory, make_message
from tests.queue import queued

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def test_the_history_of_a_memory_tells_each_version(client, zoe):
    memory = make_memory(zoe, "Bob sings", source_message_ids=[4], quote="bob sings")
    change = edit_memories.edit(zoe, memory.id, {"content": "Bob hums"}, actor="app:x", why="typo")
    status, body = client.get(f"users/zoe/memories/{memory.id}/history/")
    assert status == 200
    first, second = body["results"]
    assert (first["content"], first["who"], first["change_id"]) == ("Bob sings", "user", None)
    assert (first["source_message_ids"], first["quote"]) == ([4], "bob sings")
    assert first["until"] == second["since"]
    assert (second["content"], second["why"], second["until"]) == ("Bob hums", "typo", None)
    assert second["change_id"] == str(change.id)


def test_no_memory_no_history(client, zoe):
    assert_error(client.get(f"users/zoe/memories/{uuid4()}/history/"), 404, "unknown_memory")


def test_the_list_of_a_moment_is_what_held_then_true_or_no_longer(client, zoe):
    old = make_memory(zoe, "Bob lives in Rome")
    make_memory(zoe, "Bob lives in Oslo", said_at=SOME_DAY + 2 * DAY)
    make_memory(zoe, "Bob is shy", status="archived")
    learnt = SOME_DAY + 2 * DAY
    edit_memories.outdate(zoe, [old], actor="app:x", why="moved", ending=Ending(learnt))
    moment = quote((SOME_DAY + DAY).isoformat())
    (row,) = client.get(f"users/zoe/memories/?valid_at={moment}")[1]["results"]
    assert (row["content"], row["status"]) == ("Bob lives in Rome", "outdated")


@pytest.mark.parametrize("moment", ["yesterday", "2026-03-02T12:00:00", "2999-01-01T00:00:00Z"])
def test_a_moment_that_is_none_is_refused(client, zoe, moment):
    error = assert_error(client.get(f"users/zoe/memories/?valid_at={moment}"), 400, "invalid")
    assert list(error["fields"]) == ["valid_at"]


@pytest.fixture
def asked(zoe) -> Erasure:
    """Zoe asked in session s to forget Bob."""
    bob = make_contact(zoe, "Bob")
    make_memory(zoe, "Bob sings", bob)
    message = make_message(zoe, "Please forget everything about Bob", session_id="s")
    forget_asked(zoe, [ForgetRequest(bob.id, asked_in=message.pk)])
    return Erasure.objects.get()


def context(client, session="s"):
    body = {"message": "hello", "session_id": session, "include": ["cards"]}
    return client.post("users/zoe/context/", body)[1]


def test_the_context_reports_what_was_forgotten_and_how_to_bring_it_back(client, zoe, asked):
    body = context(client)
    (told,) = body["forgetting"]
    assert told["id"] == str(asked.id)
    assert (told["state"], told["memories"], told["contacts"]) == ("hidden", 1, 1)
    assert told["erased_after"] == asked.due_at.isoformat().replace("+00:00", "Z")
    assert client.post(f"users/zoe/changes/{told['change_id']}/undo/")[0] == 200
    assert context(client)["forgetting"] == []
    assert Memory.objects.of(zoe).active().filter(content="Bob sings").exists()


def test_the_prompt_says_so_in_that_session_only_and_never_what(client, zoe, asked):
    prompt = context(client)["system_prompt"]
    assert prompt.startswith("<mio-memory>")
    assert "asked to forget" in prompt
    assert "Bob" not in prompt
    assert context(client, "t")["system_prompt"] == ""
    Erasure.objects.update(requested_at=timezone.now() - timedelta(hours=1))
    assert context(client)["system_prompt"] == ""


def test_what_was_erased_is_told_for_a_day(client, zoe, asked):
    erase.carry_out(asked.pk)
    (told,) = context(client)["forgetting"]
    assert (told["state"], told["memories"], told["change_id"]) == ("erased", 1, None)
    Erasure.objects.update(finished_at=timezone.now() - timedelta(days=1, seconds=1))
    assert context(client)["forgetting"] == []


def test_the_latest_five_are_told_first(client, zoe, asked):
    for number in range(6):
        Erasure.objects.create(
            end_user=zoe, requested_at=asked.requested_at - number * DAY, due_at=asked.due_at
        )
    told = context(client)["forgetting"]
    assert len(told) == 5
    assert [row["requested_at"] for row in told] == sorted(
        (row["requested_at"] for row in told), reverse=True
    )


def test_who_has_nothing_to_forget_pays_no_statement_for_it(client, zoe, django_assert_num_queries):
    make_contact(zoe, "Eva")
    zoe = EndUser.objects.select_related("app").get(pk=zoe.pk)  # as a request has it
    with django_assert_num_queries(2):  # the turns before, and whom all texts mean
        build.build(zoe, ContextRequest("Eva?", include=["cards"]))
    bob = make_contact(zoe, "Bob")
    make_memory(zoe, "Bob sings", bob)
    forget_asked(zoe, [ForgetRequest(bob.id)])
    zoe = EndUser.objects.select_related("app").get(pk=zoe.pk)
    with django_assert_num_queries(3):
        assert build.build(zoe, ContextRequest("Eva?", include=["cards"])).forgetting


def test_the_list_shows_every_state(client, zoe, asked):
    status, body = client.get("users/zoe/forgetting/")
    assert (status, body["count"], body["results"][0]["state"]) == (200, 1, "hidden")
    undo_change(asked.change, actor="app:x")
    assert client.get("users/zoe/forgetting/")[1]["results"][0]["state"] == "cancelled"


def test_an_app_may_erase_without_waiting(client, zoe, asked):
    address = f"users/zoe/forgetting/{asked.id}/erase/"
    status, body = client.post(address)
    assert (status, body["state"]) == (200, "erased")
    assert not Memory.objects.of(zoe).filter(content="Bob sings").exists()
    assert client.post(address)[1]["state"] == "erased"
    assert_error(client.post(f"users/zoe/forgetting/{uuid4()}/erase/"), 404, "unknown_forgetting")


def test_what_was_undone_is_not_erased(client, zoe, asked):
    undo_change(Change.objects.get(verb="hide"), actor="app:x")
    assert_error(client.post(f"users/zoe/forgetting/{asked.id}/erase/"), 409, "conflict")
    assert Memory.objects.of(zoe).filter(content="Bob sings").exists()


def say(client, content, role="user"):
    body = {"messages": [{"role": role, "content": content, "session_id": "s"}]}
    assert client.post("users/zoe/messages/", body)[0] == 202
    return queued()


def test_a_request_to_forget_waits_for_no_cadence(client, zoe):
    make_memory(zoe, "Bob sings", make_contact(zoe, "Bob"))
    assert say(client, "Nice weather today") == []
    assert say(client, "Please forget everything about Bob") == ["memories.tasks.extract"]
    assert run.extract_next(zoe.pk)
    assert not Memory.objects.of(zoe).active().filter(content="Bob sings").exists()
    assert not run.extract_next(zoe.pk)


def test_a_lost_task_is_found_by_the_sweep(client, zoe):
    say(client, "Please forget everything about Bob")
    OrmQ.objects.all().delete()
    sweep.sweep()
    assert "memories.tasks.extract" in queued()


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_the_user_can_ask(client, zoe, role):
    assert say(client, "Please forget everything about Bob", role) == []
