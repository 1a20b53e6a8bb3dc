"""The way to the upstream and back: bytes as they come, and an error in their place when none do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
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
# What goes on to the upstream of a caller's headers: nothing that may tell who the user is.
_PASSED = ("accept", "content-type", "idempotency-key", "user-agent", "x-request-id", "x-title")
_PASSED_BEGINNINGS = ("openai-", "x-stainless-")
# What is between two hops only, or of another server than this one.
_KEPT_BACK = {
    "connection", "content-length", "date", "keep-alive", "proxy-authenticate", "server",
    "set-cookie", "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
# Of an answer so much is kept to be remembered.
MOST_HEARD = 4_000_000


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


def client() -> Client:
    """Connections to upstreams, for one event loop. No proxy of the environment is used."""
    return Client(timeout=TIMEOUT, limits=LIMITS, trust_env=False)


def headers_for(upstream: Upstream, headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request to the upstream, with its key, or with the caller's own where it
    has none and the caller sent Mio's apart. Raises ApiError."""
    passed = {
        name: value
        for name, value in headers.items()
        if name in _PASSED or name.startswith(_PASSED_BEGINNINGS)
    }
    passed["accept-encoding"] = "identity"  # what is compressed could not be remembered
    if upstream.key:
        try:
            passed["authorization"] = f"Bearer {decrypt(upstream.key)}"
        except Undecryptable as error:
            told = "The upstream's key is of another SECRET_KEY: an operator sets it anew."
            raise ApiError(503, "no_upstream", told) from error
    elif "x-mio-key" in headers and "authorization" in headers:
        passed["authorization"] = headers["authorization"]
    return passed


@asynccontextmanager
async def answer_of(
    http: Client, request: httpx2.Request, receive: Receive
) -> AsyncIterator[httpx2.Response]:
    """The upstream's answer, of which the head is there; closed at the end. Raises ApiError when
    there is none, and ClientGone."""
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
    """What is told of an upstream that does not answer."""
    if isinstance(error, httpx2.TimeoutException) and not isinstance(error, httpx2.ConnectTimeout):
        return ApiError(504, "upstream_timeout", "The model server took too long to answer.")
    return ApiError(502, "upstream_unreachable", "The model server can't be reached, or broke off.")


async def unless_gone(wanted: Coroutine[Any, Any, T], receive: Receive) -> T:
    """What ``wanted`` returns. Cancels it and raises ClientGone when the client leaves before."""
    task, gone = asyncio.create_task(wanted), asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return await task
    finally:
        for one in (task, gone):
            one.cancel()
            with suppress(asyncio.CancelledError, httpx2.HTTPError):
                await one


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def response_of(
    answer: httpx2.Response,
    more: Mapping[str, str],
    heard: bytearray,
    error_event: Callable[[str, str], bytes],
    receive: Receive,
) -> Response:
    """The answer for the client, with ``more`` headers: streamed where the upstream streams, with
    an ``error_event`` at the end where it breaks off, else read first, so that one that breaks off
    is an error. What is sent is ``heard``."""
    headers = {name: value for name, value in answer.headers.items() if name not in _KEPT_BACK}
    headers |= more
    if is_stream(answer):
        headers["X-Accel-Buffering"] = "no"
        return StreamingResponse(_pieces(answer, heard, error_event), answer.status_code, headers)
    try:
        body = await unless_gone(_all(answer), receive)
    except httpx2.TransportError as error:
        raise unreached(error) from error
    heard += body[:MOST_HEARD]
    return Response(body, answer.status_code, headers)


def is_stream(answer: httpx2.Response) -> bool:
    """Whether it is one of events."""
    return answer.headers.get("content-type", "").startswith("text/event-stream")


async def _all(answer: httpx2.Response) -> bytes:
    return b"".join([piece async for piece in answer.aiter_raw()])


async def _pieces(
    answer: httpx2.Response, heard: bytearray, error_event: Callable[[str, str], bytes]
) -> AsyncIterator[bytes]:
    """The bytes of a stream, whole lines at a time: a line that breaks off is never sent, so that
    the error which then ends the stream is an event of its own."""
    begun = b""
    try:
        async for piece in answer.aiter_raw():
            heard += piece if len(heard) < MOST_HEARD else b""
            whole, newline, begun = (begun + piece).rpartition(b"\n")
            if newline:
                yield whole + newline
    except httpx2.TransportError as error:
        told = unreached(error)
        yield error_event(str(told.get_codes()), str(told.detail))
        return
    if begun:
        yield begun
