"""ChatGPT: ``conversations.json`` or ``conversations-000.json`` …, an array of conversations, or a
single one, each a tree of messages; the branch that was shown last is read."""

from collections.abc import Iterator
from typing import Any

from imports.formats.json_stream import moment, objects, root, text_of
from imports.source import Source
from imports.types import Role, Turn

NAME = "chatgpt"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_SPOKEN = ("text", "multimodal_text", "code")
_PARTS = (None, "text", "audio_transcription")  # typed, or transcribed speech


def sniff(head: str) -> float:
    return 0.95 if head.lstrip()[:1] in ("[", "{") and '"mapping"' in head else 0.0


def parse(source: Source) -> Iterator[Turn]:
    for _, conversation in objects(source, root(source)):
        mapping = conversation.get("mapping")
        if not isinstance(mapping, dict):
            continue
        chat = str(conversation.get("conversation_id") or conversation.get("id") or "")
        at = moment(conversation.get("create_time"))
        for message in _branch(mapping, conversation.get("current_node")):
            at = moment(message.get("create_time")) or at
            author = message.get("author")
            author = author if isinstance(author, dict) else {}
            role = _ROLES.get(text_of(author.get("role")), "")
            text = _text(message)
            if role and text and not _is_hidden(message, author):
                yield Turn(role, text, at, chat, role)


def _branch(mapping: dict[str, Any], current: Any) -> list[dict[str, Any]]:
    """Returns the messages from the first to the current one (else the newest), following parents."""
    if not isinstance(current, str) or current not in mapping:
        current = max(mapping, key=lambda key: _timestamp(mapping[key]), default=None)
    messages: list[dict[str, Any]] = []
    visited: set[str] = set()
    while isinstance(current, str) and current in mapping and current not in visited:
        visited.add(current)
        node = mapping[current] if isinstance(mapping[current], dict) else {}
        if isinstance(message := node.get("message"), dict):
            messages.append(message)
        current = node.get("parent")
    return messages[::-1]


def _timestamp(node: Any) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    created_at = moment(message.get("create_time")) if isinstance(message, dict) else None
    return created_at.timestamp() if created_at else 0.0


def _is_hidden(message: dict[str, Any], author: dict[str, Any]) -> bool:
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and (
        metadata.get("is_visually_hidden_from_conversation")
        or metadata.get("is_user_system_message")
    )
    return bool(hidden) or message.get("recipient", "all") != "all" or author.get("name") == "bio"


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if not isinstance(content, dict):
        return text_of(content).strip()
    if content.get("content_type") not in _SPOKEN:
        return ""
    parts = content.get("parts")
    texts = map(_part, parts if isinstance(parts, list) else [content.get("text")])
    return "\n".join(filter(None, texts))


def _part(part: Any) -> str:
    if isinstance(part, dict):
        part = part.get("text") if part.get("content_type") in _PARTS else None
    return text_of(part).strip()
