"""The gate in front of Django, in one process: the library of /mcp is loaded by a request."""

import asyncio
import sys

import httpx2
import pytest
from django.core.handlers.asgi import ASGIHandler

from accounts.models import ApiKey
from mcp_server.gate import Gate
from tests.factories import make_app

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def test_a_request_loads_the_library_that_could_not_be_loaded_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    headers = {
        "Authorization": f"Bearer {ApiKey.issue(make_app())[1]}",
        "Accept": "application/json, text/event-stream",
    }

    async def asked_twice() -> httpx2.Response:
        transport = httpx2.ASGITransport(Gate(ASGIHandler()))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as client:
            with monkeypatch.context() as broken:
                broken.setitem(sys.modules, "mcp_server.knowledge", None)
                with pytest.raises(ModuleNotFoundError):
                    await client.post("/mcp/ann", json=ASKED)
            return await client.post("/mcp/ann", json=ASKED)

    response = asyncio.run(asked_twice())
    assert response.status_code == 200
    assert {tool["name"] for tool in response.json()["result"]["tools"]} >= {"who_is", "recall"}
