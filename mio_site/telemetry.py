"""Traces of requests and queued tasks by OpenTelemetry, if set up: a thread sends them from a bounded
queue to OTEL_EXPORTER_OTLP_ENDPOINT. The SDK reads its other settings from the environment."""

import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import util
from threading import Event, Thread
from typing import Any

from django.http import HttpRequest, HttpResponse
from django_q.signals import post_execute_in_worker, post_spawn, pre_enqueue, pre_execute
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from accounts import tracing
from gateway.chat_forms import FORMS
from mio_site import request_id

# With several cells a task is called through it.
IN_CELL = "accounts.fair_queue.run_in_cell"
LAST_SECONDS = 2.0  # for what waits to be sent when a process ends
# Addresses that machines request every few seconds.
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
# Addresses that no view of Django answers.
_GATES = (*(f"/v1/{path}" for path in FORMS), "/v1/models", "/mcp", "/static")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def start(process: str) -> Callable[[], None]:
    """Makes this process, a ``web`` or a ``worker``, record and send its spans. Returns a function
    for its end, which sends those that wait."""
    described = Resource.create(
        {
            "service.name": "mio",
            "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
            "mio.process": process,
        }
    )
    # The operator's description of this service has precedence over ours.
    provider = TracerProvider(
        resource=described.merge(OTELResourceDetector().detect()), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracing.use(provider.get_tracer("mio"))
    ending = Event()

    def shut_down() -> None:
        ending.wait()
        provider.shutdown()

    # Started now: a process that ends may start no thread.
    thread = Thread(target=shut_down, name="telemetry-end", daemon=True)
    thread.start()

    def end() -> None:
        ending.set()
        thread.join(LAST_SECONDS)

    return end


def follow_queue() -> None:
    """Makes tasks carry the trace that queued them, and processes of workers record them."""
    post_spawn.connect(_on_spawn, dispatch_uid="telemetry")
    pre_enqueue.connect(_on_enqueue, dispatch_uid="telemetry")
    pre_execute.connect(_on_begin, dispatch_uid="telemetry")
    post_execute_in_worker.connect(_on_end, dispatch_uid="telemetry")


def requests(application: ASGIApp) -> ASGIApp:
    """Wraps an ASGI application: a span for each request except those of probes."""

    async def traced(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or path in _QUIET:
            await application(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in _METHODS else "_OTHER"
        route = next((at for at in _GATES if path == at or path.startswith(f"{at}/")), "")
        with tracing.span(
            f"{method} {route}".strip(),
            {"http.request.method": method, **({"http.route": route} if route else {})},
            kind=SpanKind.SERVER,
            context=tracing.context_of(dict(Headers(scope=scope))),
        ) as span:

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        tracing.failed(span, str(message["status"]))
                await send(message)

            await application(scope, receive, sending)

    return traced


def middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[..., HttpResponse]:
    """Names the span of a request after its route, never after its path, and notes its id."""

    def with_route(request: HttpRequest) -> HttpResponse:
        span = tracing.current()
        span.set_attribute("mio.request_id", request_id.current())
        response = get_response(request)
        if request.resolver_match is not None:
            route = f"/{request.resolver_match.route}"
            span.update_name(f"{request.method} {route}")
            span.set_attribute("http.route", route)
        return response

    return with_route


# A worker does one task at a time.
_task = ExitStack()


def _on_spawn(**_kwargs: Any) -> None:
    # A process of multiprocessing ends without atexit.
    util.Finalize(None, start("worker"), exitpriority=1)


def _on_enqueue(task: dict[str, Any], **_kwargs: Any) -> None:
    if trace := tracing.trace_headers():
        task["trace"] = {**trace, "request_id": request_id.current()}


def _on_begin(task: dict[str, Any], **_kwargs: Any) -> None:
    trace = task.get("trace", {})
    queued_in = trace.get("request_id", "")
    function = task["args"][3] if task["func"] == IN_CELL else task["func"]
    attributes = {"messaging.system": "django_q", "messaging.message.id": task["id"]}
    if queued_in:
        attributes["mio.request_id"] = queued_in
    span = tracing.span(
        f"task {str(function).rpartition('.')[2]}",
        attributes,
        kind=SpanKind.CONSUMER,
        context=tracing.context_of(trace),
    )
    _task.enter_context(request_id.continued(queued_in))
    _task.enter_context(span)


def _on_end(task: dict[str, Any], **_kwargs: Any) -> None:
    if task.get("success") is False:
        tracing.failed(tracing.current(), "failed")
    _task.close()
