"""OpenAI Agents SDK: the conversation is kept in Mio, which says who its people are."""

import asyncio

from agents import Agent, Runner, set_default_openai_api

from mio_client import AsyncMio
from mio_client.agents import MioSession


async def main(said: str) -> None:
    async with AsyncMio() as mio:  # MIO_URL and MIO_KEY
        known = (await mio.context("ann", message=said))["system_prompt"]
        agent = Agent(name="Friend", instructions=known)
        print((await Runner.run(agent, said, session=MioSession("s1", "ann", mio))).final_output)


set_default_openai_api("chat_completions")
asyncio.run(main("How is Zoe?"))
