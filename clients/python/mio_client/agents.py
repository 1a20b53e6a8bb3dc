"""Conversations of the OpenAI Agents SDK, kept in Mio, which learns from them."""

from typing import cast

from agents import SessionSettings, TResponseInputItem
from agents.memory.session_settings import resolve_session_limit

from mio_client.client import AsyncMio, MioError
from mio_client.transcript import Ids, Item, Place, batches, item_of, message_of
from mio_client.types import Message, MessageForm, RoleEnum

ROLES: dict[str, RoleEnum] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
PAGE = 200


class MioSession:
    """A ``Session`` of the Agents SDK: the messages of one session of one end user. Items come back
    as they were; clearing and popping erase messages for good, with what was learnt from them
    alone. Methods raise MioError, and ``add_items`` ValueError for an item that is too long."""

    def __init__(self, session_id: str, user: str, mio: AsyncMio) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = None
        self.user = user
        self._mio = mio
        self._ids = Ids()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The latest ``limit`` items, or all, the oldest first."""
        limit = resolve_session_limit(limit, self.session_settings)
        items = [_item(message) for message in await self._latest(limit)]
        return cast(list[TResponseInputItem], items[::-1])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items at the end; all that are added again after a failure are stored once."""
        messages = [_message(cast(Item, item), self.session_id) for item in items]
        self._ids.give(messages)
        for batch in batches(messages):
            await self._mio.add_messages(self.user, messages=batch)
        self._ids.stored(len(messages))

    async def pop_item(self) -> TResponseInputItem | None:
        """Erases the latest item and returns it."""
        for message in await self._latest(1):
            await self._mio.delete_message(self.user, message["id"])
            return cast(TResponseInputItem, _item(message))
        return None

    async def clear_session(self) -> None:
        """Erases the messages of the session."""
        if await self._latest(1):
            await self._mio.delete_session(self.user, session_id=self.session_id)

    async def _latest(self, limit: int | None) -> list[Message]:
        found: list[Message] = []
        if limit == 0:
            return found
        try:
            async for message in self._mio.each(
                self._mio.list_messages,
                self.user,
                session_id=self.session_id,
                limit=min(limit or PAGE, PAGE),
            ):
                found.append(message)
                if len(found) == limit:
                    break
        except MioError as error:
            if error.code != "unknown_user":
                raise
        return found


def _message(item: Item, session_id: str) -> MessageForm:
    return message_of(item, ROLES.get(item.get("role", "")), _text_at(item), session_id)


def _text_at(item: Item) -> Place | None:
    """Where the words of an item stand: its content, or the longest text among its parts."""
    content = item.get("content")
    if isinstance(content, str):
        return ("content",)
    parts = content if isinstance(content, list) else []
    texts = [n for n, part in enumerate(parts) if isinstance(part.get("text"), str)]
    if not texts:
        return None
    return ("content", max(texts, key=lambda n: len(parts[n]["text"])), "text")


def _item(message: Message) -> Item:
    """The item of a message; of one that something else stored, what was said."""
    return item_of(message) or {"role": message["role"], "content": message["content"]}
