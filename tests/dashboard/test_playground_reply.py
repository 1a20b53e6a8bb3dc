"""A model's reply in the playground: streamed, without a trace, for whom may spend money."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from accounts.models import EndUser
from contacts.models import Contact
from memories.context import build
from memories.context.request import ContextRequest
from tests.dashboard.playground import OPTIONS, SHE, ask, at, marks, talk, text
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact
from tests.servers import FakeOpenAI

pytestmark = pytest.mark.django_db

LINES = "application/x-ndjson"
REPLY = "小红最近很忙，也很开心，听说下周要去北京出差。"


@pytest.fixture
def hong(user: EndUser) -> Contact:
    return make_contact(user, "小红", gender="female", aliases=["阿红"])


@pytest.fixture
def server(settings: Any) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.MIO_LLM, settings.MIO_LLM_MODEL = "openai", "fake-model"
        settings.OPENAI_BASE_URL = fake.base_url
        yield fake


def streamed(client: Client, user: EndUser, most: int = 1000, **fields: Any) -> list[dict]:
    """The lines of a reply as a script reads them, at most so many."""
    reader = AsyncClient()
    reader.cookies = client.cookies
    data = {"message": SHE, "before": "session:s1", **OPTIONS, **fields}

    async def read() -> list[dict]:
        response = await reader.post(at(user, "reply/"), data, headers={"accept": LINES})
        assert (response.status_code, response["Content-Type"]) == (200, LINES)
        lines: list[dict] = []
        async with asyncio.timeout(10):  # a server that falls silent does so for longer
            async for line in response.streaming_content:
                lines.append(json.loads(line))
                if len(lines) == most:
                    break
        return lines

    return async_to_sync(read)()


@pytest.fixture
def talked(user: EndUser, hong: Contact) -> None:
    talk(user, "小红昨天来找我了", "你们聊了什么？")


@pytest.mark.usefixtures("talked")
def test_a_reply_comes_piece_by_piece_from_what_is_injected(
    server: FakeOpenAI, reviewer: Client, user: EndUser
) -> None:
    server.reply_text(REPLY)
    lines = streamed(reviewer, user)
    assert lines[-1] == {"done": True}
    pieces = [line["text"] for line in lines[:-1]]
    assert "".join(pieces) == REPLY
    assert len(pieces) > 1
    sent = server.requests[0].json["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "user"]
    assert (
        sent[0]["content"]
        == build.trace(user, ContextRequest(SHE, session_id="s1")).injection.system_prompt
    )
    assert sent[-1]["content"] == SHE


@pytest.mark.usefixtures("talked")
def test_a_piece_is_there_while_the_model_still_writes(
    server: FakeOpenAI, reviewer: Client, user: EndUser
) -> None:
    server.cut_stream(REPLY, stall=True)
    assert streamed(reviewer, user, most=1) == [{"text": REPLY[:8]}]


@pytest.mark.usefixtures("talked")
def test_a_reply_leaves_no_trace_either(
    server: FakeOpenAI, reviewer: Client, user: EndUser
) -> None:
    server.reply_text(REPLY)
    before = marks(user)
    messages = user.messages.count()
    streamed(reviewer, user)
    assert marks(user) == before
    assert user.messages.count() == messages


@pytest.mark.usefixtures("talked")
@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (lambda s: s.fail(429, retry_after=90), "asks to wait. Try again in 90 seconds"),
        (lambda s: s.fail(401, message=f"No key for {SHE}"), "The model refused"),
        (lambda s: s.cut_stream(REPLY), "broke off"),
        (lambda s: s.garble_stream(REPLY), "not in the expected form"),
        (lambda s: s.reply_text(REPLY, finish_reason="length"), "ended too early"),
    ],
)
def test_what_goes_wrong_is_said_in_words_and_never_logged(
    server: FakeOpenAI,
    reviewer: Client,
    user: EndUser,
    caplog: pytest.LogCaptureFixture,
    script: Any,
    problem: str,
) -> None:
    caplog.set_level("DEBUG")
    script(server)
    last = streamed(reviewer, user)[-1]
    assert problem in last["error"]
    logged = [r.getMessage() for r in caplog.records if not r.name.startswith("django.db")]
    assert not [line for line in logged if "最近" in line or "小红" in line]


@pytest.mark.usefixtures("talked")
def test_without_a_script_the_reply_is_on_the_page(
    server: FakeOpenAI, reviewer: Client, user: EndUser
) -> None:
    data = {"message": SHE, "before": "session:s1", **OPTIONS}
    server.reply_text(REPLY)
    assert REPLY in text(reviewer.post(at(user, "reply/"), data))
    server.cut_stream(REPLY)
    response = text(reviewer.post(at(user, "reply/"), data))
    assert REPLY[:8] in response
    assert "broke off" in response


def test_without_a_model_the_page_says_how_to_get_one(reviewer: Client, user: EndUser) -> None:
    assert "OPENAI_API_KEY" in text(ask(reviewer, user))
    response = reviewer.post(at(user, "reply/"), {"message": SHE, **OPTIONS})
    assert response.status_code == 422


def test_another_apps_user_does_not_exist(server: FakeOpenAI, user: EndUser) -> None:
    stranger = signed_in("reviewer", [make_app()])
    assert stranger.get(at(user)).status_code == 404
    assert ask(stranger, user).status_code == 404
    assert stranger.post(at(user, "reply/"), {"message": "x", **OPTIONS}).status_code == 404
    assert server.requests == []


def test_a_viewer_may_not_spend_money(server: FakeOpenAI, user: EndUser) -> None:
    viewer = signed_in("viewer")
    assert viewer.post(at(user, "reply/"), {"message": "x", **OPTIONS}).status_code == 403
    assert "reply/" not in text(ask(viewer, user))
    assert server.requests == []
