"""Telegram: ``result.json``, of one chat or of all of them."""

from collections.abc import Iterator
from typing import Any

from imports.formats.json_stream import moment, objects, text_of
from imports.source import Source, decoded
from imports.types import Turn

NAME = "telegram"
# Of one chat, or of each in the lists of a full export.
_ONE, _ALL = ("",), ("chats.list.item.", "left_chats.list.item.")
_OF_ALL = ('"chats":', '"left_chats":', '"personal_information":')
# Chats with programs, and channels, which many read.
_NO_TALK = ("bot_chat", "public_channel", "private_channel")


def sniff(head: str) -> float:
    keys = ('"date_unixtime"', '"text_entities"', '"from_id"', '"personal_information"')
    return 0.9 if head.lstrip().startswith("{") and any(word in head for word in keys) else 0.0


def parse(source: Source) -> Iterator[Turn]:
    head = "".join(decoded(source.head()).split())
    for place in _ALL if any(key in head for key in _OF_ALL) else _ONE:
        beside = [f"{place}{key}" for key in ("name", "type", "id")]
        for chat, message in objects(source, f"{place}messages.item", beside):
            kind = chat.get(f"{place}type")
            forwarded = any(key.startswith("forwarded_from") for key in message)
            if kind in _NO_TALK or message.get("type") != "message" or forwarded:
                continue
            name, text = text_of(message.get("from")), _text(message)
            at = moment(message.get("date_unixtime")) or moment(message.get("date"))
            if name and text:
                key = text_of(message.get("from_id"))
                yield Turn(name, text, at, str(chat.get(f"{place}id", "")), key=key)


def _text(message: dict[str, Any]) -> str:
    parts = message.get("text_entities") or message.get("text")
    words = [
        text_of(part.get("text")) if isinstance(part, dict) else text_of(part)
        for part in (parts if isinstance(parts, list) else [parts])
        if not (isinstance(part, dict) and part.get("type") == "blockquote")
    ]
    return "".join(words).strip()
