"""Mio served by a real server in a thread, in front of a model server that plays a script."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from django.db import connection
from django.utils.module_loading import import_string
from openai import OpenAI

from accounts.models import ApiKey, App, EndUser
from gateway import upstreams
from tests.factories import make_app, make_contact, make_end_user, make_memory
from tests.gateway.upstream import Upstream, served
from tests.processes import end_other_sessions


class Counted:
    """An ASGI application, and how many requests it has not done with."""

    def __init__(self) -> None:
        self.application: Any = None
        self._open = 0
        self._changed = threading.Condition()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self._add(1)
        try:
            await self.application(scope, receive, send)
        finally:
            self._add(-1)

    def _add(self, number: int) -> None:
        with self._changed:
            self._open += number
            self._changed.notify_all()

    def wait(self) -> None:
        """Returns when there is none: what was said is stored."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._open == 0, 30)


@dataclass
class Door:
    """The gateway of an app: ``address`` ends in /v1, ``secret`` is a key of the app."""

    app: App
    address: str
    secret: str

    def client(self, secret: str = "", **headers: str) -> OpenAI:
        """The official client as it is set up in the docs."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return OpenAI(
            base_url=self.address, api_key=secret or self.secret, default_headers=named,
            max_retries=0, timeout=30,
        )  # fmt: skip

    def post(self, body: object, path: str = "chat/completions", **headers: str) -> httpx2.Response:
        """A chat as raw bytes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"content": body} if isinstance(body, bytes) else {"json": body}
        with httpx2.Client(trust_env=False, timeout=30) as http:
            return http.post(
                f"{self.address}/{path}",
                headers={"Authorization": f"Bearer {self.secret}", **named},
                **sent,  # type: ignore[arg-type]
            )


class Scripted:
    """An ASGI application that plays the script of whatever test runs: to start and stop a server
    for each takes longer than most of the tests."""

    def __init__(self) -> None:
        self.script = Upstream()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.script(scope, receive, send)


COUNTED = Counted()
SCRIPTED = Scripted()


@pytest.fixture(scope="package")
def mio() -> Iterator[str]:
    # Imported first it would have all tests share connections, which some of them end.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIO_DATABASE_POOL", "0")
        COUNTED.application = import_string("mio_site.asgi.application")
    with served(COUNTED) as address:
        yield address


@pytest.fixture(scope="package")
def model_server() -> Iterator[str]:
    with served(SCRIPTED) as address:
        yield f"{address}/v1"


@pytest.fixture
def upstream(model_server: str) -> Upstream:
    SCRIPTED.script = Upstream()
    SCRIPTED.script.address = model_server
    return SCRIPTED.script


@pytest.fixture
def door(transactional_db: None, mio: str, upstream: Upstream, settings: Any) -> Iterator[Door]:
    # The machine may be busy; what is late has tests of its own.
    settings.MIO_GATEWAY_BUDGET_MS = 30_000
    app = make_app()
    upstreams.configure(app, upstream.address, key="sk-upstream")
    yield Door(app, f"{mio}/v1", ApiKey.issue(app)[1])
    COUNTED.wait()
    with connection.cursor() as cursor:
        end_other_sessions(cursor)


@pytest.fixture
def zoe(door: Door) -> EndUser:
    """An end user who is known to have a friend, Kim."""
    user = make_end_user(app=door.app, external_id="zoe", language="en")
    kim = make_contact(user, "Kim", relationship="friend")
    make_memory(user, "Kim sings in a choir", kim)
    return user
