"""Mio as it is deployed: the entry points of the image and the compose file as processes, behind
a real PgBouncer in transaction mode and a real Caddy, with the files that are shipped."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts.models import ApiKey, EndUser
from memories.models import Memory
from mio_site import serve
from mio_site.postgres import server
from tests.deploy.test_files import ROOT, image_command, services
from tests.factories import make_app
from tests.mio_site.waiting import eventually
from tests.processes import database_url, end_other_sessions

POOL = 3
CALLERS = 12
SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND backend_type = 'client backend' AND pid <> %s "
    "AND backend_start > %s"  # not of tests before
)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@contextmanager
def running(command: list[str], log: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process, asked to end afterwards, with its group."""
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **env}, stdout=said, stderr=said,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            serve.end([serve.Child("", command, process=process)])


def in_venv(command: list[str]) -> list[str]:
    """As the image finds them on its PATH."""
    return [str(Path(sys.executable).parent / command[0]), *command[1:]]


def pgbouncer_files(folder: Path, port: int) -> Path:
    """The shipped pgbouncer.ini, at the test database and a port of its own."""
    at = connection.settings_dict
    text = (ROOT / "deploy" / "pgbouncer.ini").read_text()
    users = folder / "userlist.txt"
    users.write_text(f'"{at["USER"]}" "{at["PASSWORD"]}"\n')
    for pattern, replacement in (
        (
            r"^mio = host=db port=5432",
            f"{at['NAME']} = host={at['HOST']} port={at['PORT'] or 5432}",
        ),
        (r"^listen_addr = .*", "listen_addr = 127.0.0.1"),
        (r"^listen_port = .*", f"listen_port = {port}\nunix_socket_dir ="),
        (r"^auth_file = .*", f"auth_file = {users}"),
        (r"^default_pool_size = .*", f"default_pool_size = {POOL}"),
    ):
        text, changed = re.subn(pattern, lambda _, to=replacement: to, text, flags=re.MULTILINE)
        assert changed == 1, pattern
    file = folder / "pgbouncer.ini"
    file.write_text(text)
    return file


class Outside:
    """A client that knows the name of the site alone."""

    def __init__(self, port: int, secret: str, pooler: str, began: datetime) -> None:
        self.port, self.secret, self.pooler, self.began = port, secret, pooler, began

    def ask(self, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        http = HTTPConnection("127.0.0.1", self.port, timeout=60)
        told = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
        try:
            sent = None if body is None else json.dumps(body)
            http.request("POST" if body else "GET", path, sent, told | headers)
            reply = http.getresponse()
            return reply.status, json.loads(reply.read() or b"null")
        finally:
            http.close()


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    missing = [name for name in ("pgbouncer", "caddy") if not shutil.which(name)]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"apt-get install {' '.join(missing)}")
    pooler, web, site = free_port(), free_port(), free_port()
    at = connection.settings_dict
    secret = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
    env = {
        "DATABASE_URL": f"postgres://{secret}@127.0.0.1:{pooler}/{at['NAME']}",
        "UVICORN_HOST": "127.0.0.1",
        "UVICORN_PORT": str(web),
        "MIO_WORKERS": "1",
        "MIO_HOME": str(tmp_path / "home"),
        "MIO_TRUSTED_PROXIES": "127.0.0.1",
        "MIO_OPERATOR_PASSWORD": "only of this test",
        "MIO_SITE": f"http://127.0.0.1:{site}",
        "MIO_UPSTREAM": f"127.0.0.1:{web}",
        "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path),
    }  # fmt: skip
    ini = pgbouncer_files(tmp_path, pooler)
    with ExitStack() as stack:
        direct = {**env, "DATABASE_URL": database_url()}
        prepare = in_venv(services()["prepare"]["command"])
        subprocess.run(prepare, cwd=ROOT, env={**os.environ, **direct}, check=True)
        began = timezone.now()
        for name, command in {
            # It passes through folders to the embedded server's socket as that server does.
            "pgbouncer": [*server._as_server(), "pgbouncer", str(ini)],
            "web": in_venv(image_command()),
            "worker": in_venv(services()["worker"]["command"]),
            "caddy": ["caddy", "run", "--config", "deploy/Caddyfile", "--adapter", "caddyfile"],
        }.items():
            stack.enter_context(running(command, tmp_path / f"{name}.log", **env))
        client = Outside(site, ApiKey.issue(make_app())[1], env["DATABASE_URL"], began)
        assert eventually(lambda: serve.answers("127.0.0.1", site, "/readyz")), [
            (log.name, log.read_text()[-1500:]) for log in tmp_path.glob("*.log")
        ]
        yield client
    with connection.cursor() as cursor:
        end_other_sessions(cursor)


@pytest.mark.django_db(transaction=True)
def test_the_whole_of_mio_works_behind_a_pooler_and_a_proxy(outside: Outside) -> None:
    user = "/api/v1/users/ann/"
    said = [{"role": "user", "content": "My colleague Oliver moved to Madrid last year."}] * 10
    assert outside.ask(f"{user}messages/", {"messages": said})[0] == 202
    # Ten messages are due: the worker reads them though nobody asks for it.
    assert eventually(lambda: Memory.objects.filter(content__contains="Madrid").exists())
    assert outside.ask(f"{user}process/", {"wait": True})[0] == 200

    def context(_: int) -> tuple[int, str]:
        status, told = outside.ask(f"{user}context/", {"message": "How is Oliver?"})
        return status, told["contacts"][0]["name"]

    with ThreadPoolExecutor(CALLERS) as callers:
        assert set(callers.map(context, range(5 * CALLERS))) == {(200, "Oliver")}
    own = connection.connection.info.backend_pid
    with psycopg.connect(outside.pooler, autocommit=True) as pooled:
        assert pooled.execute("SHOW lock_timeout").fetchone() == ("10s",)
        assert 0 < pooled.execute(SESSIONS, [own, outside.began]).fetchone()[0] <= POOL
    assert EndUser.objects.get(external_id="ann").message_seq == 10

    # Counts of all apps are nobody's outside.
    assert outside.ask("/metrics")[0] == 404
    call_command("check_rls")
