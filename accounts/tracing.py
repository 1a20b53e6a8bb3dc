"""Spans of OpenTelemetry, recorded once a process has a tracer (``mio_site.telemetry``). It is not the
global one, with which libraries would record messages of exceptions. Spans hold names of routes, tables,
models and tasks, numbers and ids; never a parameter, a path or a message, which may hold text.
"""

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
    """Has this process record its spans with ``tracer``; with None no longer."""
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
    """A span around the block, below ``context`` or the current one, with no words of exceptions."""
    if _tracer is None:
        yield INVALID_SPAN
        return
    with _tracer.start_as_current_span(
        name,
        context,
        kind,
        attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as begun:
        try:
            yield begun
        except BaseException as error:
            failed(begun, type(error).__name__)
            raise


def failed(begun: Span, why: str) -> None:
    """Marks a span as failed; ``why`` is a type or a code."""
    begun.set_attribute("error.type", why)
    begun.set_status(Status(StatusCode.ERROR))


def current() -> Span:
    """The span of now; one that takes and keeps nothing where there is none."""
    return trace.get_current_span()


def carried() -> dict[str, str]:
    """The trace of now as other processes are told it; empty where there is none."""
    told: dict[str, str] = {}
    _propagator.inject(told)
    return told


def told_by(headers: dict[str, str]) -> Context:
    """Below which span work is that another process asked for."""
    return _propagator.extract(headers)


def statement(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
    """A span for a statement of a trace that is recorded: an execute wrapper of connections."""
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
    """Notes the trace during which a line was logged; "" outside of any."""

    def filter(self, record: logging.LogRecord) -> bool:
        told = current().get_span_context()
        record.trace_id = trace.format_trace_id(told.trace_id) if told.is_valid else ""
        return True
