"""Filters of the log for errors that are repeated."""

import logging
import re
import time

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


class ProbeAnswered(logging.Filter):
    """Leaves out that ``/readyz`` answered 503: whoever asks is told, and asks every moment while
    the server starts."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        unready = getattr(record, "status_code", None) == 503
        return not (unready and getattr(request, "path", "") == "/readyz")
