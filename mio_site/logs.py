"""Formats of the log, as text or JSON, and filters for repeated errors."""

import json
import logging
import re
import time
from datetime import UTC, datetime

WARN_EVERY = 30.0  # seconds
# How psycopg and Django report a lost or refused connection. The queue logs tracebacks of tasks as text.
_LOST = re.compile(
    r"OperationalError: (?:connection |consuming input failed|sending query|the connection is |"
    r"server closed|terminating|couldn't get a connection)|InterfaceError: (?:the )?connection"
)
_FIRST_WORDS = re.compile(r"Error: (.*)")


class Outages(logging.Filter):
    """Passes one line in WARN_EVERY seconds, without its traceback, about a database that is
    unavailable, and one about a collector that accepts no traces."""

    def __init__(self) -> None:
        super().__init__()
        self.quiet_until: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "psycopg.pool":
            return False  # the code that asked the pool for a connection logs the same
        text, problem = record.getMessage(), ""
        if record.exc_info:
            text = f"{text}\n{logging.Formatter().formatException(record.exc_info)}"
        if record.name.startswith("opentelemetry."):
            problem, cause = "Traces could not be sent", record.getMessage()
        elif lost := _LOST.search(text):
            first_words = _FIRST_WORDS.search(text, lost.start())
            problem, cause = "The database is unavailable", first_words[1] if first_words else ""
        if not problem:
            return True
        now = time.monotonic()
        if now < self.quiet_until.get(problem, 0.0):
            return False
        self.quiet_until[problem] = now + WARN_EVERY
        record.msg, record.args = f"{problem}: %s", (cause,)
        record.exc_info = record.exc_text = None
        return True


class Line(logging.Formatter):
    """A line of text, with the ids of the request and the trace at its end if there are any."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 the library's name
        ids = {"request": "request_id", "trace": "trace_id"}
        text = [f"{word} {one}" for word, name in ids.items() if (one := getattr(record, name, ""))]
        return super().formatMessage(record) + (f" ({', '.join(text)})" if text else "")


class Json(logging.Formatter):
    """A line of JSON, without fields that are empty; ``error`` is a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            "request_id": getattr(record, "request_id", ""),
            "trace_id": getattr(record, "trace_id", ""),
            "error": self.formatException(record.exc_info) if record.exc_info else "",
        }
        return json.dumps(
            {name: value for name, value in line.items() if value}, ensure_ascii=False
        )
