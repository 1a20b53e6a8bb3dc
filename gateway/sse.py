"""What an assistant said, read from a copy of the bytes of its answer."""

import json
from collections.abc import Iterator
from typing import Any

from gateway.chat_messages import said


def answer_of(heard: bytes, *, streamed: bool) -> str:
    """The text of the first choice; "" where the answer calls tools, is empty or can't be read. Of a
    stream that was cut, what came."""
    if not streamed:
        return _whole(_json(heard))
    texts: list[str] = []
    for event in _events(heard):
        first = _first_choice(event)
        delta = first.get("delta")
        if not isinstance(delta, dict):
            continue
        if delta.get("tool_calls"):
            return ""
        if isinstance(delta.get("content"), str):
            texts.append(delta["content"])
    return said("".join(texts))


def _whole(body: Any) -> str:
    message = _first_choice(body).get("message")
    if not isinstance(message, dict) or message.get("tool_calls"):
        return ""
    content = message.get("content")
    return said(content) if isinstance(content, str) else ""


def _first_choice(body: Any) -> dict[str, Any]:
    """The choice with the index 0, of which there may be none in a chunk."""
    choices = body.get("choices") if isinstance(body, dict) else None
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            return choice
    return {}


def _events(heard: bytes) -> Iterator[Any]:
    for line in heard.split(b"\n"):
        if line.startswith(b"data:"):
            yield _json(line[5:])


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
