"""A real HTTP server on loopback that receives webhooks and answers as it is told."""

import threading
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIECES = {"trickle": b"x", "flood": b"x" * 65536, "garbage": b"\x00\xff\r\n\r\n"}


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """A context manager. ``answers`` are played in order, each (status, headers) or one of the
    hostile PIECES; after them all is 200."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: deque[tuple[int, dict[str, str]] | str] = deque()
        self.closing = threading.Event()
        self.http = _Http(self)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return self.http.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def __enter__(self) -> "Receiver":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.receiver = receiver

    def handle_error(self, *_: object) -> None:
        """A client that leaves is what is tested."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        named = {name.lower(): value for name, value in self.headers.items()}
        receiver.received.append(Received(self.path, named, body))
        answer = receiver.answers.popleft() if receiver.answers else (200, {})
        if isinstance(answer, str):
            self._be_hostile(answer)
            return
        status, headers = answer
        self.send_response(status)
        for name, value in {**headers, "Content-Length": "2"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"ok")

    def _be_hostile(self, kind: str) -> None:
        if kind == "flood":
            self.send_response(200)
            self.end_headers()
        if kind == "trickle":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self.wfile.write(PIECES[kind])
        pause = 0.02 if kind == "trickle" else 0
        while kind != "garbage" and not self.server.receiver.closing.wait(pause):
            self.wfile.write(PIECES[kind])
