"""Conversations of frameworks as messages of Mio, which give each item back as it was.

What somebody said is a message with its text as the content, so that Mio reads it; the rest of the
item is kept in the message's metadata. Tool calls and whatever does not fit there are kept as JSON
in the content of a ``tool`` message, which Mio does not read."""

import copy
import json
from collections.abc import Sequence
from typing import Any, cast
from uuid import uuid4, uuid5

from mio_client.types import Message, MessageForm, RoleEnum

Item = dict[str, Any]
Place = Sequence[str | int]
KEPT = "item"
# The limits of the API (docs/api.md).
MAX_CONTENT = 100_000
MAX_METADATA = 4096
MAX_MESSAGES = 500


class Ids:
    """The client ids of one writer's messages: the same ones until they are known to be stored, so
    that adding again after a failure stores nothing twice."""

    def __init__(self) -> None:
        self._writer = uuid4()
        self._stored = 0

    def give(self, messages: list[MessageForm]) -> None:
        """Gives each message an id by its place and its words."""
        for place, message in enumerate(messages, self._stored):
            message["id"] = str(uuid5(self._writer, f"{place} {json.dumps(message)}"))

    def stored(self, count: int) -> None:
        """Says that so many more messages are stored."""
        self._stored += count


def message_of(item: Item, role: RoleEnum | None, at: Place | None, session_id: str) -> MessageForm:
    """A message that holds ``item``; ``at`` is where in it its text stands, ``role`` who said it.
    Raises ValueError for an item that is too long for a message."""
    if role is not None and at is not None:
        text, rest = _taken_out(item, at)
        kept = {KEPT: rest, "at": list(at)}
        if text.strip() and len(text) <= MAX_CONTENT and _bytes(kept) <= MAX_METADATA:
            return {"role": role, "content": text, "session_id": session_id, "metadata": kept}
    content = json.dumps(item, ensure_ascii=False)
    if len(content) > MAX_CONTENT:
        raise ValueError(
            f"An item of {len(content):,} characters: Mio keeps up to {MAX_CONTENT:,}. "
            "Send files and pictures by their address or id, and shorten what tools return."
        )
    return {"role": "tool", "content": content, "session_id": session_id, "metadata": {KEPT: None}}


def item_of(message: Message) -> Item | None:
    """The item that a message holds; None for one that no framework stored."""
    kept = message["metadata"]
    if KEPT not in kept:
        return None
    if kept[KEPT] is None:
        return cast(Item, json.loads(message["content"]))
    item = copy.deepcopy(kept[KEPT])
    *path, last = kept["at"]
    _reach(item, path)[last] = message["content"]
    return cast(Item, item)


def batches(messages: list[MessageForm]) -> list[list[MessageForm]]:
    """Parts that one request takes each."""
    return [messages[at : at + MAX_MESSAGES] for at in range(0, len(messages), MAX_MESSAGES)]


def _taken_out(item: Item, at: Place) -> tuple[str, Item]:
    rest = copy.deepcopy(item)
    *path, last = at
    held = _reach(rest, path)
    text, held[last] = held[last], ""
    return text, rest


def _reach(value: Any, path: Place) -> Any:
    for step in path:
        value = value[step]
    return value


def _bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
