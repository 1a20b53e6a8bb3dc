"""Claude: ``conversations.json``, an array of conversations, or a single one, with messages in
order. If messages name their parents, the branch that was shown last is read."""

from collections.abc import Iterator
from typing import Any

from imports.formats.json_stream import moment, objects, root, text_of
from imports.source import Source
from imports.types import Role, Turn

NAME = "claude"
_TYPES = ("text", "voice_note")
_ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}


def sniff(head: str) -> float:
    return 0.95 if head.lstrip()[:1] in ("[", "{") and '"chat_messages"' in head else 0.0


def parse(source: Source) -> Iterator[Turn]:
    for _, conversation in objects(source, root(source)):
        for message in _branch(conversation):
            role = _ROLES.get(text_of(message.get("sender")), "")
            text = text_of(message.get("text")) or _blocks(message.get("content"))
            if role and text:
                at = moment(message.get("created_at")) or moment(conversation.get("created_at"))
                yield Turn(role, text, at, text_of(conversation.get("uuid")), role)


def _branch(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    listed = conversation.get("chat_messages")
    messages = [m for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []
    by_id = {text_of(one.get("uuid")): one for one in messages}
    current, branch = text_of(conversation.get("current_leaf_message_uuid")), list[dict[str, Any]]()
    while current in by_id and len(branch) < len(messages):
        branch.append(by_id[current])
        current = text_of(by_id[current].get("parent_message_uuid"))
    return branch[::-1] or messages


def _blocks(content: Any) -> str:
    blocks = content if isinstance(content, list) else []
    texts = (
        text_of(b.get("text")) for b in blocks if isinstance(b, dict) and b.get("type") in _TYPES
    )
    return "\n".join(text for text in texts if text)
