"""A Mio server on loopback, and a key for it."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from mio_client import Mio

from accounts.models import ApiKey, App
from mio_site import serve
from tests.deploy.deployed import running
from tests.factories import make_app
from tests.mio_site.waiting import eventually
from tests.processes import database_url, end_other_sessions

BUSY = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
    "AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle'"
)


@pytest.fixture(scope="session")
def address(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A server at the test database, for all tests of a process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "uvicorn", "mio_site.asgi:application", "--lifespan", "off",
        "--port", str(port), "--log-level", "warning",
    ]  # fmt: skip
    env = {"DATABASE_URL": database_url(), "MIO_LLM": "offline"}
    log: Path = tmp_path_factory.mktemp("server") / "log"
    with running(command, log, **env):
        assert eventually(lambda: serve.answers("127.0.0.1", port, "/healthz")), log.read_text()
        yield f"http://127.0.0.1:{port}"
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        end_other_sessions(cursor)


@pytest.fixture
def app(transactional_db: None) -> Iterator[App]:
    yield make_app()
    # What the server still does after its answer would be in the way of emptying the tables.
    assert eventually(_server_rests)


def _server_rests() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(BUSY)
        return cursor.fetchone() is None


@pytest.fixture
def key(app: App) -> str:
    return ApiKey.issue(app)[1]


@pytest.fixture
def mio(address: str, key: str) -> Iterator[Mio]:
    with Mio(address, key) as client:
        yield client
