"""The id of each request, in its answer and in each line of the log during it."""

import logging
import re
import uuid
from contextvars import ContextVar
from typing import Any

from accounts.cells import value_within

# What a proxy or a client may choose; anything else could write into the log.
_CHOSEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADER = b"x-request-id"

_current: ContextVar[str] = ContextVar("request_id", default="")


def gate(application: Any) -> Any:
    """Wraps an ASGI application: each request gets the id in its header X-Request-ID, or a new one,
    and the answer has it too."""

    async def with_id(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        chosen = dict(scope["headers"]).get(_HEADER, b"").decode("latin-1")
        request_id = chosen if _CHOSEN.fullmatch(chosen) else uuid.uuid4().hex

        def marked(part: Any) -> Any:
            headers = [pair for pair in part["headers"] if pair[0].lower() != _HEADER]
            return {**part, "headers": [*headers, (_HEADER, request_id.encode())]}

        async def sending(message: Any) -> None:
            is_head = message["type"] == "http.response.start"
            await send(marked(message) if is_head else message)

        with continued(request_id):
            await application(marked(scope), receive, sending)

    return with_id


def current() -> str:
    """Returns the id of the current request; "" outside of any."""
    return _current.get()


def continued(chosen: str) -> Any:
    """Sets the current request id for the block."""
    return value_within(_current, chosen)


class RequestId(logging.Filter):
    """Adds the id of the current request to a log record; "" outside of any."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _current.get()
        return True
