"""The API as the gate in front of Django answers it, without the middlewares of pages."""

import asyncio
import json
from typing import Any

import pytest
from django.db import connections

from accounts import scope
from accounts.models import ApiKey
from mio_site import api_gate
from tests.factories import make_app, make_end_user

pytestmark = pytest.mark.django_db(transaction=True)

Answer = tuple[int, dict[str, str], Any]


def ask(method: str, path: str, *pieces: bytes, **headers: str) -> Answer | None:
    """Status, headers and decoded body; None for what is handed on."""
    handed_on, sent = [], []
    coming = [
        {"type": "http.request", "body": piece, "more_body": n < len(pieces)}
        for n, piece in enumerate(pieces or (b"",), 1)
    ]

    async def rest(*_: Any) -> None:
        handed_on.append(path)

    async def receive() -> Any:
        return coming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    named = {
        "host": "localhost",
        **{name.replace("_", "-"): text for name, text in headers.items()},
    }
    asked = {
        "type": "http", "method": method, "path": path, "query_string": b"", "scheme": "http",
        "headers": [(name.encode(), text.encode()) for name, text in named.items()],
        "client": ("127.0.0.1", 1), "server": ("localhost", 80),
    }  # fmt: skip
    with scope.undeclared():
        asyncio.run(api_gate.Gate(rest)(asked, receive, send))
    if handed_on:
        return None
    start, *bodies = sent
    text = b"".join(message["body"] for message in bodies).decode()
    told = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    is_json = told.get("content-type", "").startswith("application/json")
    return start["status"], told, json.loads(text) if is_json else text


def code(answer: Answer | None) -> tuple[int, str]:
    assert answer is not None
    return answer[0], answer[2]["error"]["code"]


@pytest.fixture
def key() -> dict[str, str]:
    user = make_end_user(app=make_app(), external_id="zoe")
    return {"authorization": f"Bearer {ApiKey.issue(user.app)[1]}"}


def test_an_answer_has_a_length_and_no_cookie(key: dict[str, str]) -> None:
    status, told, body = ask("GET", "/api/v1/app/", **key) or pytest.fail("handed on")
    assert status == 200
    assert told["x-content-type-options"] == "nosniff"
    assert int(told["content-length"]) > len(body["name"])
    assert not {"set-cookie", "content-language", "content-security-policy"} & told.keys()


def test_refusals_have_the_form_of_the_api(key: dict[str, str], settings: Any) -> None:
    assert code(ask("GET", "/api/v1/app/")) == (401, "not_authenticated")
    assert code(ask("GET", "/api/v1/nothing", **key)) == (404, "not_found")
    assert code(ask("PUT", "/api/v1/app/", **key)) == (405, "method_not_allowed")
    assert code(ask("GET", "/api/v1/app/", **{**key, "host": "evil.example"}))[0] == 400
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    pieces = [b'{"message": "', *[b"x" * 60] * 3, b'"}']
    context = "/api/v1/users/zoe/context/", *pieces
    kind = {"content_type": "application/json"}
    chunked = {**key, **kind, "transfer_encoding": "chunked"}
    told = {**key, **kind, "content_length": str(sum(map(len, pieces)))}
    assert code(ask("POST", *context, **chunked)) == (413, "too_large")
    assert code(ask("POST", *context, **told)) == (413, "too_large")


def test_browsers_may_call_from_the_origins_that_are_set(
    key: dict[str, str], settings: Any
) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://chat.example"]
    origin = {"origin": "https://chat.example", "access_control_request_method": "POST"}
    status, told, _ = ask("OPTIONS", "/api/v1/app/", **origin) or pytest.fail("handed on")
    assert (status, told["access-control-allow-origin"]) == (200, "https://chat.example")
    assert "POST" in told["access-control-allow-methods"]
    _, told, _ = ask("GET", "/api/v1/app/", **key, origin="https://other.example") or (0, {}, 0)
    assert "access-control-allow-origin" not in told


def test_pages_and_views_that_wait_without_a_thread_are_handed_on(key: dict[str, str]) -> None:
    for path in ("/", "/api/docs/", "/api/schema/", "/api/v1/users/zoe/process/", "/v1/models"):
        assert ask("GET", path, **key) is None, path
    assert ask("GET", "/healthz") is not None


def test_a_thread_of_the_api_keeps_no_connection(key: dict[str, str]) -> None:
    ask("GET", "/api/v1/users/zoe/", **key)

    def held() -> bool:
        return any(one.connection for one in connections.all(initialized_only=True))

    assert not any(api_gate._REQUESTS.submit(held).result() for _ in range(12))
