"""Parses JSON strictly: refuses what other parsers accept and databases can't store."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser

from accounts.errors import too_large

MAX_DEPTH = 20
MAX_VALUES = 200_000  # several times what the longest list of messages or contacts holds
_SURROGATES = range(0xD800, 0xE000)


class StrictJSONParser(BaseParser):
    """UTF-8 JSON without duplicate keys, NaN, infinities, NUL, lone surrogates or deep nesting."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,  # noqa: ARG002 part of the interface
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise too_large(limit)
        return parse(body, MAX_VALUES)


def parse(body: bytes, most: float = math.inf) -> Any:
    """Returns the JSON value in ``body``. Raises ParseError, or ValidationError with a path."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ParseError(f"The body is not UTF-8 (byte {error.start}).") from error
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError as error:
        raise ParseError("The JSON is nested too deeply.") from error
    except ValueError as error:
        where = (
            f" ({error.msg}, line {error.lineno}, column {error.colno})"
            if isinstance(error, json.JSONDecodeError)
            else ""
        )
        raise ParseError(f"The body is not valid JSON{where}.") from error
    _check_text(value, most)
    return value


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ParseError("The JSON has an object with the same key twice.")
        members[key] = value
    return members


def _refuse_constant(constant: str) -> float:
    raise ParseError(f"{constant} is not JSON.")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ParseError("The JSON has a number that is too large.")
    return value


def _check_text(root: Any, most: float) -> None:
    """Raises unless all strings and keys can be stored as text, and depth and number are bounded."""
    waiting, values = [(root, "", 0)], 1
    while waiting:
        value, path, depth = waiting.pop()
        values += len(value) if isinstance(value, dict | list) else 0
        if values > most:
            raise ParseError(f"The JSON holds more than {most:,} values: send it in parts.")
        if depth > MAX_DEPTH:
            raise ParseError("The JSON is nested too deeply.")
        if isinstance(value, str):
            if problem := _problem(value):
                raise ValidationError({path: [problem]})
        elif isinstance(value, dict):
            for key, item in value.items():
                if problem := _problem(key):
                    raise ValidationError({path: [f"A key in it: {problem}"]})
                waiting.append((item, f"{path}.{key}" if path else key, depth + 1))
        elif isinstance(value, list):
            waiting += [(item, f"{path}[{n}]", depth + 1) for n, item in enumerate(value)]


def _problem(text: str) -> str:
    if "\x00" in text:
        return "NUL characters are not allowed."
    if not text.isascii() and any(ord(char) in _SURROGATES for char in text):
        return "Half of a surrogate pair is not a character."
    return ""
