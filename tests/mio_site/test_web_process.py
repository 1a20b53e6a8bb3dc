"""The web process as `make run` starts it: warm once it is ready, and with a pool of connections."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connection

from accounts.models import ApiKey
from gateway import upstreams
from mio_site import serve
from mio_site.management.commands.serve import processes
from tests.dashboard.signin import signed_in
from tests.factories import make_contact, make_end_user, make_memory
from tests.gateway.upstream import Upstream
from tests.gateway.upstream import served as upstream_served
from tests.mio_site.waiting import eventually
from tests.processes import database_url, end_other_sessions

pytestmark = pytest.mark.system

ASKED = {"message": "How is she doing?", "history": [{"role": "user", "content": "I met Kim."}]}


@dataclass
class Web:
    pid: int
    http: httpx.Client

    def processor(self) -> int:
        """What it took of the processors so far, in ticks of the system clock."""
        told = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, told[11:13]))

    def context(self, **headers: str) -> dict[str, Any]:
        reply = self.http.post("/api/v1/users/zoe/context/", json=ASKED, headers=headers)
        assert reply.status_code == 200, reply.text
        answer: dict[str, Any] = reply.json()
        return answer


@pytest.fixture
def web(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("DATABASE_URL", database_url())
    monkeypatch.delenv("MIO_DATABASE_POOL", raising=False)
    listener = serve.reserve("127.0.0.1", 0)
    address = listener.getsockname()
    child = processes(listener)[0]
    child.start()
    try:
        assert eventually(lambda: serve.answers(*address, "/readyz"), 120)
        assert child.process is not None
        with httpx.Client(base_url="http://{}:{}".format(*address), timeout=60) as http:
            yield Web(child.process.pid, http)
    finally:
        serve.end([child])
        listener.close()
        with connection.cursor() as cursor:
            end_other_sessions(cursor)


def sessions() -> int:
    """How many connections this database was asked for so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sessions FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def test_it_is_warm_once_it_is_ready_and_requests_share_connections(web: Web) -> None:
    user = make_end_user(external_id="zoe", language="en")
    make_memory(user, "Kim sings in a choir", make_contact(user, "Kim", gender="female"))
    key = {"Authorization": f"Bearer {ApiKey.issue(user.app)[1]}"}

    # By the processor: how long it takes says nothing on a busy machine.
    began = web.processor()
    first = web.context(**key)
    ended = web.processor()
    assert (first["searched"], [one["name"] for one in first["contacts"]]) == ("yes", ["Kim"])
    for _ in range(10):
        web.context(**key)
    assert ended - began < web.processor() - ended, "the first context loads what others have"

    before = sessions()
    for _ in range(100):
        web.context(**key)
    assert sessions() - before <= 10

    operator = signed_in("admin", [user.app])
    name = settings.SESSION_COOKIE_NAME
    cookie = {"Cookie": f"{name}={operator.cookies[name].value}"}
    before = sessions()
    for _ in range(50):
        assert web.http.get(f"/u/{user.pk}/people/", headers=cookie).status_code == 200
    assert sessions() - before <= 5

    stub = Upstream()
    with upstream_served(stub) as address:
        upstreams.configure(user.app, f"{address}/v1", key="sk-upstream")
        chat = {"model": "m", "messages": [{"role": "user", "content": "How is Kim?"}]}
        before = sessions()
        for _ in range(50):
            reply = web.http.post(
                "/v1/chat/completions", json=chat, headers={**key, "X-Mio-User": "zoe"}
            )
            assert reply.status_code == 200, reply.text
        assert sessions() - before <= 5
