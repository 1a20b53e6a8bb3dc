"""Reads the completion in a server's reply, in any of the forms that servers of the protocol are
known to send; extra data beside or around the answer is ignored."""

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

MOST_TOKENS = 10**9  # of one call; a higher count is not believed
_DONE = "[DONE]"


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote. ``texts`` may contain the answer, the likeliest first; ("",) if nothing
    was written. ``tokens`` are (in, out), None if the server doesn't report them."""

    texts: tuple[str, ...]
    finish_reason: str
    refused: bool
    tokens: tuple[int, int] | None


def read(body: str) -> Completion | None:
    """Returns the first choice of a completion; None if the body contains none. Joins the pieces of
    a stream, which some servers send although none was asked for."""
    document = _json_or_none(body.strip().removesuffix(f"data: {_DONE}"))
    events = (_json_or_none(line[5:]) for line in body.splitlines() if line.startswith("data:"))
    parts = _objects([document]) or _objects([*events])
    choices = [first for part in parts for first in _objects(part.get("choices"))[:1]]
    messages = []
    for one in choices:
        text = {"content": one["text"]} if "text" in one else None
        messages += _objects([one.get("message"), one.get("delta"), text])[:1]
    finish = next((one["finish_reason"] for one in choices[::-1] if one.get("finish_reason")), "")
    if not messages or (len(messages) > 1 and not finish and _DONE not in body):
        return None
    # Some servers ask for structured output by a tool.
    calls = [call for message in messages for call in _objects(message.get("tool_calls"))]
    texts = [
        "".join(written(message.get("content")) for message in messages),
        "".join(written(o.get("arguments")) for c in calls for o in _objects([c.get("function")])),
        # A server that separates thoughts may take an answer without thoughts for one.
        "".join(written(m.get("reasoning_content") or m.get("reasoning")) for m in messages),
    ]
    return Completion(
        tuple(text for text in texts if text.strip()) or ("",),
        str(finish),
        any(message.get("refusal") for message in messages) or finish == "content_filter",
        next((tokens for part in parts[::-1] if (tokens := _tokens(part.get("usage")))), None),
    )


def _json_or_none(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _objects(values: Any) -> list[dict[str, Any]]:
    """Returns the dicts in a list; [] if ``values`` is not a list."""
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def written(content: Any) -> str:
    """Returns the text of a content: a string, a list of pieces, or an object sent in its place."""
    if isinstance(content, list):
        return "".join(
            written(one.get("text") if isinstance(one, dict) else one) for one in content
        )
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    return content if isinstance(content, str) else ""


def _tokens(usage: Any) -> tuple[int, int] | None:
    try:
        counts = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return min(max(counts[0], 0), MOST_TOKENS), min(max(counts[1], 0), MOST_TOKENS)
