"""MioMemoryBlock in LlamaIndex's Memory: what leaves the short-term memory is learnt from."""

import asyncio

import pytest
from mio_client import AsyncMio, Mio

pytest.importorskip("llama_index.core", reason="pip install llama-index-core")

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from mio_client.llama_index import MioMemoryBlock


def test_what_is_known_stands_in_the_prompt_and_what_was_said_is_sent(address, key, mio: Mio):
    kim = mio.add_contact("ann", name="Kim Lee", attributes={"job": "nurse"})
    mio.add_memory("ann", content="Kim Lee plays chess.", contacts=[kim["id"]])

    async def talk() -> list[ChatMessage]:
        async with AsyncMio(address, key) as client:
            memory = Memory.from_defaults(
                session_id="s1", token_limit=60, token_flush_size=10, chat_history_token_ratio=0.5,
                memory_blocks=[MioMemoryBlock(mio=client, user="ann")],
            )  # fmt: skip
            assert (await memory.aget(input="")) == []
            said = [
                ChatMessage(role="user", content="I met Kim Lee."),
                ChatMessage(role="assistant", content="How nice! " * 10),
                ChatMessage(role="tool", content="{}", additional_kwargs={"tool_call_id": "c"}),
                ChatMessage(role="user", content="Kim Lee was well."),
                ChatMessage(role="assistant", content="Good."),
            ]
            await memory.aput_messages(said)
            return await memory.aget(input="What does she do?")

    block, *short = asyncio.run(talk())
    assert "nurse" in str(block.content)
    stored = list(mio.each(mio.list_messages, "ann"))[::-1]
    assert [one["content"] for one in stored] == ["I met Kim Lee.", "How nice! " * 10]
    assert {one["session_id"] for one in stored} == {"s1"}
    assert [one.content for one in short] == ["Kim Lee was well.", "Good."]
