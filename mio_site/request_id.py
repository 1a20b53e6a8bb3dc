"""An id for each request, so that all it logged can be found by what its client was answered."""

import logging
import re
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

HEADER = b"x-request-id"
# What a proxy or a client may choose; anything else could write into the log.
_CHOSEN = re.compile(r"[A-Za-z0-9._-]{1,64}")

_current: ContextVar[str] = ContextVar("request_id", default="")
Application = Callable[..., Awaitable[None]]


def gate(application: Application) -> Application:
    """An ASGI application that gives each request the id in its header X-Request-ID, or a new one,
    before ``application`` answers it, and puts that id into the answer."""

    async def with_id(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        request_id = _chosen_or_new(dict(scope["headers"]).get(HEADER, b"").decode("latin-1"))

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {
                    **message,
                    "headers": _with_header(message.get("headers", ()), request_id),
                }
            await send(message)

        token = _current.set(request_id)
        try:
            headers = _with_header(scope["headers"], request_id)
            await application({**scope, "headers": headers}, receive, sending)
        finally:
            _current.reset(token)

    return with_id


def _chosen_or_new(chosen: str) -> str:
    """The id that a client or a proxy chose, where it can be one."""
    return chosen if _CHOSEN.fullmatch(chosen) else uuid.uuid4().hex


def _with_header(headers: Any, request_id: str) -> list[tuple[bytes, bytes]]:
    others = [(name, value) for name, value in headers if name.lower() != HEADER]
    return [*others, (HEADER, request_id.encode())]


class RequestId(logging.Filter):
    """Adds to each line of the log the id of its request; "" outside of any."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _current.get()
        return True
