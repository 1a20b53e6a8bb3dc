"""A real HTTP server on loopback that speaks the OpenAI protocol and plays a script.

    with FakeOpenAI() as server:
        server.fail(429, retry_after=1, times=2)
        server.reply_json({"people": [], "memories": []})
        provider = OpenAIProvider(ModelServer("key", server.base_url), "model")

Steps of the script are played in order, one a request, for chat and embeddings apart;
``times=None`` plays a step for ever. Without a script, chat answers 418 (a test must say
what it expects) unless ``answer_with`` is set, and embeddings are made from the text.
"""

import contextlib
import hashlib
import json
import math
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import urlsplit

Endpoint = Literal["chat", "embeddings"]
PATHS: dict[str, Endpoint] = {"/v1/chat/completions": "chat", "/v1/embeddings": "embeddings"}
MODEL = "fake-model"


def embedding_of(text: str, dimensions: int = 384) -> list[float]:
    """A vector of length 1 that depends on ``text`` alone."""
    seed = hashlib.shake_256(text.encode()).digest(4 * dimensions)
    raw = [value / 2**31 - 1 for value in struct.unpack(f"<{dimensions}I", seed)]
    length = math.hypot(*raw)
    return [value / length for value in raw]


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    json: Any

    @property
    def prompt(self) -> str:
        """All message contents of a chat request."""
        return "\n".join(message["content"] for message in self.json["messages"])

    @property
    def data(self) -> Any:
        """The JSON that the first user message of a chat request holds."""
        return json.loads(
            next(
                message["content"] for message in self.json["messages"] if message["role"] == "user"
            )
        )


@dataclass(frozen=True)
class Step:
    """What one request is answered with; ``act`` does anything but a plain reply."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    content: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    kind: str = "text/html"
    act: Literal["reply", "hang", "close", "cut", "stall", "garbage", "trickle", "flood"] = "reply"


class FakeOpenAI:
    """The server; a context manager. ``requests`` holds what arrived, in order."""

    def __init__(self, dimensions: int = 384) -> None:
        self.dimensions = dimensions
        self.requests: list[Request] = []
        self.connections = 0
        self.answer_with: Callable[[Request], Any] | None = None
        self.refused_formats: set[str] = set()
        self.refused_parameters: set[str] = set()
        self.usage: dict[str, int] | None = {"prompt_tokens": 11, "completion_tokens": 7}
        self.shuffle_embeddings = False
        self.arrived = threading.Semaphore(0)
        self._scripts: dict[Endpoint, deque[tuple[Step, int | None]]] = {
            "chat": deque(),
            "embeddings": deque(),
        }
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _Http(self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> "FakeOpenAI":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def requests_to(self, endpoint: Endpoint) -> list[Request]:
        """The requests that arrived at one endpoint."""
        return [request for request in self.requests if _endpoint(request.path) == endpoint]

    def reply_json(self, value: Any, times: int | None = 1, **step: Any) -> None:
        """A chat completion whose content is ``value`` as JSON."""
        self.reply_text(json.dumps(value, ensure_ascii=False), times, **step)

    def reply_text(self, content: str, times: int | None = 1, **step: Any) -> None:
        """A chat completion; ``finish_reason`` and ``refusal`` may be given."""
        self._add("chat", Step(content=content, **step), times)

    def reply_body(
        self,
        body: Any,
        times: int | None = 1,
        on: Endpoint = "chat",
        status: int = 200,
        kind: str = "text/html",
    ) -> None:
        """``body`` as it is: a string is sent as of this kind, the rest as JSON."""
        self._add(on, Step(status, body, kind=kind), times)

    def reply_vectors(self, vectors: dict[int, list[float]], times: int | None = 1) -> None:
        """Embeddings by index, in the order given, whatever was asked."""
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in vectors.items()
        ]
        self._add("embeddings", Step(body={"object": "list", "data": data}), times)

    def fail(
        self,
        status: int,
        retry_after: float | str | None = 0,
        times: int | None = 1,
        message: str = "It failed.",
        code: str | None = None,
        on: Endpoint = "chat",
    ) -> None:
        """An error of the protocol. ``retry_after`` is in seconds, or a header as it is; None: no
        header, and whoever tries again waits as long as they like."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        body = {"error": {"message": message, "type": "error", "code": code, "param": None}}
        self._add(on, Step(status, body, headers), times)

    def hang(self, times: int | None = 1, on: Endpoint = "chat") -> None:
        """Accepts the request and never answers."""
        self._add(on, Step(act="hang"), times)

    def close_early(self, times: int | None = 1, on: Endpoint = "chat") -> None:
        """Announces a body and closes the connection in the middle of it."""
        self._add(on, Step(act="close"), times)

    def trickle(self, status: int = 200, times: int | None = 1, on: Endpoint = "chat") -> None:
        """A blank every few milliseconds, as servers that queue requests send, without an end."""
        self._add(on, Step(status, act="trickle"), times)

    def flood(self, status: int = 200, times: int | None = 1, on: Endpoint = "chat") -> None:
        """300 MB of JSON."""
        self._add(on, Step(status, act="flood"), times)

    def cut_stream(self, content: str, *, stall: bool = False) -> None:
        """A streamed completion that ends after half of ``content``, without its end, or
        goes silent there."""
        self._add("chat", Step(content=content, act="stall" if stall else "cut"), 1)

    def garble_stream(self, content: str, event: str = "{") -> None:
        """A streamed completion with ``event`` in its middle."""
        self._add("chat", Step(content=content, act="garbage", headers={"event": event}), 1)

    def refuse_json_schema(self) -> None:
        """From now on a 400 for ``response_format`` json_schema, as servers of the older
        protocol answer."""
        self.refused_formats.add("json_schema")

    def _add(self, endpoint: Endpoint, step: Step, times: int | None) -> None:
        self._scripts[endpoint].append((step, times))

    def record(self, request: Request) -> Step:
        """The step that answers ``request``, which is kept."""
        with self._lock:
            self.requests.append(request)
            self.arrived.release()
            if request.path == "/v1/models":
                return Step(body={"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            endpoint = _endpoint(request.path)
            if endpoint is None or request.method != "POST":
                return _error(404, "Unknown path.")
            refusal = self._refusal(request.json)
            if refusal is not None:
                return refusal
            script = self._scripts[endpoint]
            if script:
                step, times = script.popleft()
                if times is None or times > 1:
                    script.appendleft((step, None if times is None else times - 1))
                return step
        if endpoint == "embeddings":
            return self._embeddings(request.json)
        return self._answer(request)

    def _answer(self, request: Request) -> Step:
        if self.answer_with is None:
            return _error(418, "The script of this server has ended.")
        answer = self.answer_with(request)
        if isinstance(answer, Step):
            return answer
        return Step(content=answer if isinstance(answer, str) else json.dumps(answer))

    def _refusal(self, body: Any) -> Step | None:
        for parameter in self.refused_parameters & set(body):
            return _error(400, f"Unsupported parameter: '{parameter}'.")
        form = (body.get("response_format") or {}).get("type")
        if form in self.refused_formats:
            return _error(400, f"Invalid value for 'response_format.type': {form}.")
        return None

    def _embeddings(self, body: Any) -> Step:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if "" in texts:
            return _error(400, "'$.input' is invalid.")
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": embedding_of(text, self.dimensions),
            }
            for index, text in enumerate(texts)
        ]
        if self.shuffle_embeddings:
            data.sort(key=lambda item: hashlib.sha256(str(item["index"]).encode()).digest())
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return Step(body={"object": "list", "data": data, "model": MODEL, "usage": usage})

    def completion(self, step: Step) -> dict[str, Any]:
        """The body of a chat completion."""
        message = {"role": "assistant", "content": step.content, "refusal": step.refusal}
        choice = {"index": 0, "message": message, "finish_reason": step.finish_reason}
        body = {**_head("chat.completion"), "choices": [choice]}
        return body if self.usage is None else {**body, "usage": self.usage}

    def chunks(self, step: Step) -> Iterator[dict[str, Any]]:
        """The events of a streamed chat completion."""
        content = step.content or ""
        for start in range(0, len(content), 8):
            delta = {"role": "assistant", "content": content[start : start + 8]}
            yield {
                **_head("chat.completion.chunk"),
                "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
            }
        last = {"index": 0, "delta": {}, "finish_reason": step.finish_reason}
        yield {**_head("chat.completion.chunk"), "choices": [last], "usage": self.usage}

    def wait_until_closed(self, timeout: float = 30) -> bool:
        """Whether the server was closed within ``timeout`` seconds."""
        return self._closing.wait(timeout)


def _endpoint(target: str) -> Endpoint | None:
    return PATHS.get(urlsplit(target).path)


def http_date(seconds_from_now: float) -> str:
    """The date form of a Retry-After header."""
    return formatdate(time.time() + seconds_from_now, usegmt=True)


def _head(kind: str) -> dict[str, Any]:
    return {"id": "fake-1", "object": kind, "created": 0, "model": MODEL}


def _error(status: int, message: str) -> Step:
    return Step(status, {"error": {"message": message, "type": "invalid_request_error"}})


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, fake: FakeOpenAI) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fake = fake

    def get_request(self) -> Any:
        self.fake.connections += 1
        return super().get_request()


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer("GET", None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._answer("POST", json.loads(body) if body else None)

    def _answer(self, method: str, body: Any) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        step = self.server.fake.record(Request(method, self.path, headers, body))
        # The client may have given up waiting.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._play(step, streamed=isinstance(body, dict) and bool(body.get("stream")))

    def _play(self, step: Step, *, streamed: bool) -> None:
        if step.act == "hang":
            self.server.fake.wait_until_closed()
            self.close_connection = True
        elif step.act == "close":
            self._send_head(200, "application/json", {"Content-Length": "1000"})
            self.wfile.write(b'{"id": "fake-1", ')
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif step.act in ("trickle", "flood"):
            self._pour(step)
        elif step.body is None and streamed:
            self._stream(step)
        elif isinstance(step.body, str):
            self._send(step, step.kind, step.body)
        else:
            body = self.server.fake.completion(step) if step.body is None else step.body
            self._send(step, "application/json", json.dumps(body, ensure_ascii=False))

    def _pour(self, step: Step) -> None:
        flood = step.act == "flood"
        self.close_connection = True
        self._send_head(step.status, "application/json", {"Connection": "close"})
        piece, times = (b" " * 1_000_000, 300) if flood else (b" ", 3_000)
        for _ in range(times):
            self.wfile.write(piece)
            if not flood and self.server.fake.wait_until_closed(0.01):
                return

    def _send(self, step: Step, kind: str, text: str) -> None:
        data = text.encode()
        self._send_head(step.status, kind, {**step.headers, "Content-Length": str(len(data))})
        self.wfile.write(data)

    def _send_head(self, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()

    def _stream(self, step: Step) -> None:
        self.close_connection = True
        self._send_head(200, "text/event-stream", {"Connection": "close"})
        chunks = list(self.server.fake.chunks(step))
        for number, chunk in enumerate(chunks):
            half = number == len(chunks) // 2
            if step.act == "cut" and half:
                return
            if step.act == "stall" and half:
                self.server.fake.wait_until_closed()
                return
            event = json.dumps(chunk, ensure_ascii=False)
            if step.act == "garbage" and half:
                event = step.headers["event"]
            self.wfile.write(f"data: {event}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")
