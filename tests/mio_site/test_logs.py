"""Lines of the log, and the requests they belong to."""

import json
import logging
import sys

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils.log import log_response

from mio_site.logs import Json, Line, ProbeAnswered
from mio_site.request_id import RequestId


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
    assert line(Line(), request_id="r1", trace_id="f0").endswith("7 (request r1, trace f0)")
    assert json.loads(line(Json(), trace_id="f0"))["trace_id"] == "f0"


def test_a_request_keeps_the_id_that_a_proxy_gave_it(client: Client) -> None:
    assert client.get("/healthz", headers={"x-request-id": "a-1"}).headers["X-Request-ID"] == "a-1"


@pytest.mark.parametrize("chosen", ["", "x" * 65, "a b", "小红"])
def test_any_other_request_gets_an_id_of_its_own(client: Client, chosen: str) -> None:
    headers = {"x-request-id": chosen} if chosen else {}
    ids = {client.get("/healthz", headers=headers).headers["X-Request-ID"] for _ in range(2)}
    assert len(ids) == 2
    assert chosen not in ids


def test_what_is_logged_during_a_request_has_its_id(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = logging.LogRecord("mio", logging.INFO, "", 1, "", (), None)
    monkeypatch.setattr("mio_site.health._failure", lambda *_: RequestId().filter(record) and None)
    client.get("/readyz", headers={"x-request-id": "a-1"})
    assert record.__dict__["request_id"] == "a-1"
    RequestId().filter(record)
    assert record.__dict__["request_id"] == ""


def test_a_probe_that_finds_nothing_ready_is_no_line_and_any_other_failure_is(caplog) -> None:
    quiet = ProbeAnswered()
    asked = RequestFactory()
    for path, kept in (("/readyz", False), ("/api/v1/users/", True)):
        caplog.clear()
        log_response(
            "Service Unavailable", response=HttpResponse(status=503), request=asked.get(path)
        )
        assert [quiet.filter(record) for record in caplog.records] == [kept]
