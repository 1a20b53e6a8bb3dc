"""The MCP server by the SDK's own client, in both eras of the protocol, from two workers."""

import asyncio
import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from accounts.models import ApiKey, Change, EndUser
from contacts.models import Contact
from mcp_server.gate import MAX_BODY
from memories.models import Memory
from mio_site import serve
from tests.deploy.deployed import running
from tests.deploy.test_files import ROOT
from tests.factories import make_app, make_contact, make_end_user, make_memory
from tests.mio_site.waiting import eventually
from tests.processes import database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]
TOOLS = {
    "who_is", "get_person", "remember", "recall", "correct", "same_person", "different_people",
    "upcoming_dates", "forget", "search", "fetch",
}  # fmt: skip
READING = {"who_is", "get_person", "recall", "upcoming_dates", "search", "fetch"}


@pytest.fixture(scope="module")
def address(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of two workers at the test database."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "uvicorn", "mio_site.asgi:application", "--workers", "2",
        "--lifespan", "off", "--port", str(port), "--log-level", "warning",
    ]  # fmt: skip
    env = {"DATABASE_URL": database_url(), "MIO_LLM": "offline"}
    with running(command, tmp_path_factory.mktemp("mcp") / "log", **env):
        assert eventually(lambda: serve.answers("127.0.0.1", port, "/healthz"), 180)
        yield f"http://127.0.0.1:{port}/mcp"


# The first request of each worker loads the library, which takes long on a busy machine.
post = partial(httpx2.post, timeout=60)


@asynccontextmanager
async def connected(address: str, secret: str, mode: str = "auto") -> Any:
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


async def call(client: Client, tool: str, **given: Any) -> Any:
    result = await client.call_tool(tool, given)
    text = result.content[0].text
    return text if result.is_error else json.loads(text)


def test_tools_act_on_the_user_of_the_key_in_both_eras(address):
    app = make_app()
    _, secret = ApiKey.issue(app, external_id="zoe")
    user = make_end_user(app=app, external_id="zoe", language="en")
    kim = make_contact(user, "Kim", relationship="friend")
    sings = make_memory(user, "Kim sings in a choir", kim)
    twin = make_contact(user, "Kimmy")
    make_memory(make_end_user(app=app, external_id="kai"), "Kai keeps bees")

    async def modern() -> None:
        async with connected(address, secret) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == TOOLS
            assert {
                name for name, one in tools.items() if one.annotations.read_only_hint
            } == READING
            assert not any("user" in one.input_schema["properties"] for one in tools.values())
            [met] = (await call(client, "who_is", text="What does Kim like?"))["people"]
            assert met["id"] == str(kim.pk)
            known = await call(client, "get_person", person="Kim")
            assert [one["content"] for one in known["memories"]] == ["Kim sings in a choir"]
            told = await call(client, "remember", content="Ann lives in Oslo.", person="Ann")
            assert told["change_id"]
            found = await call(client, "recall", query="choir")
            assert found["memories"][0]["people"] == ["Kim"]
            assert "bees" not in json.dumps(await call(client, "recall", query="bees"))
            [hit, *_] = (await call(client, "search", query="choir"))["results"]
            assert (await call(client, "fetch", id=hit["id"]))["text"] == "Kim sings in a choir"

    async def legacy() -> None:
        async with connected(address, secret, "legacy") as client:
            fixed = await call(
                client, "correct", person="Kim", attribute="location", value="Bergen"
            )
            assert fixed["change_id"]
            changed = await call(
                client, "correct", memory=str(sings.pk), content="Kim sings in two choirs"
            )
            assert changed["change_id"]
            assert (await call(client, "upcoming_dates", days=30))["dates"] == []
            await call(client, "different_people", one="Kim", other="Ann")
            assert (await call(client, "same_person", one="Kim", other="Kimmy"))["id"] == str(
                kim.pk
            )
            shown = await call(client, "forget", person="Ann")
            assert (shown["done"], shown["count"]) == (False, 1)
            assert (await call(client, "forget", person="Ann", confirmed=True))["done"]
            assert "Nobody is known by" in await call(client, "get_person", person="Ann")
            assert "person with an attribute" in await call(client, "correct")

    asyncio.run(modern())
    asyncio.run(legacy())
    assert Memory.objects.of(user).get(pk=sings.pk).content == "Kim sings in two choirs"
    assert Contact.objects.get(pk=twin.pk).merged_into_id == kim.pk
    ann = Memory.objects.of(user).get(content="Ann lives in Oslo.")
    assert (ann.status, ann.speaker) == ("archived", "assistant")
    actors = Change.objects.of(user).values_list("actor", flat=True)
    assert set(actors) == {f"app:{app.name}", "extractor"}


def test_a_key_of_an_app_names_the_user_in_the_address_and_nothing_else_is_let_in(address):
    app = make_app()
    _, open_key = ApiKey.issue(app)
    _, bound = ApiKey.issue(app, external_id="zoe")

    async def remembered() -> None:
        async with connected(f"{address}/kai", open_key) as client:
            assert await call(client, "remember", content="The user keeps bees.")

    asyncio.run(remembered())
    assert Memory.objects.of(EndUser.objects.get(external_id="kai")).count() == 1
    for secret, path, status in (
        ("mio_nothing", "", 401),
        (open_key, "", 400),
        (bound, "/kai", 403),
    ):
        answer = post(f"{address}{path}", json={}, headers={"Authorization": f"Bearer {secret}"})
        assert (answer.status_code, "code" in answer.json()["error"]) == (status, True)
    mine = {"Authorization": f"Bearer {bound}"}
    assert post(address, content=b" " * 200_000, headers=mine).status_code == 413
    elsewhere = {"Authorization": f"Bearer {bound}", "Host": "evil.example"}
    assert post(address, json={}, headers=elsewhere).status_code == 400
    twice = [("Authorization", f"Bearer {bound}"), ("Authorization", f"Bearer {open_key}")]
    assert post(address, json={}, headers=twice).status_code == 400


def test_a_request_that_is_too_large_or_no_text_is_refused(address):
    _, secret = ApiKey.issue(make_app(), external_id="zoe")
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}
    calls = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": %s}'
    half = calls % b'{"name": "remember", "arguments": {"content": "\\ud800"}}'
    headers["Content-Type"] = "application/json"
    answer = post(address, content=half, headers=headers)
    assert answer.status_code < 500
    assert "error" in answer.text.lower()
    answer = post(address, content=half + b" " * MAX_BODY, headers=headers)
    assert answer.status_code == 413
    assert not Memory.objects.exists()


def test_a_local_client_is_served_as_the_docs_say_from_any_folder(tmp_path):
    """Commands of docs/mcp.md, as they are pasted but for the path of the folder."""
    docs = (ROOT / "docs" / "mcp.md").read_text()
    env = {**os.environ, "DATABASE_URL": database_url(), "MIO_LLM": "offline"}
    [made] = re.findall(r"^bin/mio (.*?) *#", docs, re.M)

    def started(command: str, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [command.replace("/path/to/mio", str(ROOT)), *args], cwd=tmp_path, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    with started("/path/to/mio/bin/mio", *shlex.split(made)) as key:
        assert "mio_" in key.communicate()[0]
    [pasted] = [json.loads(one) for one in re.findall(r"`(\{.*?\})`", docs) if "command" in one]
    local = pasted["mcpServers"]["mio"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "test", "version": "1"}}  # fmt: skip
    asked = [{"id": 1, "method": "initialize", "params": hello},
             {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"}]  # fmt: skip
    with started(local["command"], *local["args"]) as server:
        assert server.stdin
        assert server.stdout
        for one in asked:
            print(json.dumps({"jsonrpc": "2.0", **one}), file=server.stdin, flush=True)
        # A server drops what it has not answered when its client hangs up.
        answers = (json.loads(server.stdout.readline()) for _ in range(2))
        [tools] = [answer["result"]["tools"] for answer in answers if answer["id"] == 2]
        server.stdin.close()
    assert server.returncode == 0
    assert {tool["name"] for tool in tools} == TOOLS
