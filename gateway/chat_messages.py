"""The messages of a request as they are: a list of JSON that anybody may have sent. What is added
is added to copies; everything else of a request stays as it came."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.text.fence import OPEN
from memories.text.own_words import without_injected

TEXT_PARTS = ("text", "input_text", "output_text")
_SYSTEM = ("system", "developer")
_REASONING = re.compile(
    r"<think>.*?(?:</think>|\Z)|<details type=\"reasoning\".*?(?:</details>|\Z)", re.S
)
_BEGINNING = 400  # characters
# What a model asks its client to do in the Responses API; what it says beside is no answer yet.
_CALLS = {
    "apply_patch_call", "computer_call", "custom_tool_call", "function_call", "local_shell_call",
    "mcp_approval_request", "shell_call",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user or the assistant said; ``place`` is its index in the request."""

    place: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """``turns`` end with the last user message. ``goes_on``: something was said or done after it,
    such as a call of a tool. ``system`` and ``last`` are how the system prompt and the last
    message begin. ``follows`` names what was said before, where the upstream keeps that itself;
    ``kept``: it keeps what it answers."""

    turns: tuple[Turn, ...]
    goes_on: bool
    system: str
    last: str
    follows: str = ""
    kept: bool = False


def read(messages: Any, instructions: Any = None) -> Conversation:
    """The conversation in ``messages`` (of the Responses API: ``input``), without turns where
    nobody said anything or it is no list of messages."""
    items = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    if not isinstance(items, list):
        items = []
    turns = list(_turns(items))
    users = [number for number, turn in enumerate(turns) if turn.role == "user"]
    turns = turns[: users[-1] + 1] if users else []
    systems = [_text(item) for item in items if _role(item) in _SYSTEM]
    if isinstance(instructions, str):
        systems = [instructions, *systems]
    return Conversation(
        tuple(turns),
        bool(turns) and turns[-1].place < len(items) - 1,
        _begins(systems[0]) if systems else "",
        _begins(_text(items[-1])) if items else "",
    )


def answer_in(items: Sequence[Any]) -> str:
    """What the assistant said in the output of a model; "" where it asks its client to do
    something first."""
    return said("\n".join(turn.text for turn in _turns(items)))


def _turns(items: Sequence[Any]) -> Iterator[Turn]:
    answer, calls = list[Turn](), False
    for place, item in enumerate(items):
        role, kind = _role(item), _kind(item)
        if role == "assistant":
            answer += [] if item.get("tool_calls") else [Turn(place, role, _text(item))]
        elif kind in _CALLS:
            calls = True
        elif role or kind.endswith("_output"):
            yield from [] if calls else answer
            answer, calls = [], False
            if role == "user":
                yield Turn(place, role, _text(item))
    yield from [] if calls else answer


def _kind(item: Any) -> str:
    return str(item.get("type") or "") if isinstance(item, dict) else ""


def _role(item: Any) -> str:
    return str(item.get("role") or "") if isinstance(item, dict) else ""


def _text(item: Any) -> str:
    """The text of a message, its text parts one after the other, without what no database holds."""
    return _raw(item).replace("\0", "").encode(errors="ignore").decode()


def _raw(item: Any) -> str:
    content = item.get("content") if isinstance(item, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if _is_text(part)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in TEXT_PARTS


def _begins(text: str) -> str:
    return " ".join(text[:_BEGINNING].split())


def said(text: str) -> str:
    """What was said in a text: without what a model thought before it."""
    return _REASONING.sub("", text).strip()


def normalised(text: str) -> str:
    """``text`` as it is the same however a client stored it: without what was injected."""
    text = without_injected(text) if OPEN[1:-1] in text else text
    return " ".join(unicodedata.normalize("NFC", said(text)).split())


def with_blocks(messages: Any, blocks: Mapping[int, str]) -> Any:
    """``messages`` with each block before the text of the message at its place."""
    if isinstance(messages, str):
        return f"{blocks[0]}\n\n{messages}"
    return [
        _before(item, blocks[place]) if place in blocks else item
        for place, item in enumerate(messages)
    ]


def _before(item: dict[str, Any], block: str) -> dict[str, Any]:
    content = item.get("content")
    if isinstance(content, list):
        mine = {"type": _kind_of_text(content), "text": f"{block}\n\n"}
        return {**item, "content": [mine, *content]}
    return {**item, "content": f"{block}\n\n{content or ''}"}


def with_system(messages: list[Any], block: str) -> list[Any]:
    """``messages`` with the block at the end of the first system message, or as one."""
    for place, item in enumerate(messages):
        if _role(item) in _SYSTEM:
            return [*messages[:place], _after(item, block), *messages[place + 1 :]]
    return [{"role": "system", "content": block}, *messages]


def _after(item: dict[str, Any], block: str) -> dict[str, Any]:
    content = item.get("content")
    if isinstance(content, list):
        mine = {"type": _kind_of_text(content), "text": f"\n\n{block}"}
        return {**item, "content": [*content, mine]}
    return {**item, "content": f"{content or ''}\n\n{block}"}


def _kind_of_text(content: Sequence[Any]) -> str:
    """What a part of text is called beside these parts."""
    kinds = [part["type"] for part in content if _is_text(part)]
    of_responses = any(_kind(part).startswith("input_") for part in content)
    return kinds[0] if kinds else "input_text" if of_responses else "text"
