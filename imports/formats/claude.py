"""Claude: ``conversations.json``, an array of conversations with their messages in order."""

from collections.abc import Iterator
from typing import Any

from imports.formats.json_stream import moment, objects, text_of
from imports.source import Source
from imports.types import Role, Turn

NAME = "claude"
_ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}


def sniff(head: str) -> float:
    return 0.95 if head.lstrip().startswith("[") and '"chat_messages"' in head else 0.0


def parse(source: Source) -> Iterator[Turn]:
    for _, conversation in objects(source, "item"):
        messages = conversation.get("chat_messages")
        for message in messages if isinstance(messages, list) else ():
            if not isinstance(message, dict):
                continue
            role = _ROLES.get(text_of(message.get("sender")), "")
            text = text_of(message.get("text")) or _blocks(message.get("content"))
            if role and text:
                at = moment(message.get("created_at")) or moment(conversation.get("created_at"))
                yield Turn(role, text, at, text_of(conversation.get("uuid")), role)


def _blocks(content: Any) -> str:
    blocks = content if isinstance(content, list) else []
    texts = (
        text_of(b.get("text")) for b in blocks if isinstance(b, dict) and b.get("type") == "text"
    )
    return "\n".join(text for text in texts if text)
