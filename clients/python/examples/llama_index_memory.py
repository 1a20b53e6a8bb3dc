"""LlamaIndex: a memory with Mio as its long-term block; pass it to `agent.run(…, memory=memory)`."""

import asyncio

from llama_index.core.memory import Memory

from mio_client import AsyncMio
from mio_client.llama_index import MioMemoryBlock


async def main() -> None:
    async with AsyncMio() as mio:  # MIO_URL and MIO_KEY
        block = MioMemoryBlock(mio=mio, user="ann")
        memory = Memory.from_defaults(session_id="s1", memory_blocks=[block])
        for message in await memory.aget(input="How is Zoe?"):
            print(message.content)


asyncio.run(main())
