"""MioSession in runs of the OpenAI Agents SDK, and items that come back as they were."""

import asyncio
from typing import Any

import pytest
from mio_client import AsyncMio, Mio, MioError

pytest.importorskip("agents", reason="pip install openai-agents")

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    Session,
    SessionSettings,
    function_tool,
    set_tracing_disabled,
)
from mio_client.agents import MioSession
from openai import AsyncOpenAI

from tests.servers import FakeOpenAI

ITEMS: list[Any] = [
    {"role": "user", "content": "  My friend Zoe Park is a nurse in Oslo.\n"},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "奥斯陆"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "rain " * 10_000},
    {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "x" * 6000},
    {
        "id": "m1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Take an umbrella 🐝.", "annotations": []}],
    },
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "And this?"},
            {"type": "input_image", "image_url": "data:," + "a" * 9000, "detail": "auto"},
        ],
    },
    {"role": "developer", "content": "Be kind."},
    {"role": "user", "content": "yes"},
    {"role": "user", "content": "yes"},
    {"role": "user", "content": ""},
]  # fmt: skip


def run(address: str, key: str, act: Any) -> Any:
    async def connected() -> Any:
        async with AsyncMio(address, key) as mio:
            return await act(MioSession("s1", "ann", mio))

    return asyncio.run(connected())


def test_items_come_back_unchanged_and_what_was_said_is_learnt(address, key, mio: Mio):
    async def act(session: MioSession) -> None:
        assert isinstance(session, Session)
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.clear_session()
        await session.add_items(ITEMS[:4])
        await session.add_items(ITEMS[4:])
        assert await session.get_items() == ITEMS
        assert await session.get_items(limit=2) == ITEMS[-2:]
        assert await session.get_items(limit=0) == []
        session.session_settings = SessionSettings(limit=3)
        assert await session.get_items() == ITEMS[-3:]

    run(address, key, act)
    mio.process("ann", wait=True)
    assert [one["name"] for one in mio.list_contacts("ann")["results"]] == ["Zoe Park"]
    spoken = {one["role"] for one in mio.each(mio.list_messages, "ann")}
    assert spoken == {"user", "assistant", "system", "tool"}


def test_the_latest_item_is_popped_and_a_session_is_cleared_alone(address, key, mio: Mio):
    mio.add_messages("ann", messages=[{"role": "user", "content": "Hi", "session_id": "s2"}])

    async def act(session: MioSession) -> None:
        await session.add_items(ITEMS)
        assert await session.pop_item() == ITEMS[-1]
        await session.add_items([ITEMS[-1]])
        assert await session.get_items() == ITEMS
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == ITEMS[:1]

    run(address, key, act)
    assert mio.list_messages("ann", session_id="s2")["count"] == 1


def test_adding_again_after_a_failure_stores_once(address, key):
    async def act(session: MioSession) -> None:
        reachable = session._mio
        async with AsyncMio("http://127.0.0.1:1", key, retries=0) as session._mio:
            with pytest.raises(MioError, match="unreachable"):
                await session.add_items(ITEMS)
        session._mio = reachable
        await session.add_items(ITEMS)
        session._ids.stored(-len(ITEMS))  # as when the answer was lost
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS

    run(address, key, act)


def test_what_is_too_long_is_refused_and_nothing_is_stored(address, key):
    async def act(session: MioSession) -> None:
        with pytest.raises(ValueError, match="100,000"):
            await session.add_items([ITEMS[0], {**ITEMS[2], "output": "x" * 200_000}])
        assert await session.get_items() == []

    run(address, key, act)


def test_a_run_with_a_tool_goes_on_from_where_the_last_one_ended(address, key):
    set_tracing_disabled(True)
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {
        "id": "1", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
    }  # fmt: skip

    @function_tool
    def weather() -> str:
        return "rain"

    async def act(session: MioSession) -> None:
        client = AsyncOpenAI(base_url=server.base_url, api_key="k")
        model = OpenAIChatCompletionsModel(model="m", openai_client=client)
        agent = Agent(name="Mio", model=model, tools=[weather])
        first = await Runner.run(agent, "How is the weather?", session=session)
        assert first.final_output == "It rains."
        assert (await Runner.run(agent, "And now?", session=session)).final_output == "Still."
        kinds = [item.get("type") or item["role"] for item in await session.get_items()]
        assert kinds == [
            "user", "function_call", "function_call_output", "message", "user", "message",
        ]  # fmt: skip

    with FakeOpenAI() as server:
        server.reply_body(body)
        server.reply_text("It rains.")
        server.reply_text("Still.")
        run(address, key, act)
        sent = [one["role"] for one in server.requests[-1].json["messages"]]
        assert sent == ["user", "assistant", "tool", "assistant", "user"]
