"""The id of each request, in its answer and in each line of the log during it; and one line instead of many
for a database that is away."""

import logging
import re
import time
import uuid
from contextvars import ContextVar
from typing import Any

WARN_EVERY = 30.0  # seconds
# What psycopg and Django say of a connection that is lost or can't be had. The queue logs the
# tracebacks of its tasks as text.
_LOST = re.compile(
    r"OperationalError: (?:connection |consuming input failed|sending query|the connection is |"
    r"server closed|terminating|couldn't get a connection)|InterfaceError: (?:the )?connection"
)
_FIRST_WORDS = re.compile(r"Error: (.*)")


class DatabaseAway(logging.Filter):
    """Lets one line through instead of all the tracebacks of a process that lost its database."""

    quiet_until = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "psycopg.pool":
            return False  # who asked the pool for a connection says the same
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{logging.Formatter().formatException(record.exc_info)}"
        if not (lost := _LOST.search(text)):
            return True
        now = time.monotonic()
        if now < self.quiet_until:
            return False
        self.quiet_until = now + WARN_EVERY
        cause = _FIRST_WORDS.search(text, lost.start())
        record.msg, record.args = "The database is away: %s", (cause and cause[1],)
        record.exc_info = record.exc_text = None
        return True


# What a proxy or a client may choose; anything else could write into the log.
_CHOSEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADER = b"x-request-id"

_current: ContextVar[str] = ContextVar("request_id", default="-")


def gate(application: Any) -> Any:
    """An ASGI application that gives each request the id in its header X-Request-ID, or a new one,
    and answers with it."""

    async def with_id(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        chosen = dict(scope["headers"]).get(_HEADER, b"").decode("latin-1")
        given = chosen if _CHOSEN.fullmatch(chosen) else uuid.uuid4().hex

        def marked(part: Any) -> Any:
            others = [pair for pair in part["headers"] if pair[0].lower() != _HEADER]
            return {**part, "headers": [*others, (_HEADER, given.encode())]}

        async def sending(message: Any) -> None:
            is_head = message["type"] == "http.response.start"
            await send(marked(message) if is_head else message)

        token = _current.set(given)
        try:
            await application(marked(scope), receive, sending)
        finally:
            _current.reset(token)

    return with_id


class RequestId(logging.Filter):
    """Notes the request during which a line was logged; "-" outside of any."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _current.get()
        return True
