"""Sends requests to the upstream and returns its answers: bytes as they come, or an error instead."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeVar

import httpx2
from opentelemetry.trace import SpanKind
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive

from accounts import tracing
from accounts.encryption import Undecryptable, decrypt
from accounts.errors import ApiError
from gateway.models import Upstream

T = TypeVar("T")
Client = httpx2.AsyncClient

# Seconds. A model may think for minutes before it says a word.
TIMEOUT = httpx2.Timeout(connect=10, read=600, write=60, pool=10)
LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=30)
# Headers of the caller that are passed on: none that may show who the user is.
_PASSED = ("accept", "content-type", "idempotency-key", "user-agent", "x-request-id", "x-title")
_PASSED_BEGINNINGS = ("openai-", "x-stainless-")
# Schemes of Authorization. Others, such as NTLM, are for a connection, which requests may share.
_SCHEMES = ("bearer", "basic")
# Headers of the answer that concern one hop, or another server than this one.
_KEPT_BACK = {
    "alt-svc", "clear-site-data", "connection", "content-length", "date", "keep-alive",
    "proxy-authenticate", "server", "set-cookie", "set-cookie2", "strict-transport-security", "te",
    "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
_KEPT_BACK_BEGINNINGS = ("access-control-", "x-mio-")
# Bytes of an answer that are kept for memory; and of a line before it is passed on without its end.
MOST_RECEIVED = 4_000_000
MOST_LINE = 1_000_000
# Answers that are passed on as they come, though they are no stream of events.
_AT_ONCE = ("application/octet-stream", "application/x-ndjson", "audio/", "image/", "video/")


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


def client() -> Client:
    """Returns a client for upstreams, for one event loop. All apps share it, so nothing of a request
    stays: no cookie is kept, no redirect is followed, nothing is taken from the environment."""
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    return Client(timeout=TIMEOUT, limits=LIMITS, trust_env=False, cookies=no_cookies)


def headers_for(upstream: Upstream, headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers of a request to the upstream, with its key, or the caller's own if it has
    none and the caller sent Mio's key separately. Raises ApiError."""
    passed = {
        name: value
        for name, value in headers.items()
        if name in _PASSED or name.startswith(_PASSED_BEGINNINGS)
    }
    passed["accept-encoding"] = "identity"  # not every encoding can be read
    if upstream.key:
        try:
            passed["authorization"] = f"Bearer {decrypt(upstream.key)}"
        except Undecryptable as error:
            message = "The upstream's key is of another SECRET_KEY: an operator sets it anew."
            raise ApiError(503, "no_upstream", message) from error
    elif "x-mio-key" in headers and "authorization" in headers:
        authorization = headers["authorization"]
        if authorization.partition(" ")[0].lower() in _SCHEMES:
            passed["authorization"] = authorization
    return passed


@asynccontextmanager
async def answer_of(
    http: Client, request: httpx2.Request, receive: Receive
) -> AsyncIterator[httpx2.Response]:
    """Yields the upstream's answer once its head has come, and closes it at the end. Raises
    ApiError if there is none, and ClientGone."""
    try:
        with tracing.span("upstream", kind=SpanKind.CLIENT) as span:
            answer = await unless_gone(http.send(request, stream=True), receive)
            span.set_attribute("http.response.status_code", answer.status_code)
    except httpx2.TransportError as error:
        raise unreached(error) from error
    try:
        yield answer
    finally:
        await answer.aclose()


def unreached(error: Exception) -> ApiError:
    """Returns the error for an upstream that does not answer."""
    if isinstance(error, httpx2.TimeoutException) and not isinstance(error, httpx2.ConnectTimeout):
        return ApiError(504, "upstream_timeout", "The model server took too long to answer.")
    return ApiError(502, "upstream_unreachable", "The model server can't be reached, or broke off.")


async def unless_gone(wanted: Coroutine[Any, Any, T], receive: Receive) -> T:
    """Returns what ``wanted`` returns. Cancels it and raises ClientGone if the client leaves first."""
    task, gone = asyncio.create_task(wanted), asyncio.create_task(_client_leaves(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return await task
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _client_leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def response_of(
    answer: httpx2.Response,
    more: Mapping[str, str],
    received: bytearray,
    error_event: Callable[[str, str], bytes],
    receive: Receive,
    *,
    streams: bool,
) -> Response:
    """Returns the response for the client, with ``more`` headers. A stream of events that breaks off
    ends with an ``error_event``. Of other answers up to MOST_RECEIVED bytes are read first, so that one
    that breaks off within them is an error; a longer one is passed on as it comes, and raises
    TransportError. ``received`` gets a copy of what is sent, unless that is longer or no text."""
    headers = {
        name: value
        for name, value in answer.headers.items()
        if name not in _KEPT_BACK and not name.startswith(_KEPT_BACK_BEGINNINGS)
    }
    headers |= more
    if streams:
        headers["X-Accel-Buffering"] = "no"
        return StreamingResponse(_lines(answer, received, error_event), answer.status_code, headers)
    pieces = answer.aiter_raw()
    if answer.headers.get("content-type", "").startswith(_AT_ONCE):
        return StreamingResponse(pieces, answer.status_code, headers)
    try:
        ended = await unless_gone(_fill(received, pieces), receive)
    except httpx2.TransportError as error:
        raise unreached(error) from error
    if ended:
        return Response(bytes(received), answer.status_code, headers)
    return StreamingResponse(_all_pieces(received, pieces), answer.status_code, headers)


def is_stream(answer: httpx2.Response, asked: bool) -> bool:
    """Whether an answer streams events: it says so, or a stream was ``asked`` for and it is no JSON."""
    kind = answer.headers.get("content-type", "")
    return kind.startswith("text/event-stream") or (
        asked and answer.is_success and not kind.startswith("application/json")
    )


def plain(received: bytes, encoding: str) -> bytes:
    """Returns ``received`` decompressed, as far as possible and up to MOST_RECEIVED bytes: some servers
    compress without being asked."""
    headers = {"content-encoding": encoding.removeprefix("x-")}
    answer = httpx2.Response(200, headers=headers, stream=httpx2.ByteStream(received))
    read = bytearray()
    with suppress(httpx2.DecodingError):
        for piece in answer.iter_bytes():
            read += piece
            if len(read) > MOST_RECEIVED:
                break
    return bytes(read[:MOST_RECEIVED])


async def _fill(received: bytearray, pieces: AsyncIterator[bytes]) -> bool:
    """Reads ``pieces`` into ``received``, up to MOST_RECEIVED bytes; returns whether they have ended."""
    async for piece in pieces:
        received += piece
        if len(received) > MOST_RECEIVED:
            return False
    return True


async def _all_pieces(received: bytearray, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yields ``received``, then the other pieces; clears ``received``, since a part of it can't be read."""
    first = bytes(received)
    received.clear()
    yield first
    del first
    async for piece in pieces:
        yield piece


async def _lines(
    answer: httpx2.Response, received: bytearray, error_event: Callable[[str, str], bytes]
) -> AsyncIterator[bytes]:
    """Yields the bytes of a stream in whole lines: a line that breaks off is not sent, so that the
    error which then ends the stream is an event of its own. Lines beyond MOST_LINE come in parts."""
    line = bytearray()
    try:
        async for piece in answer.aiter_raw():
            if len(received) < MOST_RECEIVED:
                received += piece
            end = piece.rfind(b"\n") + 1
            if not end and len(line) + len(piece) <= MOST_LINE:
                line += piece
                continue
            end = end or len(piece)
            yield bytes(line) + piece[:end]
            line = bytearray(piece[end:])
    except httpx2.TransportError as error:
        if "content-encoding" in answer.headers:
            raise
        refusal = unreached(error)
        yield error_event(str(refusal.get_codes()), str(refusal.detail))
        return
    if line:
        yield bytes(line)
