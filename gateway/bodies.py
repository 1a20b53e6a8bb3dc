"""Reads the bodies of requests, within bounds and without blocking the event loop.

The JSON parser holds the interpreter until it is done, in whichever thread it runs. Its time
depends on the number of values and of escapes more than on bytes, so these are bounded too."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request

from accounts.errors import ApiError, too_large

T = TypeVar("T")

MAX_BODY = 32_000_000  # bytes; images come within it
# Bytes that are no character of a string: ten thousand messages have 180,000.
MAX_STRUCTURE = 300_000
MAX_ESCAPES = 3_000_000  # in strings: twice what a million tokens of escaped Chinese have
MAX_HANDED_ON = 512_000_000  # bytes of what is passed on unread: the longest file OpenAI takes
# Work on fewer bytes takes the event loop less than handing it to a thread and back.
_INLINE = 64_000

_THREADS = ThreadPoolExecutor(2, "gateway-bodies")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.S)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


async def in_thread_if_large(size: int, work: Callable[[], T]) -> T:
    """Returns what ``work`` on ``size`` bytes returns; work on many bytes is done in a thread."""
    if size <= _INLINE:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work)


async def whole(request: Request) -> bytes:
    """Returns the body of a request. Raises ApiError if it is too large."""
    check_length(request, MAX_BODY)
    return b"".join([piece async for piece in pieces(request, MAX_BODY)])


def check_length(request: Request, most: int) -> None:
    """Raises ApiError if a request states that its body has more bytes than ``most``."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise too_large(most)


async def pieces(request: Request, most: int) -> AsyncIterator[bytes]:
    """Yields the body of a request as it arrives. Raises ApiError after more than ``most`` bytes."""
    received = 0
    async for piece in request.stream():
        received += len(piece)
        if received > most:
            raise too_large(most)
        yield piece


def parsed(raw: bytes) -> dict[str, Any]:
    """Returns the JSON object in ``raw``. Raises ApiError."""
    if len(raw) > _INLINE and _is_dense(raw):
        message = (
            f"The body has more than {MAX_STRUCTURE:,} bytes of JSON beside its texts, or more than "
            f"{MAX_ESCAPES:,} escapes in them. Send fewer messages."
        )
        raise ApiError(413, "too_large", message)
    try:
        body = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "parse_error", "The body is not JSON in UTF-8.") from error
    if not isinstance(body, dict):
        raise ApiError(400, "parse_error", "The body is not a JSON object.")
    if _SURROGATE.search(raw):
        try:
            json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            message = "A text in the body has half of a surrogate pair, which is no character."
            raise ApiError(400, "parse_error", message) from error
    return body


def encoded(body: Mapping[str, Any]) -> bytes:
    """Returns ``body`` as JSON. Raises ApiError if it is nested too deeply."""
    try:
        return json.dumps(body).encode()
    except RecursionError as error:
        raise ApiError(400, "parse_error", "The body is nested too deeply.") from error


def _is_dense(raw: bytes) -> bool:
    if raw.count(b"\\") > MAX_ESCAPES:
        return True
    characters = 0  # of strings
    for string in _STRING.finditer(raw):
        if string.start() - characters > MAX_STRUCTURE:
            return True
        characters += max(0, len(string[0]) - 2)
    return len(raw) - characters > MAX_STRUCTURE
