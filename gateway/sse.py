"""Reads what an assistant wrote from a copy of the bytes of its answer."""

import codecs
import json
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.chat_messages import answer_in, storable, texts_in, without_thoughts

_ENDED = ("response.completed", "response.incomplete", "response.failed")


def completion_in(received: bytes) -> str:
    """Returns the text of the first choice of a chat completion, of a stream that was cut as far as
    it came; "" if it calls tools or can't be read."""
    texts: list[str] = []
    for event in _events(received):
        first = _first_choice(event)
        delta = first.get("delta") or first.get("message")
        if not isinstance(delta, dict):
            continue
        if not first.get("delta") and delta.get("content"):
            texts.clear()  # the whole message, which may end a stream of its parts
        if delta.get("tool_calls") or delta.get("function_call"):
            return ""
        content = delta.get("content")
        texts += [content] if isinstance(content, str) else texts_in(content or [])
    return without_thoughts(storable("".join(texts)))


def _first_choice(body: Any) -> dict[str, Any]:
    """Returns the choice with the index 0; an empty dict if a chunk has none."""
    choices = body.get("choices") if isinstance(body, dict) else None
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("index") in (None, 0, "0"):
            return choice
    return {}


def response_in(received: bytes) -> str:
    """Returns the text in a response of the Responses API, whole or streamed; "" if it has none."""
    response: Any = None
    items: dict[Any, dict[str, Any]] = {}
    for event in _events(received):
        if not isinstance(event, dict):
            continue
        if "output" in event:
            return _text_of(event["output"])
        if isinstance(event.get("response"), dict):
            response = event["response"]
        if event.get("type") in _ENDED and isinstance(response, dict):
            return _text_of(response.get("output") or list(items.values()))
        _apply_event(items, event)
    return _text_of(list(items.values()))


def _apply_event(items: dict[Any, dict[str, Any]], event: Mapping[str, Any]) -> None:
    """Applies an event to the items of a response whose end may never come."""
    place = event.get("output_index", event.get("item_id"))
    item, delta = event.get("item"), event.get("delta")
    if not isinstance(place, int | str):
        return
    if isinstance(item, dict):
        items[place] = item
    elif event.get("type") == "response.output_text.delta" and isinstance(delta, str):
        content = items.get(place, {}).get("content")
        text = content if isinstance(content, str) else ""
        items[place] = {"role": "assistant", "content": text + delta}


def _text_of(output: Any) -> str:
    return answer_in(output) if isinstance(output, list) else ""


def _events(received: bytes) -> Iterator[Any]:
    """Yields the data of the events of a stream, whatever their names; a whole answer is one event. An
    event may have several lines of data, and a stream may be lines of JSON without a name."""
    if received.lstrip().startswith((b"{", b"[")) and (value := _json(received)) is not None:
        yield from value if isinstance(value, list) else [value]
        return
    data = b""
    for line in received.removeprefix(codecs.BOM_UTF8).splitlines():
        if not line:
            data = b""
        elif line.startswith((b"data:", b"{")):
            data += line.removeprefix(b"data:")
            event = _json(data)
            if event is not None:
                yield event
                data = b""


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
