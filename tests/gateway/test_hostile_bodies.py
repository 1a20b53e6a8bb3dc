"""Bodies of a megabyte that are made to take long, and answers without an end, in a web process of
their own: nobody else waits for them, and they fill no memory."""

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import httpx2
import pytest
from django.db import connection

from accounts.models import ApiKey
from gateway import upstreams
from mio_site import serve
from tests.deploy.deployed import free_port, running
from tests.factories import make_app, make_contact, make_end_user
from tests.gateway.upstream import MODEL, Step, Upstream, served
from tests.mio_site.waiting import eventually
from tests.processes import database_url, end_other_sessions

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]
SIZE = 1_000_000
MOST = 4.0  # seconds of a processor for each, with the probes beside
LONGEST = 1.0  # seconds of it within which another request is answered
PAUSE = 0.02  # seconds between two probes


def _said(piece: str) -> bytes:
    text = "How is Kim? " + piece * (SIZE // len(piece.encode()))
    return json.dumps(
        {"model": MODEL, "messages": [{"role": "user", "content": text}]}, ensure_ascii=False
    ).encode()


def _listed(piece: str) -> bytes:
    return b'{"model": "m", "messages": [%s]}' % ",".join([piece] * (SIZE // len(piece))).encode()


CHATS = "/v1/chat/completions"
BODIES = {
    "thoughts": (CHATS, 200, _said("<think>")),
    "thoughts in details": (CHATS, 200, _said('<details type="reasoning" done="true">')),
    "tags": (CHATS, 200, _said("<details ")),
    "marks": (CHATS, 200, _said("a" + "\u0315\u0300\u0316" * 1000)),
    "one long word with marks": (CHATS, 200, _said("\u0315\u0300\u0316")),
    "escaped blocks": (CHATS, 200, _said("&amp;lt;mio-memory&amp;gt;")),
    "answers of thoughts": (
        CHATS,
        200,
        _listed('{"role":"assistant","content":"%s"}' % ("<think>" * 40)),
    ),
    "many messages": (CHATS, 413, _listed('{"role":"user","content":"a"}')),
    "many lists": (CHATS, 413, _listed("[[[[[[0]]]]]]")),
    "no JSON": (CHATS, 413, b'"' * SIZE),
    "a call of a tool": ("/mcp/zoe", 413, b'"' * SIZE),
}


def processor_seconds(process: int) -> float:
    """What a process has taken of a processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


ANSWER = 60_000_000  # bytes
MOST_HELD = 40_000  # kB
ANSWERS = ("application/json", "text/event-stream", "audio/mpeg")


def peak_kb(process: int) -> int:
    """The most memory that a process has held since the last call."""
    status = Path(f"/proc/{process}/status").read_text()
    Path(f"/proc/{process}/clear_refs").write_text("5")
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1])


@contextmanager
def probed(port: int, process: int) -> Iterator[list[float]]:
    """What the web process takes of a processor during each of many requests to /healthz: while one
    waits for the event loop, that is what the event loop does."""
    took: list[float] = []
    done = threading.Event()

    def ask() -> None:
        web = HTTPConnection("127.0.0.1", port, timeout=60)
        while True:
            before = processor_seconds(process)
            web.request("GET", "/healthz")
            assert web.getresponse().read()
            took.append(processor_seconds(process) - before)
            if done.wait(PAUSE):
                return

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield took
    finally:
        done.set()
        thread.join()


def test_bodies_that_are_made_to_take_long_and_answers_without_an_end_hold_nobody_up(
    tmp_path: Path,
) -> None:
    app = make_app()
    _, secret = ApiKey.issue(app)
    make_contact(make_end_user(app=app, external_id="zoe", language="en"), "Kim")
    port = free_port()
    command = [
        sys.executable, "-m", "uvicorn", "mio_site.asgi:application", "--lifespan", "off",
        "--port", str(port), "--log-level", "warning",
    ]  # fmt: skip
    env = {"DATABASE_URL": database_url(), "MIO_LLM": "offline", "MIO_HOME": str(tmp_path)}
    headers = {"Authorization": f"Bearer {secret}", "X-Mio-User": "zoe"}
    address = f"http://127.0.0.1:{port}"
    upstream = Upstream()
    with served(upstream) as model_server, running(command, tmp_path / "log", **env) as web:
        upstreams.configure(app, f"{model_server}/v1")
        # Ready: what texts are read with is loaded, so that no request is charged for it.
        assert eventually(lambda: serve.answers("127.0.0.1", port, "/readyz"))
        with httpx2.Client(trust_env=False, timeout=120, headers=headers) as http:

            def post(path: str, body: bytes) -> tuple[int, float]:
                before = processor_seconds(web.pid)
                status = http.post(f"{address}{path}", content=body).status_code
                return status, processor_seconds(web.pid) - before

            hello = b'{"messages": [{"role": "user", "content": "Hi."}]}'
            assert post(CHATS, hello)[0] == 200
            for name, (path, status, body) in BODIES.items():
                with probed(port, web.pid) as took:
                    answered, seconds = post(path, body)
                assert answered == status, name
                assert seconds < MOST, name
                assert max(took) < LONGEST, name
            for kind in ANSWERS:
                pieces = [b"a" * 60_000] * (ANSWER // 60_000)
                upstream.script.append(Step(pieces, content_type=kind))
                peak_kb(web.pid)
                before = peak_kb(web.pid)
                with (
                    probed(port, web.pid) as took,
                    http.stream("POST", f"{address}{CHATS}", content=hello) as answer,
                ):
                    assert sum(map(len, answer.iter_raw())) == ANSWER, kind
                assert max(took) < LONGEST, kind
                assert peak_kb(web.pid) - before < MOST_HELD, kind
    with connection.cursor() as cursor:
        end_other_sessions(cursor)
