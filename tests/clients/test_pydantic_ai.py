"""Pydantic AI's agents with the tools and instructions of Mio, a model over HTTP behind them."""

import asyncio
import json
from typing import Any

import pytest
from mio_client import AsyncMio, Mio

pytest.importorskip("pydantic_ai", reason="pip install pydantic-ai-slim")

from mio_client.pydantic_ai import mio_instructions, mio_tools
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.servers import FakeOpenAI


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A completion that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"c-{name}", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {
        "id": "1", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
    }  # fmt: skip


def test_an_agent_is_told_of_people_and_looks_up_and_remembers(address, key, mio: Mio):
    kim = mio.add_contact("ann", name="Kim Lee", attributes={"job": "nurse"})
    mio.add_memory("ann", content="Kim Lee plays chess.", contacts=[kim["id"]])

    async def talk() -> str:
        async with AsyncMio(address, key) as client:
            models = AsyncOpenAI(base_url=server.base_url, api_key="k")
            agent = Agent(
                OpenAIChatModel("m", provider=OpenAIProvider(openai_client=models)),
                instructions=mio_instructions(client, "ann"),
                tools=mio_tools(client, "ann"),
            )
            return (await agent.run("How is Kim Lee?")).output

    with FakeOpenAI() as server:
        server.usage = None
        server.reply_body(call("who_is", text="Kim Lee"))
        server.reply_body(call("recall", query="chess"))
        server.reply_body(call("remember", fact="Kim Lee has a dog."))
        server.reply_text("She is well.")
        assert asyncio.run(talk()) == "She is well."
        first, *_, last = [one.json["messages"] for one in server.requests_to("chat")]
        offered = {tool["function"]["name"] for tool in server.requests[0].json["tools"]}
    assert offered == {"recall", "who_is", "remember"}
    assert "nurse" in json.dumps(first)
    told = {one["tool_call_id"]: one["content"] for one in last if one["role"] == "tool"}
    assert "nurse" in told["c-who_is"]
    assert "Kim Lee plays chess." in told["c-recall"]
    assert [one["content"] for one in mio.list_memories("ann", q="dog")["results"]] == [
        "Kim Lee has a dog."
    ]
