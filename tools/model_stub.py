"""A model server that answers at once and says what it is told to: behind the gateway while it is
measured. ``python -m tools.model_stub SOCKET`` answers on a bound socket."""

import asyncio
import hashlib
import json
import socket
import sys
from collections.abc import Iterator
from typing import Any

import uvicorn

WORDS = "she moved to the house by the sea 她 搬到 海边 了".split()


async def answer(_scope: Any, receive: Any, send: Any) -> None:
    """A chat completion or a response, streamed where that is asked for: its text follows from
    ``x_nonce`` of the body, ``x_pieces`` are so many, ``x_pause`` seconds apart, after ``x_think``
    seconds."""
    raw = b""
    while (event := await receive())["type"] == "http.request":
        raw += event["body"]
        if not event["more_body"]:
            break
    asked = json.loads(raw or b"{}")
    await asyncio.sleep(asked.get("x_think", 0))
    kind = b"text/event-stream" if asked.get("stream") else b"application/json"
    head = [(b"content-type", kind)]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    for piece in pieces(asked):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        if pause := asked.get("x_pause"):
            await asyncio.sleep(pause)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def pieces(asked: dict[str, Any]) -> Iterator[bytes]:
    """The bytes of the answer to a body."""
    if not asked.get("stream"):
        yield json.dumps(_whole(asked)).encode()
        return
    for number, word in enumerate(_words(asked)):
        yield _event(asked, number, word)
    yield b"data: [DONE]\n\n" if "messages" in asked else _ended(asked)


def _words(asked: dict[str, Any]) -> Iterator[str]:
    seed = hashlib.sha256(str(asked.get("x_nonce", "")).encode()).digest()
    for number in range(asked.get("x_pieces", 20)):
        yield WORDS[(seed[number % len(seed)] + number) % len(WORDS)] + " "


def _whole(asked: dict[str, Any]) -> dict[str, Any]:
    text = "".join(_words(asked))
    called = {"id": f"a{asked.get('x_nonce', '')}", "model": "stub"}
    if "messages" in asked:
        message = {"role": "assistant", "content": text}
        return {
            **called,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
    part = {"type": "output_text", "text": text, "annotations": []}
    said = {"type": "message", "role": "assistant", "id": "m", "content": [part]}
    return {**called, "object": "response", "status": "completed", "output": [said]}


def _event(asked: dict[str, Any], number: int, word: str) -> bytes:
    if "messages" in asked:
        choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
        told: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}
        return b"data: " + json.dumps(told).encode() + b"\n\n"
    told = {"type": "response.output_text.delta", "sequence_number": number, "output_index": 0,
            "content_index": 0, "item_id": "m", "delta": word}  # fmt: skip
    if number == 0:
        begun = {"type": "response.created", "response": {**_whole(asked), "output": []}}
        return _named(begun) + _named(told)
    return _named(told)


def _ended(asked: dict[str, Any]) -> bytes:
    return _named({"type": "response.completed", "response": _whole(asked)})


def _named(told: dict[str, Any]) -> bytes:
    return f"event: {told['type']}\ndata: {json.dumps(told)}\n\n".encode()


if __name__ == "__main__":
    config = uvicorn.Config(answer, lifespan="off", access_log=False, log_level="error")
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
