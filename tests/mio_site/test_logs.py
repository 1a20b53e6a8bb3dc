"""Lines of the log, and the requests they belong to."""

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping

import httpx2
import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.log import log_response
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from mio_site.logs import Json, Line, ProbeAnswered
from mio_site.request_id import RequestId, gate


def line(formatter: logging.Formatter, **given: object) -> str:
    record = logging.LogRecord("mio", logging.WARNING, "", 1, "user %s", (7,), None)
    record.__dict__.update(given)
    return formatter.format(record)


def test_a_line_of_json_is_an_object_with_what_there_is() -> None:
    told = json.loads(line(Json(), request_id="r1"))
    assert (told["level"], told["logger"], told["message"]) == ("WARNING", "mio", "user 7")
    assert told["request_id"] == "r1"
    assert told["time"].endswith("+00:00")
    assert "error" not in told


def test_a_traceback_stays_within_its_line() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        written = line(Json(), exc_info=sys.exc_info())
    assert "\n" not in written
    assert "ValueError: broken" in json.loads(written)["error"]


def test_a_line_of_text_ends_with_its_request() -> None:
    assert line(Line(), request_id="r1").endswith("WARNING mio user 7 (request r1)")
    assert line(Line()).endswith("WARNING mio user 7")


async def asked(
    application: Callable[..., Awaitable[None]], headers: Mapping[str, bytes | str]
) -> httpx2.Response:
    transport = httpx2.ASGITransport(gate(application))
    async with httpx2.AsyncClient(transport=transport, base_url="http://mio.test") as client:
        return await client.get("/", headers=headers)


def answered(headers: Mapping[str, bytes | str]) -> httpx2.Response:
    return asyncio.run(asked(PlainTextResponse("ok", headers={"x-request-id": "other"}), headers))


def test_a_request_keeps_the_id_that_a_proxy_gave_it() -> None:
    assert answered({"x-request-id": "a-1"}).headers.get_list("X-Request-ID") == ["a-1"]


@pytest.mark.parametrize("chosen", ["", "x" * 65, "a b", "\u00e9"])
def test_any_other_request_gets_an_id_of_its_own(chosen: str) -> None:
    headers = {"x-request-id": chosen.encode()} if chosen else {}
    ids = {answered(headers).headers["X-Request-ID"] for _ in range(2)}
    assert len(ids) == 2
    assert not ids & {chosen, "other"}


def test_what_is_logged_during_a_request_has_its_id() -> None:
    record = logging.LogRecord("mio", logging.INFO, "", 1, "", (), None)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.to_thread(RequestId().filter, record)
        await PlainTextResponse(Headers(scope=scope)["x-request-id"])(scope, receive, send)

    reply = asyncio.run(asked(application, {"x-request-id": "a b"}))
    assert record.__dict__["request_id"] == reply.text == reply.headers["x-request-id"] != "a b"
    RequestId().filter(record)
    assert record.__dict__["request_id"] == ""


def test_a_probe_that_finds_nothing_ready_is_no_line_and_any_other_failure_is(caplog) -> None:
    quiet = ProbeAnswered()
    requests = RequestFactory()
    for path, kept in (("/readyz", False), ("/api/v1/users/", True)):
        caplog.clear()
        log_response(
            "Service Unavailable", response=HttpResponse(status=503), request=requests.get(path)
        )
        assert [quiet.filter(record) for record in caplog.records] == [kept]
