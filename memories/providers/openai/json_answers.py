"""Finds the JSON object in what a model wrote: after thoughts, in prose, a fence or a wrapper."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from json_repair import repair_json
from pydantic import ValidationError

from memories.providers.openai.schemas import Wire

W = TypeVar("W", bound=Wire)
# How many places where an object may begin are tried, and how deep it may be wrapped.
MOST_STARTS, MOST_WRAPPED = 200, 2
# What ends the thoughts of a model that writes them before its answer, and the mark before each of
# several messages in one (the harmony format).
_THOUGHT = re.compile(
    r"</(?:\w+:)?(?:think|thinking|thought|thoughts|reasoning)>|\[/THINK\]|◁/think▷|<\|message\|>"
)
_MARK = re.compile(r"<\|[a-z_]+\|>\s*$")


def parsed(texts: Sequence[str], answer: type[W], *, drop_items: bool) -> W:
    """Returns the answer in what a model wrote, with its punctuation mended. Malformed parts are
    left out; with ``drop_items`` also items that lack a required field, unless no item of the list
    is valid. Raises ValidationError, of the first text."""
    errors = list[ValidationError]()
    context = {"answer": answer, "drop_items": drop_items}
    for text in texts:
        values, answer_text = _values_after_thoughts(text)
        # What a model writes last is its answer; what this wraps is tried after it.
        for value in (v for last in values[::-1] for v in (last, *_wrapped(last, answer))):
            try:
                return answer.model_validate(value, context=context)
            except ValidationError as exc:
                errors.append(exc)
        between = answer_text[answer_text.find("{") : answer_text.rfind("}") + 1] or answer_text
        try:
            return answer.model_validate_json(between, context=context)
        except ValidationError as exc:
            errors.append(exc)
        # A text that does not end as an object was cut off: closing it would hide what is missing.
        if _MARK.sub("", answer_text).rstrip().rstrip("`").rstrip().endswith("}"):
            with suppress(RecursionError, ValueError):
                mended = repair_json(between, skip_json_loads=True) or "null"
                return answer.model_validate_json(mended, context=context)
    raise errors[0]


def _values_after_thoughts(text: str) -> tuple[list[Any], str]:
    """Returns the outermost objects and lists after the thoughts of a text, and the text there."""
    decoder, at, spans = json.JSONDecoder(strict=False), 0, list[tuple[int, int, Any]]()
    for _ in range(MOST_STARTS):
        start = min((i for sign in "{[" if (i := text.find(sign, at)) >= 0), default=-1)
        if start < 0:
            break
        at = start + 1
        with suppress(ValueError, RecursionError):
            value, at = decoder.raw_decode(text, start)
            spans.append((start, at, value))
    # A mark inside a string of the answer ends nothing.
    ends = [
        mark.end()
        for mark in _THOUGHT.finditer(text)
        if not any(start < mark.start() < end for start, end, _ in spans)
    ]
    begin = ends[-1] if ends else 0
    return [value for start, _, value in spans if start >= begin], text[begin:]


def _wrapped(value: Any, answer: type[Wire], depth: int = MOST_WRAPPED) -> Iterator[Any]:
    """Yields what in ``value`` may be the answer, also as JSON in a string or as its only list."""
    needed = [name for name, field in answer.model_fields.items() if field.is_required()]
    if isinstance(value, list) and len(needed) == 1:
        yield {needed[0]: value}
    items = list(value.values()) if isinstance(value, dict) else value
    for one in items if isinstance(items, list) and depth else ():
        inner = next(iter(_values_after_thoughts(one)[0]), None) if isinstance(one, str) else one
        if isinstance(inner, dict):
            yield inner
            yield from _wrapped(inner, answer, depth - 1)
