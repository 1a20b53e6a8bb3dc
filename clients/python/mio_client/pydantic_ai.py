"""Pydantic AI: tools and instructions on the memory of one end user."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import RunContext, Tool

from mio_client.client import AsyncMio


def mio_tools(mio: AsyncMio, user: str) -> list[Tool[Any]]:
    """Tools that look up memories and people of ``user``, and remember."""

    async def recall(query: str) -> list[str]:
        """What is remembered that has to do with a question.

        Args:
            query: The question, or words of it.
        """
        found = await mio.search(user, query=query)
        return [f"{one['content']} ({one['said_at'][:10]})" for one in found["results"]]

    async def who_is(text: str) -> list[str]:
        """What is known of the people that a text means, by name, nickname or role.

        Args:
            text: The message or the name.
        """
        meant = await mio.context(user, message=text, include=["cards"])
        return [one["card"] for one in meant["contacts"]]

    async def remember(fact: str) -> str:
        """Stores one fact about the user or somebody in their life.

        Args:
            fact: A whole sentence that names whom it is about.
        """
        await mio.add_memory(user, content=fact, why="a tool of an agent")
        return "Remembered."

    return [Tool(recall), Tool(who_is), Tool(remember)]


def mio_instructions(mio: AsyncMio, user: str) -> Callable[[RunContext[Any]], Awaitable[str]]:
    """Instructions that say, for each prompt, what is known of the people whom it means."""

    async def instructions(ctx: RunContext[Any]) -> str:
        if isinstance(ctx.prompt, str):
            words = ctx.prompt
        else:
            words = "\n".join(part for part in ctx.prompt or () if isinstance(part, str))
        if not words.strip():
            return ""
        return (await mio.context(user, message=words))["system_prompt"]

    return instructions
