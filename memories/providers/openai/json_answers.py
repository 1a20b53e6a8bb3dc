"""The JSON object in what a model wrote: behind thoughts, in prose, a fence or a wrapper, with a
field that is not in form."""

import copy
import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from json_repair import repair_json
from pydantic import ValidationError

from memories.providers.openai.schemas import Wire

W = TypeVar("W", bound=Wire)
# So many places where an object may begin are tried, and so deep it may be wrapped.
MOST_STARTS, MOST_WRAPPED = 200, 2
_OPENS = re.compile(r"[{\[]")
# What ends the thoughts of a model that writes them before its answer, and the mark before each of
# several messages in one (the harmony format).
_THOUGHT = re.compile(
    r"</(?:\w+:)?(?:think|thinking|thought|thoughts|reasoning)>|\[/THINK\]|◁/think▷|<\|message\|>"
)
_MARK = re.compile(r"<\|[a-z_]+\|>\s*$")


def parsed(texts: Sequence[str], answer: type[W], *, drop_items: bool) -> W:
    """The answer in what a model wrote, mended where only its punctuation is wrong: a comma too
    many, quotes of the wrong kind, a comment. A field that is not in form is left out; so is, with
    ``drop_items``, an item that lacks what it needs, unless no other is left in its list. Raises
    ValidationError, of the first text."""
    errors = list[ValidationError]()
    for text in texts:
        try:
            return _parsed(text, answer, drop_items=drop_items)
        except ValidationError as exc:
            errors.append(exc)
    raise errors[0]


def _parsed(text: str, answer: type[W], *, drop_items: bool) -> W:
    values, said = _answered(text)
    error: ValidationError | None = None
    # What a model writes last is its answer.
    for value in values[::-1]:
        try:
            return _validated(value, answer, drop_items=drop_items)
        except ValidationError as exc:
            error = error or exc
    found = _between_braces(said)
    try:
        return answer.model_validate_json(found)
    except ValidationError as exc:
        error = error or exc
    # What does not end as an object was cut off: to close it would lose what is missing.
    if _MARK.sub("", said).rstrip().rstrip("`").rstrip().endswith("}"):
        with suppress(RecursionError, ValueError):
            return answer.model_validate_json(repair_json(found, skip_json_loads=True) or "null")
    raise error


def _answered(text: str) -> tuple[list[Any], str]:
    """The objects and lists that are written out behind the thoughts of a text, none inside another,
    and all that stands there."""
    decoder, at, spans = json.JSONDecoder(strict=False), 0, list[tuple[int, int, Any]]()
    for _ in range(MOST_STARTS):
        opens = _OPENS.search(text, at)
        if opens is None:
            break
        at = opens.end()
        with suppress(ValueError, RecursionError):
            value, at = decoder.raw_decode(text, opens.start())
            spans.append((opens.start(), at, value))
    # A mark in a text of the answer ends nothing.
    ends = [
        mark.end()
        for mark in _THOUGHT.finditer(text)
        if not any(start < mark.start() < end for start, end, _ in spans)
    ]
    begin = ends[-1] if ends else 0
    return [value for start, _, value in spans if start >= begin], text[begin:]


def _between_braces(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _validated(value: Any, answer: type[W], *, drop_items: bool) -> W:
    """Of this value, or of what it wraps."""
    try:
        return _in_form(value, answer, drop_items=drop_items)
    except ValidationError as exc:
        error = exc
    for wrapped in _wrapped(value, answer, MOST_WRAPPED):
        with suppress(ValidationError):
            return _in_form(wrapped, answer, drop_items=drop_items)
    raise error


def _wrapped(value: Any, answer: type[Wire], depth: int) -> Iterator[Any]:
    """What a value holds that may be the answer: objects, also as JSON in a text, and for an answer
    that is one list, the list."""
    needed = _needed(answer)
    if isinstance(value, list) and len(needed) == 1:
        yield {needed[0]: value}
    held = list(value.values()) if isinstance(value, dict) else value
    for one in held if isinstance(held, list) and depth else ():
        inner = next(iter(_answered(one)[0]), None) if isinstance(one, str) else one
        if isinstance(inner, dict):
            yield inner
            yield from _wrapped(inner, answer, depth - 1)


def _in_form(value: Any, answer: type[W], *, drop_items: bool) -> W:
    errors = list[ValidationError]()
    mended = value
    # Once for the fields, once for what lacks one then, and once for what held that.
    for _ in range(4):
        try:
            return answer.model_validate(mended)
        except ValidationError as exc:
            errors.append(exc)
            mended = copy.deepcopy(value) if mended is value else mended
            if not _mend(mended, exc, _needed(answer), drop_items=drop_items):
                break
    raise errors[0]


def _needed(answer: type[Wire]) -> list[str]:
    return [name for name, field in answer.model_fields.items() if field.is_required()]


def _mend(value: Any, error: ValidationError, needed: Collection[str], *, drop_items: bool) -> bool:
    """Takes out the fields that the error names, and the items of lists that lack what they need,
    of the lists in ``needed`` only with ``drop_items``; returns whether all of them could be."""
    taken = set[tuple[int | str, ...]]()
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        where = one["loc"]
        if one["type"] == "missing":
            where = where[:-1]
            while where and not isinstance(where[-1], int):
                where = where[:-1]
        is_item = len(where) == 2 and where[0] in needed
        if not where or (is_item and not drop_items):
            return False
        taken.add(where)
    for where in sorted(
        taken, key=lambda where: (len(where), str(where[:-1]), where[-1:]), reverse=True
    ):
        holder = value
        try:
            for part in where[:-1]:
                holder = holder[part]
            del holder[where[-1]]
        except (KeyError, IndexError, TypeError):
            return False
        if not holder and where[0] in needed and len(where) == 2:  # nothing of the answer is left
            return False
    return True
