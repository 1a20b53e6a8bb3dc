"""A memory block of LlamaIndex: what is known of the people that the last message is about."""

from typing import Any, cast
from uuid import uuid4

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from mio_client.client import AsyncMio
from mio_client.types import MessageForm, RoleEnum, Turn

ROLES: dict[MessageRole, RoleEnum] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
}
# So many turns before a message tell whom a pronoun means.
TURNS = 12


class MioMemoryBlock(BaseMemoryBlock[str]):
    """One end user's memory: sends the messages that leave the short-term memory, and answers
    with the block for the system prompt. Raises MioError."""

    name: str = Field(default="mio", description="The name of the block in the prompt.")
    mio: AsyncMio
    user: str

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        turns = [turn for turn in map(_turn, messages or []) if turn is not None]
        last = max((n for n, turn in enumerate(turns) if turn["role"] == "user"), default=None)
        if last is None:
            return ""
        context = await self.mio.context(
            self.user,
            message=turns[last]["content"],
            history=turns[max(0, last - TURNS) : last],
            session_id=block_kwargs.get("session_id"),
        )
        return context["system_prompt"]

    async def _aput(self, messages: list[ChatMessage]) -> None:
        forms = [
            cast(
                MessageForm,
                {
                    **turn,
                    "id": str(uuid4()),
                    "session_id": message.additional_kwargs.get("session_id"),
                },
            )
            for message in messages
            if (turn := _turn(message)) is not None
        ]
        if forms:
            await self.mio.add_messages(self.user, messages=forms)


def _turn(message: ChatMessage) -> Turn | None:
    """What somebody said; None for calls of tools and for a message without words."""
    role, words = ROLES.get(message.role), message.content
    return {"role": role, "content": words} if role and words and words.strip() else None
