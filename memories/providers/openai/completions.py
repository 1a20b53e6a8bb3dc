"""The completion in a server's reply, in any of the forms that servers of the protocol are known to
send: what stands beside the answer or around it never spoils it."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

MOST_TOKENS = 10**9  # that are believed of one call
_DONE = "[DONE]"


@dataclass(frozen=True, slots=True)
class Completion:
    """``texts`` are where the answer may be, the likeliest first, "" where nothing was written.
    ``tokens`` are (in, out), None where the server doesn't say."""

    texts: tuple[str, ...]
    finish_reason: str
    refused: bool
    tokens: tuple[int, int] | None


def read(body: str) -> Completion | None:
    """The first choice of a completion; None where the body holds none. Servers that can't but
    stream send the pieces of one though none were asked for."""
    parts = list(_parts(body))
    choices = [choice for part in parts if (choice := _choice(part))]
    messages = [message for choice in choices if (message := _message(choice)) is not None]
    finish = next(
        (choice["finish_reason"] for choice in choices[::-1] if choice.get("finish_reason")), ""
    )
    if not messages or (len(messages) > 1 and not finish and _DONE not in body):
        return None
    said = [
        "".join(written(message.get("content")) for message in messages),
        "".join(_arguments(message.get("tool_calls")) for message in messages),
        # Where thoughts are told apart, what comes without any is taken for one.
        "".join(written(m.get("reasoning_content") or m.get("reasoning")) for m in messages),
    ]
    return Completion(
        tuple(text for text in said if text.strip()) or ("",),
        str(finish),
        any(message.get("refusal") for message in messages) or finish == "content_filter",
        next((tokens for part in parts[::-1] if (tokens := _tokens(part.get("usage")))), None),
    )


def _parts(body: str) -> Iterator[dict[str, Any]]:
    """The object that a body is, or those of a stream of events."""
    whole = _loaded(body.strip().removesuffix(f"data: {_DONE}"))
    if isinstance(whole, dict):
        yield whole
        return
    for line in body.splitlines():
        if line.startswith("data:") and isinstance(part := _loaded(line[5:]), dict):
            yield part


def _loaded(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _choice(part: dict[str, Any]) -> dict[str, Any] | None:
    choices = part.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _message(choice: dict[str, Any]) -> dict[str, Any] | None:
    for name in ("message", "delta"):
        if isinstance(found := choice.get(name), dict):
            return found
    return {"content": choice["text"]} if "text" in choice else None


def written(content: Any) -> str:
    """What is written in a content: a text, a list of pieces of which those of text count, or an
    object that was meant to be one."""
    if isinstance(content, list):
        return "".join(written(_piece(piece)) for piece in content)
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    return content if isinstance(content, str) else ""


def _piece(piece: Any) -> Any:
    return piece.get("text") if isinstance(piece, dict) else piece


def _arguments(calls: Any) -> str:
    """What a tool was called with: some servers ask for structured output by one."""
    functions = [call.get("function") for call in calls or () if isinstance(call, dict)]
    return "".join(written(one.get("arguments")) for one in functions if isinstance(one, dict))


def _tokens(usage: Any) -> tuple[int, int] | None:
    try:
        counts = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return min(max(counts[0], 0), MOST_TOKENS), min(max(counts[1], 0), MOST_TOKENS)
