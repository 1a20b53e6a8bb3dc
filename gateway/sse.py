"""What an assistant said, read from a copy of the bytes of its answer."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.chat_messages import answer_in, said, storable

_ENDED = ("response.completed", "response.incomplete", "response.failed")


@dataclass(frozen=True, slots=True)
class Answer:
    """``text`` is "" where the answer calls tools, is empty or can't be read; of a stream that was
    cut, what came. ``id`` is that of a response; one ``in_background`` may be read again later,
    so its text is there once it is whole."""

    text: str
    id: str = ""
    in_background: bool = False


def completion_in(heard: bytes, streamed: bool) -> Answer:
    """The first choice of a chat completion."""
    if not streamed:
        return Answer(_whole(_json(heard)))
    texts: list[str] = []
    for event in _events(heard):
        first = _first_choice(event)
        delta = first.get("delta")
        if not isinstance(delta, dict):
            continue
        if delta.get("tool_calls"):
            return Answer("")
        if isinstance(delta.get("content"), str):
            texts.append(delta["content"])
    return Answer(said(storable("".join(texts))))


def _whole(body: Any) -> str:
    message = _first_choice(body).get("message")
    if not isinstance(message, dict) or message.get("tool_calls"):
        return ""
    content = message.get("content")
    return said(storable(content)) if isinstance(content, str) else ""


def _first_choice(body: Any) -> dict[str, Any]:
    """The choice with the index 0, of which there may be none in a chunk."""
    choices = body.get("choices") if isinstance(body, dict) else None
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            return choice
    return {}


def response_in(heard: bytes, streamed: bool) -> Answer:
    """The output of a response."""
    if not streamed:
        return _response(_json(heard), whole=True)
    response: Any = None
    items: dict[Any, dict[str, Any]] = {}
    for event in _events(heard):
        if not isinstance(event, dict):
            continue
        if isinstance(event.get("response"), dict):
            response = event["response"]
        if event.get("type") in _ENDED:
            return _response(response, whole=True)
        _follow(items, event)
    cut = response if isinstance(response, dict) else {}
    return _response({**cut, "output": list(items.values())}, whole=False)


def _follow(items: dict[Any, dict[str, Any]], event: Mapping[str, Any]) -> None:
    """Takes an event into the items of a response of which the end may never come."""
    place, item, delta = event.get("output_index"), event.get("item"), event.get("delta")
    if not isinstance(place, int):
        return
    if isinstance(item, dict):
        items[place] = item
    elif event.get("type") == "response.output_text.delta" and isinstance(delta, str):
        told = items.get(place, {}).get("content")
        before = told if isinstance(told, str) else ""
        items[place] = {"role": "assistant", "content": before + delta}


def _response(body: Any, *, whole: bool) -> Answer:
    if not isinstance(body, dict):
        return Answer("")
    output, called = body.get("output"), body.get("id")
    text = answer_in(output) if isinstance(output, list) else ""
    in_background = body.get("background") is True
    return Answer(
        text if whole or not in_background else "",
        called if isinstance(called, str) else "",
        in_background,
    )


def _events(heard: bytes) -> Iterator[Any]:
    for line in heard.split(b"\n"):
        if line.startswith(b"data:"):
            yield _json(line[5:])


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
