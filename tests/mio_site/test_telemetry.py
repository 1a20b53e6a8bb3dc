"""Traces arrive at a real collector, hold no words of anybody, and one that is dead costs nothing."""

import json
import logging
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from accounts import tracing
from accounts.models import ApiKey
from mio_site.logs import Outages
from tests.factories import make_app
from tests.processes import start

pytestmark = pytest.mark.system

# What a client and a worker do, in a process that ends as theirs do.
CODE = """
import asyncio, atexit, json, logging, queue, time
from multiprocessing import Value

import httpx2
from django_q.signing import SignedPackage
from django_q.worker import worker

from accounts import scope, tracing
from accounts.fair_queue import FairQueue
from mio_site import telemetry
from mio_site.asgi import application

secret, traceparent, include = sys.argv[1:]
SAID = ["我朋友小红在腾讯工作", "小红的生日是三月五日"]

async def ask():
    mio = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(application, raise_app_exceptions=False),
        base_url="http://localhost", timeout=60,
    )
    mio.headers["authorization"] = f"Bearer {secret}"
    user = "/api/v1/users/someone@example.org"
    told = {"traceparent": traceparent, "x-request-id": "request-1"}
    yield await mio.post(
        f"{user}/messages/", headers=told,
        json={"messages": [{"role": "user", "content": one} for one in SAID * 5]},
    )
    asked = {"message": "小红最近怎么样了", "include": include.split()}
    yield await mio.post(f"{user}/context/", json=asked)
    yield await mio.get(f"{user}/memories/", params={"q": "腾讯"})
    yield await mio.get("/小红")
    yield await mio.post("/v1/chat/completions", headers={"authorization": "Bearer mio_腾讯".encode()})
    yield await mio.get("/healthz")

async def main():
    return [reply.status_code async for reply in ask()]

with scope.undeclared():
    began = time.monotonic()
    statuses = asyncio.run(main())
    took = time.monotonic() - began
    waiting = queue.Queue()
    if "search" in include:
        [(pk, payload)] = FairQueue().dequeue()
        waiting.put(SignedPackage.loads(payload))
    waiting.put("STOP")
    done = queue.Queue()
    with tracing.span("a step"):
        record = logging.LogRecord("mio", logging.INFO, "", 1, "", (), None)
        tracing.TraceId().filter(record)
        same = record.trace_id == f"{tracing.current().get_span_context().trace_id:032x}"
    worker(waiting, done, Value("f", -1))
began = time.monotonic()
atexit._run_exitfuncs()
print(json.dumps({
    "statuses": statuses, "took": took, "ended_in": time.monotonic() - began,
    "done": [done.get()["success"] for _ in range(done.qsize())], "same": same,
}))
"""
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
STATUSES = [202, 200, 200, 404, 401, 200]


class Collector(ThreadingHTTPServer):
    """Takes OTLP over HTTP and keeps the bodies."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.bodies: list[bytes] = []

    @property
    def spans(self) -> list[tuple[dict[str, str], Any]]:
        """Each with the attributes of its process."""
        return [
            (_plain(resource.resource.attributes), span)
            for body in self.bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class _Taking(BaseHTTPRequestHandler):
    server: Collector

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        assert self.path == "/v1/traces"
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()


def _plain(attributes: Any) -> dict[str, str]:
    return {one.key: one.value.string_value or str(one.value.int_value) for one in attributes}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def run(endpoint: str, include: str, **env: str) -> tuple[str, dict[str, Any]]:
    """The secret of the key, and what the process says at its end. A task is done where a context is
    to ``include`` the search."""
    _, secret = ApiKey.issue(make_app())
    started = start(
        CODE,
        *(secret, f"00-{TRACE}-{PARENT}-01", include),
        OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
        **env,
    )
    return secret, json.loads(started.finish().splitlines()[-1])


@pytest.mark.django_db(transaction=True)
def test_a_request_and_its_task_are_one_trace_without_a_word_of_anybody(
    collector: Collector,
) -> None:
    secret, told = run(
        f"http://127.0.0.1:{collector.server_port}",
        "cards search",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=tests",
    )
    assert (told["statuses"], told["done"], told["same"]) == (STATUSES, [True], True)

    spans = [span for _, span in collector.spans]
    by_name = {span.name: span for span in spans}
    request = by_name["POST /api/v1/users/<path:user>/messages/"]
    task = by_name["task extract"]
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, PARENT)
    assert (task.trace_id.hex(), task.parent_span_id) == (TRACE, request.span_id)
    for span in (request, task):
        assert _plain(span.attributes)["mio.request_id"] == "request-1"
    assert _plain(request.attributes)["http.response.status_code"] == "202"

    below = {span.name for span in spans if span.trace_id == task.trace_id}
    assert {"INSERT memories_message", "extract learned-1", "embed multilingual-e5-small"} <= below
    context = by_name["POST /api/v1/users/<path:user>/context/"]
    steps = {span.name for span in spans if span.trace_id == context.trace_id}
    assert {"context who", "context search", "embed multilingual-e5-small"} <= steps
    assert by_name["GET"].attributes, "a path that no route has names nothing"
    assert "GET /healthz" not in by_name
    assert {resource["mio.process"] for resource, _ in collector.spans} == {"web", "worker"}
    for resource, _ in collector.spans:
        assert resource["service.name"] == "mio"
        assert resource["deployment.environment.name"] == "tests"

    sent = b"".join(collector.bodies)
    for words in ("小红", "腾讯", "三月", "someone", "example.org", secret, "mio_"):
        assert words.encode() not in sent, words
    assert by_name["INSERT memories_message"].attributes, "its SQL has no values"
    assert "%s" in _plain(by_name["INSERT memories_message"].attributes)["db.query.text"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("answers", [False, True])
def test_a_dead_collector_slows_and_stops_nothing(answers: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        if not answers:
            silent.close()
        # The queue overflows; who waited for the collector would wait for 10 seconds each time.
        _, told = run(
            address, "cards", OTEL_BSP_MAX_QUEUE_SIZE="4", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="2"
        )
    assert told["statuses"] == STATUSES
    assert told["took"] < 9
    assert told["ended_in"] < 5


def test_nothing_is_recorded_unless_it_is_asked_for(client: Client) -> None:
    with tracing.span("a step") as span:
        assert not span.is_recording()
        assert tracing.trace_headers() == {}


def test_of_an_exception_and_a_statement_nothing_is_kept_that_was_written_out() -> None:
    text = tracing._LITERAL.sub("?", "SELECT 'it''s 小红', x1 FROM t WHERE a = 12.5 AND b = %s")
    assert text == "SELECT ?, x1 FROM t WHERE a = ? AND b = %s"


def test_one_line_says_that_the_collector_is_away() -> None:
    quiet = Outages()
    told = [
        logging.LogRecord("opentelemetry.exporter", logging.ERROR, "", 1, "refused %d", (n,), None)
        for n in range(3)
    ]
    assert [quiet.filter(record) for record in told] == [True, False, False]
    assert told[0].getMessage() == "Traces could not be sent: refused 0"
    assert quiet.filter(logging.LogRecord("mio", logging.ERROR, "", 1, "other", (), None))
