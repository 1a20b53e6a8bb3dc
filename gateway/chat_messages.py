"""Reads and extends the messages of a request, a list of JSON that anybody may have sent. Blocks
are added to copies; everything else of a request stays as it came."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understanding.statements.client_text import without_client_text
from understanding.statements.fence import OPEN
from understanding.statements.own_words import without_injected
from understanding.text import clean, names_role

TEXT_PARTS = ("text", "input_text", "output_text")
_SYSTEM = ("system", "developer")
# How models mark their thoughts: by a name in some kind of brackets, and the same with a slash or
# "end" after them; by the channels of gpt-oss; as what a client folds up; by headings.
_NAME = r"/?[\w:.-]{0,20}?(?:think|thought|reason|reflection|analysis|scratchpad|monologue)[\w:.-]{0,16}+"
_MARK = re.compile(
    rf"(?<!`)(?P<left><\|?|&lt;|\[|◁|〈)(?P<name>{_NAME})(?:\s{{1,9}}+[\w:-][^<>]{{0,500}}+)?(?P<right>\|?>|&gt;|\]|▷|〉)"
    r"|(?P<channel><\|channel\|>)\s{0,9}+(?:analysis|commentary|thought)[^<>]{0,200}+<\|message\|>"
    r"|(?P<details><details)(?:\s[^<>]{0,200}type=\"reasoning\"[^<>]{0,500}+>|>\s{0,9}+<summary>[^<>]{0,60}(?:think|thought|reason)[^<>]{0,60}</summary>)"
    r"|^(?P<colons>:::)(?:thinking|reasoning)\b|\A\s{0,9}+(?P<plain>Thinking\.\.\.)$|(?P<unused><unused\d{1,4}>)thought$",
    re.I | re.M,
)
_CLOSED_BY = {
    "channel": "<|end|>", "details": "</details>", "colons": "\n:::",
    "plain": "...done thinking.", "unused": "<unused",
}  # fmt: skip
_SQUARE = {"think", "thinking", "thought", "thoughts", "reasoning"}  # people write others so
# Thoughts under a heading at the beginning, up to that of the answer.
_HEADED = re.compile(
    r"\A\W{0,9}(?:thinking|thoughts?|thought process|reasoning|here (?:is|are) my (?:thought process|reasoning)[^\n:]{0,20})"
    r"[\s:*]{0,9}(?:\n|(?<=: ))",
    re.I,
)
_ANSWERED = re.compile(
    r"^(?:[#*\s]{1,9}(?:final )?(?:answer|response|output)[:*\s]{0,9}$|here is my response:|\[BEGIN FINAL RESPONSE\])",
    re.I | re.M,
)
_TOKENS = re.compile(
    r"<\|(?:start\|>assistant|channel\|>final|message\|>|end\|>|return\|>|(?:begin|end)_of_solution\|>"
    r"|(?:START|END)_RESPONSE\|>)|\[END FINAL RESPONSE\]"
)
_LONGEST = 1_000_000  # characters
_LONGEST_NAME = 100
_WORD = re.compile(r"\S{1,200}")
# How a model asks its client to act in the Responses API; text beside such an item is no answer.
_CALLS = {
    "apply_patch_call", "computer_call", "custom_tool_call", "function_call", "local_shell_call",
    "mcp_approval_request", "shell_call",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user or the assistant wrote, without what a client added; ``place`` is its index in
    the request, ``speaker`` the name that the request gives to the writer."""

    place: int
    role: str
    text: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation in a request. ``turns`` end with the last user message; ``goes_on`` if
    anything follows it, such as a call of a tool. ``system`` is the system prompt, ``last`` the
    last message, unless that is an assistant's or a tool's."""

    turns: tuple[Turn, ...]
    goes_on: bool
    system: str
    last: str


def read(messages: Any, instructions: Any = None) -> Conversation:
    """Returns the conversation in ``messages`` (in the Responses API, ``input``); without turns if
    nobody wrote anything, or it is no list of messages."""
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
        systems[0] if systems else "",
        _text(items[-1]) if items and _role(items[-1]) in ("user", *_SYSTEM) else "",
    )


def answer_in(items: Sequence[Any]) -> str:
    """Returns what the assistant wrote in a model's output; "" if it asks its client to act first."""
    return without_thoughts("\n".join(turn.text for turn in _turns(items)))


def _turns(items: Sequence[Any]) -> Iterator[Turn]:
    """Yields the turns of user and assistant, without an assistant's texts beside calls of tools."""
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
                yield Turn(place, role, _user_text(_text(item)), _speaker(item))
    yield from [] if calls else answer


def _kind(item: Any) -> str:
    return str(item.get("type") or "") if isinstance(item, dict) else ""


def _role(item: Any) -> str:
    return str(item.get("role") or "") if isinstance(item, dict) else ""


def _speaker(item: Mapping[str, Any]) -> str:
    """Returns the participant that a user message names; "" for none, and for a mere role."""
    name = item.get("name")
    if not isinstance(name, str) or names_role(name):
        return ""
    return clean(storable(name).replace("_", " "), _LONGEST_NAME)


def _user_text(text: str) -> str:
    """Returns what the user wrote in a message; of a very long one only its beginning and end."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
    return without_client_text(text)


def _text(item: Any) -> str:
    """Returns the text of a message, its text parts joined."""
    return storable(_raw_text(item))


def storable(text: str) -> str:
    """Returns ``text`` without NUL and halves of surrogate pairs, which no database stores."""
    return text.replace("\0", "").encode(errors="ignore").decode()


def _raw_text(item: Any) -> str:
    content = item.get("content") if isinstance(item, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(texts_in(parts))


def texts_in(parts: Sequence[Any]) -> list[str]:
    """Returns the texts among the parts of a content."""
    texts = [part.get("text") for part in parts if _is_text(part)]
    return [text for text in texts if isinstance(text, str)]


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in TEXT_PARTS


def without_thoughts(text: str) -> str:
    """Returns ``text`` without the thoughts of a model: what is between their marks, after an
    opening mark that is never closed, and before a closing mark that was never opened."""
    lower, parts, at, opened = text.lower(), list[str](), 0, False
    headed = _HEADED.match(text)
    if headed and (answered := _ANSWERED.search(text, headed.end())):
        at = answered.end()
    for mark in _MARK.finditer(text):
        if mark.start() < at or (
            mark["left"] == "[" and mark["name"].strip("/").lower() not in _SQUARE
        ):
            continue
        name = mark["name"] or ""
        if name.startswith("/") or "end" in re.split(r"[_.:-]", name.lower()):
            at = at if opened else mark.end()
        else:
            parts.append(text[at : mark.start()])
            closing = _closing_mark(mark)
            end = lower.find(closing, mark.end())
            end = text.find(">", end) + 1 - len(closing) if end >= 0 and mark["unused"] else end
            at = end + len(closing) if end >= 0 else len(text)
        opened = True
    return _TOKENS.sub("", "".join([*parts, text[at:]])).strip()


def _closing_mark(mark: re.Match[str]) -> str:
    """Returns the mark that closes the thoughts opened by ``mark``, in lower case."""
    if not mark["name"]:
        return _CLOSED_BY[str(mark.lastgroup)]
    left, name, right = (mark[part].lower() for part in ("left", "name", "right"))
    closing_name = re.sub(r"(?:start|begin)(?=_)|(?<=_)(?:start|begin)\b", "end", name)
    return f"{left}{closing_name}{right}" if closing_name != name else f"{left}/{name}{right}"


def normalised(text: str) -> str:
    """Returns ``text`` in the form that is the same however a client stored it: without injected
    blocks and thoughts, in NFC, with single spaces. A very long text, which nobody writes, stays."""
    if len(text) > _LONGEST:
        return text
    text = without_injected(text) if OPEN[1:-1] in text else text
    text = without_thoughts(text)
    if not text.isascii():
        # In short pieces: NFC takes quadratic time for a long run of combining marks.
        text = _WORD.sub(lambda word: unicodedata.normalize("NFC", word[0]), text)
    return " ".join(text.split())


def with_blocks(messages: Any, blocks: Mapping[int, str]) -> Any:
    """Returns ``messages`` with each block before the text of the message at its index."""
    if isinstance(messages, str):
        return f"{blocks[0]}\n\n{messages}"
    return [
        _with_block_before(item, blocks[place]) if place in blocks else item
        for place, item in enumerate(messages)
    ]


def _with_block_before(item: dict[str, Any], block: str) -> dict[str, Any]:
    content = item.get("content")
    if isinstance(content, list):
        part = {"type": _text_type(content), "text": f"{block}\n\n"}
        return {**item, "content": [part, *content]}
    return {**item, "content": f"{block}\n\n{content or ''}"}


def with_system(messages: list[Any], block: str) -> list[Any]:
    """Returns ``messages`` with the block at the end of the first system message, or as a new one."""
    for place, item in enumerate(messages):
        if _role(item) in _SYSTEM:
            return [*messages[:place], _with_block_after(item, block), *messages[place + 1 :]]
    return [{"role": "system", "content": block}, *messages]


def _with_block_after(item: dict[str, Any], block: str) -> dict[str, Any]:
    content = item.get("content")
    if isinstance(content, list):
        part = {"type": _text_type(content), "text": f"\n\n{block}"}
        return {**item, "content": [*content, part]}
    return {**item, "content": f"{content or ''}\n\n{block}"}


def _text_type(content: Sequence[Any]) -> str:
    kinds = [part["type"] for part in content if _is_text(part)]
    of_responses = any(_kind(part).startswith("input_") for part in content)
    return kinds[0] if kinds else "input_text" if of_responses else "text"
