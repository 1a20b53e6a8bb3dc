"""The JSON object in what a model wrote: behind thoughts, in prose, a fence or a wrapper."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from json_repair import repair_json
from pydantic import ValidationError

from memories.providers.openai.schemas import Wire

W = TypeVar("W", bound=Wire)
# So many places where an object may begin are tried, and so deep it may be wrapped.
MOST_STARTS, MOST_WRAPPED = 200, 2
# What ends the thoughts of a model that writes them before its answer, and the mark before each of
# several messages in one (the harmony format).
_THOUGHT = re.compile(
    r"</(?:\w+:)?(?:think|thinking|thought|thoughts|reasoning)>|\[/THINK\]|◁/think▷|<\|message\|>"
)
_MARK = re.compile(r"<\|[a-z_]+\|>\s*$")


def parsed(texts: Sequence[str], answer: type[W], *, drop_items: bool) -> W:
    """The answer in what a model wrote, with its punctuation mended. What is not in form is left out;
    so is, with ``drop_items``, an item that lacks what it needs, unless no other is left in its
    list. Raises ValidationError, of the first text."""
    errors = list[ValidationError]()
    context = {"answer": answer, "drop_items": drop_items}
    for text in texts:
        values, said = _answered(text)
        # What a model writes last is its answer; what it wraps comes after it.
        for value in (v for last in values[::-1] for v in (last, *_wrapped(last, answer))):
            try:
                return answer.model_validate(value, context=context)
            except ValidationError as exc:
                errors.append(exc)
        between = said[said.find("{") : said.rfind("}") + 1] or said
        try:
            return answer.model_validate_json(between, context=context)
        except ValidationError as exc:
            errors.append(exc)
        # What does not end as an object was cut off: to close it would lose what is missing.
        if _MARK.sub("", said).rstrip().rstrip("`").rstrip().endswith("}"):
            with suppress(RecursionError, ValueError):
                mended = repair_json(between, skip_json_loads=True) or "null"
                return answer.model_validate_json(mended, context=context)
    raise errors[0]


def _answered(text: str) -> tuple[list[Any], str]:
    """The outermost objects and lists behind the thoughts of a text, and all that stands there."""
    decoder, at, spans = json.JSONDecoder(strict=False), 0, list[tuple[int, int, Any]]()
    for _ in range(MOST_STARTS):
        start = min((i for sign in "{[" if (i := text.find(sign, at)) >= 0), default=-1)
        if start < 0:
            break
        at = start + 1
        with suppress(ValueError, RecursionError):
            value, at = decoder.raw_decode(text, start)
            spans.append((start, at, value))
    # A mark in a text of the answer ends nothing.
    ends = [
        mark.end()
        for mark in _THOUGHT.finditer(text)
        if not any(start < mark.start() < end for start, end, _ in spans)
    ]
    begin = ends[-1] if ends else 0
    return [value for start, _, value in spans if start >= begin], text[begin:]


def _wrapped(value: Any, answer: type[Wire], depth: int = MOST_WRAPPED) -> Iterator[Any]:
    """What a value holds that may be the answer, also as JSON in a text or as its only list."""
    needed = [name for name, field in answer.model_fields.items() if field.is_required()]
    if isinstance(value, list) and len(needed) == 1:
        yield {needed[0]: value}
    items = list(value.values()) if isinstance(value, dict) else value
    for one in items if isinstance(items, list) and depth else ():
        inner = next(iter(_answered(one)[0]), None) if isinstance(one, str) else one
        if isinstance(inner, dict):
            yield inner
            yield from _wrapped(inner, answer, depth - 1)
