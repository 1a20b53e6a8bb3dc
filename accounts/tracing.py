"""Spans of OpenTelemetry, recorded once a process has a tracer (``mio_site.telemetry``). It is not
the global one, with which libraries would record messages of exceptions. Spans have names of routes,
tables, models and tasks, numbers and ids; no parameter, path or message, which may contain text."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

MOST_SQL = 2000  # characters of a statement

_propagator = TraceContextTextMapPropagator()
_tracer: Tracer | None = None

# Statements are written with parameters; where a constant is written out, it is left out.
_LITERAL = re.compile(r"(?:'[^']*')+|\b\d+(?:\.\d+)?\b")
_VERB = re.compile(r"[\s(]*(\w+)")
_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:ONLY\s+)?"?([a-z]\w*)"?', re.I)


def use(tracer: Tracer | None) -> None:
    """Makes this process record its spans with ``tracer``; None stops it."""
    global _tracer
    _tracer = tracer


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, AttributeValue] | None = None,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    context: Context | None = None,
) -> Iterator[Span]:
    """A span around the block, below ``context`` or the current one, without messages of exceptions."""
    if _tracer is None:
        yield INVALID_SPAN
        return
    with _tracer.start_as_current_span(
        name, context, kind, attributes, record_exception=False, set_status_on_exception=False
    ) as started:
        try:
            yield started
        except BaseException as error:
            failed(started, type(error).__name__)
            raise


def failed(begun: Span, why: str) -> None:
    """Marks a span as failed; ``why`` is a type or a code."""
    begun.set_attribute("error.type", why)
    begun.set_status(Status(StatusCode.ERROR))


def current() -> Span:
    """Returns the current span; without one, a span that records nothing."""
    return trace.get_current_span()


def trace_headers() -> dict[str, str]:
    """Returns the current trace as headers for other processes; empty if there is none."""
    headers: dict[str, str] = {}
    _propagator.inject(headers)
    return headers


def context_of(headers: dict[str, str]) -> Context:
    """Returns the context of the span in another process that asked for work by these headers."""
    return _propagator.extract(headers)


def statement(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
    """Sends a statement, in a span if the trace is recorded: an execute wrapper of connections."""
    if not current().is_recording():
        return execute(sql, params, many, context)
    text = sql if isinstance(sql, str) else sql.as_string(context["connection"].connection)
    verb, table = _VERB.match(text), _TABLE.search(text)
    operation = verb[1].upper() if verb else "SQL"
    attributes: dict[str, AttributeValue] = {
        "db.system.name": "postgresql",
        "db.operation.name": operation,
        "db.query.text": _LITERAL.sub("?", text)[:MOST_SQL],
    }
    if table:
        attributes["db.collection.name"] = table[1]
    name = f"{operation} {table[1]}" if table else operation
    with span(name, attributes, kind=SpanKind.CLIENT):
        return execute(sql, params, many, context)


class TraceId(logging.Filter):
    """Adds the id of the current trace to a log record; "" if there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        span_context = current().get_span_context()
        record.trace_id = (
            trace.format_trace_id(span_context.trace_id) if span_context.is_valid else ""
        )
        return True
