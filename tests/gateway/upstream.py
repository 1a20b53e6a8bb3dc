"""A model server on loopback that answers as it is told to, and breaks on purpose."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

MODEL = "stub-model"


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    raw: bytes
    method: str = "POST"
    query: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def last(self) -> str:
        """The content of the last message."""
        return self.json["messages"][-1]["content"]


@dataclass(frozen=True)
class Step:
    """``pieces`` are sent one by one. ``then``: "end", "break" off without one, or "stall"."""

    pieces: Sequence[bytes]
    status: int = 200
    content_type: str = "text/event-stream"
    then: str = "end"
    headers: dict[str, str] = field(default_factory=dict)


def chunk(delta: dict[str, Any], **more: Any) -> bytes:
    """An event of a streamed completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": more.pop("finish_reason", None)}
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL,
            "choices": [choice], **more}  # fmt: skip
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def stream_of(text: str) -> list[bytes]:
    """A streamed answer, with odd spacing and the chunk of usage at its end."""
    pieces = [chunk({"role": "assistant", "content": ""}), b": keep-alive\n\n"]
    pieces += [chunk({"content": text[at : at + 3]}) for at in range(0, len(text), 3)]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    last = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL,
            "choices": [], "usage": usage}  # fmt: skip
    return [
        *pieces,
        chunk({}, finish_reason="stop"),
        b"data:" + json.dumps(last).encode() + b"\r\n\r\n",
        b"data: [DONE]\n\n",
    ]


def whole(message: dict[str, Any]) -> bytes:
    """An answer in one piece."""
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL,
            "choices": [choice], "system_fingerprint": "é"}  # fmt: skip
    return json.dumps(body, ensure_ascii=False, indent=1).encode()


def message_item(text: str) -> dict[str, Any]:
    """What the assistant says in the output of a response."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [part]}  # fmt: skip


def response(*output: dict[str, Any], called: str = "resp_1", **more: Any) -> dict[str, Any]:
    """A response in one piece."""
    return {"id": called, "object": "response", "created_at": 1, "status": "completed", "model": MODEL,
            "output": list(output), "parallel_tool_calls": True, "tool_choice": "auto",
            "tools": [], "background": False, "error": None, **more}  # fmt: skip


def response_event(kind: str, number: int, **more: Any) -> bytes:
    """An event of a streamed response."""
    told = json.dumps({"type": kind, "sequence_number": number, **more}, ensure_ascii=False)
    return f"event: {kind}\ndata: {told}\n\n".encode()


def response_stream_of(text: str, called: str = "resp_1", **more: Any) -> list[bytes]:
    """The events of a response that says ``text`` after some reasoning."""
    thought = {"id": "rs_1", "type": "reasoning", "summary": []}
    begun = {**message_item(""), "status": "in_progress", "content": []}
    where = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    whole = response(thought, message_item(text), called=called, **more)
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": thought}),
        ("response.output_item.done", {"output_index": 0, "item": thought}),
        ("response.output_item.added", {"output_index": 1, "item": begun}),
        *(
            ("response.output_text.delta", {**where, "delta": text[at : at + 3], "logprobs": []})
            for at in range(0, len(text), 3)
        ),
        ("response.output_text.done", {**where, "text": text, "logprobs": []}),
        ("response.output_item.done", {"output_index": 1, "item": message_item(text)}),
        ("response.completed", {"response": whole}),
    ]
    return [response_event(kind, number, **more) for number, (kind, more) in enumerate(events)]


class Upstream:
    """An ASGI application. Without a script it says ``text``, streamed where that is asked for."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.script: deque[Step] = deque()
        self.text = "Noted."
        self.address = ""
        self.left = threading.Event()  # a client that stalled with us went away

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while (event := await receive())["type"] == "http.request":
            raw += event["body"]
            if not event["more_body"]:
                break
        headers = {k.decode(): v.decode("latin-1") for k, v in scope["headers"]}
        asked = Asked(scope["path"], headers, raw, scope["method"], scope["query_string"].decode())
        self.asked.append(asked)
        step = self.script.popleft() if self.script else self._usual(asked)
        head = {"content-type": step.content_type, "x-request-id": "up-1", **step.headers}
        await send({"type": "http.response.start", "status": step.status,
                    "headers": [(k.encode(), v.encode()) for k, v in head.items()]})  # fmt: skip
        for piece in step.pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)
        if step.then == "stall":
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left.set()
        if step.then == "break":
            raise ConnectionAbortedError
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _usual(self, asked: Asked) -> Step:
        if asked.path.endswith("/models"):
            listed = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
            return Step([json.dumps(listed).encode()], content_type="application/json")
        if "/responses" in asked.path:
            return self._response(asked)
        if asked.json.get("stream"):
            return Step(stream_of(self.text))
        answer = whole({"role": "assistant", "content": self.text})
        return Step([answer], content_type="application/json")

    def _response(self, asked: Asked) -> Step:
        """The number of the request is in the id of the response."""
        called = f"resp_{len(self.asked)}"
        if asked.raw and asked.json.get("stream"):
            return Step(response_stream_of(self.text, called))
        answer = json.dumps(response(message_item(self.text), called=called), indent=1)
        return Step([answer.encode()], content_type="application/json")


@contextmanager
def served(application: Any) -> Iterator[str]:
    """The address of an ASGI application that a thread of this process serves."""
    config = uvicorn.Config(
        application, port=0, lifespan="off", log_level="error", timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    started = threading.Event()
    startup = server.startup

    async def noticed(*args: Any, **kwargs: Any) -> None:
        await startup(*args, **kwargs)
        started.set()

    server.startup = noticed  # type: ignore[method-assign]
    thread.start()
    assert started.wait(30)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
