"""The id of each request, in its answer and in the log."""

import asyncio
import logging
from typing import Any

import pytest
from django.test import Client

from mio_site import readiness
from mio_site.request_id import RequestId, gate


def asked(*chosen: str) -> tuple[Any, Any]:
    """The scope and the answer's head of a request, with the log record made during it."""
    records, heads = [], []

    async def application(scope: Any, _receive: Any, send: Any) -> None:
        record = logging.LogRecord("mio", logging.INFO, "", 1, "", (), None)
        RequestId().filter(record)
        records.append(record.__dict__["request_id"])
        kept = [(b"X-Request-ID", b"up-1"), *scope["headers"]]
        await send({"type": "http.response.start", "status": 200, "headers": kept})

    async def send(message: Any) -> None:
        heads.append([value for name, value in message["headers"] if name == b"x-request-id"])

    scope = {"type": "http", "headers": [(b"x-request-id", one.encode()) for one in chosen]}
    asyncio.run(gate(application)(scope, None, send))
    [[answered]], [logged] = heads, records
    return answered.decode(), logged


def test_a_request_keeps_the_id_that_a_proxy_gave_it_and_its_log_has_it() -> None:
    assert asked("a-1") == ("a-1", "a-1")
    outside = logging.LogRecord("mio", logging.INFO, "", 1, "", (), None)
    RequestId().filter(outside)
    assert outside.__dict__["request_id"] == ""


@pytest.mark.parametrize("chosen", ["", "x" * 65, "a b", "小红"])
def test_any_other_request_gets_an_id_of_its_own(chosen: str) -> None:
    ids = {asked(chosen)[0] for _ in range(2)}
    assert len(ids) == 2
    assert chosen not in ids


@pytest.mark.django_db
def test_a_probe_that_finds_nothing_ready_is_no_line(client: Client, monkeypatch, caplog) -> None:
    def unready(_own: Any) -> None:
        raise readiness.Unready("away", "It is away.")

    monkeypatch.setitem(readiness._PARTS, "model", unready)
    assert client.get("/readyz").status_code == 503
    assert caplog.records == []
