"""The messages of a request as they are: a list of JSON that anybody may have sent. What is added
is added to copies; everything else of a request stays as it came."""

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
# How models mark their thoughts: by a name in brackets of some kind, and the same with a stroke or
# "end" behind them; by the channels of gpt-oss; as what a client folds up; by headings.
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
_SQUARE = {"think", "thinking", "thought", "thoughts", "reasoning"}  # others people write so
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
# What a model asks its client to do in the Responses API; what it says beside is no answer yet.
_CALLS = {
    "apply_patch_call", "computer_call", "custom_tool_call", "function_call", "local_shell_call",
    "mcp_approval_request", "shell_call",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user or the assistant said, without what a client put beside it; ``place`` is the
    index in the request. ``speaker`` is the name that the request gives to who wrote it."""

    place: int
    role: str
    text: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """``turns`` end with the last user message. ``goes_on``: something was said or done after it,
    such as a call of a tool. ``system`` is the system prompt and ``last`` the last message, unless
    that is an assistant's or a tool's."""

    turns: tuple[Turn, ...]
    goes_on: bool
    system: str
    last: str


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
        systems[0] if systems else "",
        _text(items[-1]) if items and _role(items[-1]) in ("user", *_SYSTEM) else "",
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
                yield Turn(place, role, _own(_text(item)), _speaker(item))
    yield from [] if calls else answer


def _kind(item: Any) -> str:
    return str(item.get("type") or "") if isinstance(item, dict) else ""


def _role(item: Any) -> str:
    return str(item.get("role") or "") if isinstance(item, dict) else ""


def _speaker(item: Mapping[str, Any]) -> str:
    """The participant that a user message names; "" for none, and for a mere role."""
    name = item.get("name")
    if not isinstance(name, str) or names_role(name):
        return ""
    return clean(storable(name).replace("_", " "), _LONGEST_NAME)


def _own(text: str) -> str:
    """What the user wrote of a message. Of a very long one the beginning and the end are read."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
    return without_client_text(text)


def _text(item: Any) -> str:
    """The text of a message, its text parts one after the other."""
    return storable(_raw(item))


def storable(text: str) -> str:
    """``text`` without NUL and halves of surrogate pairs, which no database holds."""
    return text.replace("\0", "").encode(errors="ignore").decode()


def _raw(item: Any) -> str:
    content = item.get("content") if isinstance(item, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(texts_in(parts))


def texts_in(parts: Sequence[Any]) -> list[str]:
    """The texts of the parts of a content that are text."""
    texts = [part.get("text") for part in parts if _is_text(part)]
    return [text for text in texts if isinstance(text, str)]


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in TEXT_PARTS


def said(text: str) -> str:
    """``text`` without the thoughts of a model: what stands between their marks, up to the end of
    the text where they are not closed, and up to a mark that closes what was begun unseen."""
    lower, parts, at, opened = text.lower(), list[str](), 0, False
    headed = _HEADED.match(text)
    if headed and (answered := _ANSWERED.search(text, headed.end())):
        at = answered.end()
    for mark in _MARK.finditer(text):
        if mark.start() < at or (
            mark["left"] == "[" and mark["name"].strip("/").lower() not in _SQUARE
        ):
            continue
        if mark["name"] and _ends(mark["name"]):
            at = at if opened else mark.end()
        else:
            parts.append(text[at : mark.start()])
            closing = _closing(mark)
            end = lower.find(closing, mark.end())
            end = text.find(">", end) + 1 - len(closing) if end >= 0 and mark["unused"] else end
            at = end + len(closing) if end >= 0 else len(text)
        opened = True
    return _TOKENS.sub("", "".join([*parts, text[at:]])).strip()


def _ends(name: str) -> bool:
    return name.startswith("/") or "end" in re.split(r"[_.:-]", name.lower())


def _closing(mark: re.Match[str]) -> str:
    """The mark that ends the thoughts begun by a mark, in lower case."""
    if not mark["name"]:
        return _CLOSED_BY[str(mark.lastgroup)]
    left, name, right = (mark[part].lower() for part in ("left", "name", "right"))
    begun = re.sub(r"(?:start|begin)(?=_)|(?<=_)(?:start|begin)\b", "end", name)
    return f"{left}{begun}{right}" if begun != name else f"{left}/{name}{right}"


def normalised(text: str) -> str:
    """``text`` as it is the same however a client stored it: without what was injected, in NFC,
    with single spaces. A very long one, which nobody writes, stays as it is."""
    if len(text) > _LONGEST:
        return text
    text = without_injected(text) if OPEN[1:-1] in text else text
    text = said(text)
    if not text.isascii():
        # In short pieces: NFC takes quadratic time for a long run of combining marks.
        text = _WORD.sub(lambda word: unicodedata.normalize("NFC", word[0]), text)
    return " ".join(text.split())


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
        part = {"type": _kind_of_text(content), "text": f"{block}\n\n"}
        return {**item, "content": [part, *content]}
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
        part = {"type": _kind_of_text(content), "text": f"\n\n{block}"}
        return {**item, "content": [*content, part]}
    return {**item, "content": f"{content or ''}\n\n{block}"}


def _kind_of_text(content: Sequence[Any]) -> str:
    kinds = [part["type"] for part in content if _is_text(part)]
    of_responses = any(_kind(part).startswith("input_") for part in content)
    return kinds[0] if kinds else "input_text" if of_responses else "text"
