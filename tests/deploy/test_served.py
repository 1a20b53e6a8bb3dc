"""Mio as it is deployed: the entry points of the image and the compose file as processes, behind
a real PgBouncer in transaction mode and a real Caddy, with the files that are shipped."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
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
from tests.deploy.deployed import (
    POOL,
    Outside,
    entry,
    free_port,
    in_venv,
    missing_programs,
    pgbouncer_files,
    running,
)
from tests.deploy.test_files import ROOT, image_command, services
from tests.factories import make_app
from tests.mio_site.waiting import eventually
from tests.processes import database_url, end_other_sessions

CALLERS = 12
SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND backend_type = 'client backend' AND pid <> %s "
    "AND backend_start > %s"  # not of tests before
)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[tuple[Outside, str, datetime]]:
    """A client, the address of the pooler, and when sessions of it may have begun."""
    missing_programs("pgbouncer", "caddy")
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
    ini = pgbouncer_files(tmp_path, pooler, [entry(at["NAME"], at)])
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
        client = Outside(site, ApiKey.issue(make_app())[1])
        assert eventually(lambda: serve.answers("127.0.0.1", site, "/readyz")), [
            (log.name, log.read_text()[-1500:]) for log in tmp_path.glob("*.log")
        ]
        yield client, env["DATABASE_URL"], began
    with connection.cursor() as cursor:
        end_other_sessions(cursor)


@pytest.mark.django_db(transaction=True)
def test_the_whole_of_mio_works_behind_a_pooler_and_a_proxy(
    outside: tuple[Outside, str, datetime],
) -> None:
    client, pooler, began = outside
    user = "/api/v1/users/ann/"
    said = [{"role": "user", "content": "My colleague Oliver moved to Madrid last year."}] * 10
    assert client.ask(f"{user}messages/", {"messages": said})[0] == 202
    # Ten messages are due: the worker reads them though nobody asks for it.
    assert eventually(lambda: Memory.objects.filter(content__contains="Madrid").exists())
    assert client.ask(f"{user}process/", {"wait": True})[0] == 200

    def context(_: int) -> tuple[int, str]:
        status, told = client.ask(f"{user}context/", {"message": "How is Oliver?"})
        return status, told["contacts"][0]["name"]

    with ThreadPoolExecutor(CALLERS) as callers:
        assert set(callers.map(context, range(5 * CALLERS))) == {(200, "Oliver")}
    own = connection.connection.info.backend_pid
    with psycopg.connect(pooler, autocommit=True) as pooled:
        assert pooled.execute("SHOW lock_timeout").fetchone() == ("10s",)
        assert 0 < pooled.execute(SESSIONS, [own, began]).fetchone()[0] <= POOL
    assert EndUser.objects.get(external_id="ann").message_seq == 10

    # Counts of all apps are nobody's outside.
    assert client.ask("/metrics")[0] == 404
    call_command("doctor")
