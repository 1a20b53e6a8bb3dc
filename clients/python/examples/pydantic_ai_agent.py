"""Pydantic AI: whom the prompt means stands in the instructions; tools look up and remember."""

import asyncio

from pydantic_ai import Agent

from mio_client import AsyncMio
from mio_client.pydantic_ai import mio_instructions, mio_tools


async def main() -> None:
    async with AsyncMio() as mio:  # MIO_URL and MIO_KEY
        known, tools = mio_instructions(mio, "ann"), mio_tools(mio, "ann")
        agent = Agent("openai-chat:gpt-4o-mini", instructions=known, tools=tools)
        print((await agent.run("How is Zoe?")).output)


asyncio.run(main())
