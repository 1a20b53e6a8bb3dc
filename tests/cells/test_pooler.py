"""Real web and worker processes with cells on two servers, one of them a schema, all behind one real
PgBouncer in transaction mode with few connections."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.core.management.base import CommandError
from django.db import OperationalError, connections

from accounts import cells, scope
from accounts.models import ApiKey, Placement
from memories.models import Memory
from memories.portability import move_user
from mio_site import serve
from mio_site.postgres import server
from mio_site.postgres.base import DatabaseWrapper
from tests.commands import run, run_json
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
from tests.deploy.test_files import image_command, services
from tests.factories import make_app
from tests.mio_site.waiting import eventually

WHO = {"ann": "Oliver", "ben": "Priya", "eva": "Tomasz", "zoe": "Ingrid"}
PATH = "; SET search_path = cell_02, public"


def pooled_address(name: str, port: int, schema: str = "") -> str:
    at = connections["default"].settings_dict
    secret = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
    return f"postgres://{secret}@127.0.0.1:{port}/{name}" + (schema and f"?schema={schema}")


@pytest.fixture
def pooler(tmp_path: Path) -> Iterator[int]:
    """The port of a PgBouncer with an entry for what all share, one for each cell, and ``pathless``,
    which leaves out the schema of c2."""
    missing_programs("pgbouncer")
    port = free_port()
    at = {name: connections[name].settings_dict for name in cells.names()}
    # The second server has a password of its own.
    login = f" user={at['c2']['USER']} password={at['c2']['PASSWORD']}"
    entries = [
        entry("shared", at["default"]),
        entry("c1", at["c1"]),
        entry("c2", at["c2"], PATH) + login,
        entry("pathless", at["c2"]) + login,
    ]
    ini = pgbouncer_files(tmp_path, port, entries)
    command = [*server._as_server(), "pgbouncer", str(ini)]
    with running(command, tmp_path / "pgbouncer.log"):
        assert eventually(lambda: _reached(port, "c1") is not None), (
            tmp_path / "pgbouncer.log"
        ).read_text()
        yield port


def _reached(port: int, name: str, schema: str = "") -> DatabaseWrapper | None:
    """A connection to what PgBouncer knows by this name, None before it listens."""
    own = connections["c2" if name in ("c2", "pathless") else "c1"].settings_dict
    shared = connections["default"].settings_dict
    options = f"-c search_path={schema},public" if schema else ""
    at = {
        **own, "HOST": "127.0.0.1", "PORT": str(port), "NAME": name, "USER": shared["USER"],
        "PASSWORD": shared["PASSWORD"], "OPTIONS": {"options": options},
    }  # fmt: skip
    found = DatabaseWrapper(at, name)
    try:
        found.ensure_connection()
    except OperationalError as error:
        if "refused" in str(error):
            return None
        raise
    return found


@pytest.fixture
def site(pooler: int, tmp_path: Path) -> Iterator[Outside]:
    web = free_port()
    env = {
        "DATABASE_URL": pooled_address("shared", pooler),
        "MIO_CELLS": f"c1={pooled_address('c1', pooler)},c2={pooled_address('c2', pooler, 'cell_02')}",
        "UVICORN_HOST": "127.0.0.1",
        "UVICORN_PORT": str(web),
        "MIO_WORKERS": "1",
        "MIO_HOME": str(tmp_path / "home"),
        "SECRET_KEY": "only of this test",
    }
    with ExitStack() as stack:
        for name, command in (
            ("web", image_command()),
            ("worker", services()["worker"]["command"]),
        ):
            stack.enter_context(running(in_venv(command), tmp_path / f"{name}.log", **env))
        client = Outside(web, ApiKey.issue(make_app())[1])
        ready = "/readyz?parts=database,migrations,cells"
        assert eventually(lambda: serve.answers("127.0.0.1", web, ready)), [
            (log.name, log.read_text()[-1500:]) for log in tmp_path.glob("*.log")
        ]
        yield client


def told(site: Outside, user: str) -> tuple[int, Any]:
    """The status of a context, and who is in it."""
    status, found = site.ask(
        f"/api/v1/users/{user}/context/", {"message": "How are Oliver, Priya, Tomasz and Ingrid?"}
    )
    return status, [one["name"] for one in found.get("contacts", ())]


def memories_of(held: Placement) -> int:
    with cells.entered(held.cell), scope.user_scope(held.user_pk):
        return Memory.objects.of(held.user_pk).facts().count()


def sessions(name: str) -> int:
    """How many PgBouncer has with the database of a cell."""
    with scope.undeclared(), connections[name].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def test_users_of_two_cells_are_served_and_moved_behind_one_pooler(
    site: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(move_user, "READS_END", 0.05)

    def say(user: str) -> int:
        said = [{"role": "user", "content": f"My colleague {WHO[user]} moved to Madrid."}] * 10
        return site.ask(f"/api/v1/users/{user}/messages/", {"messages": said})[0]

    with ThreadPoolExecutor(12) as callers:
        assert {say(user) for user in WHO} == {202}  # one after the other, each to the roomiest
        placed = {held.external_id: held for held in Placement.objects.all()}
        assert Counter(held.cell for held in placed.values()) == {"c1": 2, "c2": 2}
        # Ten messages are due: the worker reads them though nobody asks for it.
        assert eventually(lambda: all(map(memories_of, placed.values())))
        for user in WHO:
            assert site.ask(f"/api/v1/users/{user}/process/", {"wait": True})[0] == 200
        asked = [*WHO] * 12
        found = list(callers.map(lambda user: told(site, user), asked))
        assert found == [(200, [WHO[user]]) for user in asked]

        moving, target = placed["ann"], "c2" if placed["ann"].cell == "c1" else "c1"
        stop, seen = threading.Event(), []

        def ask() -> None:
            while not stop.is_set():
                seen.append(told(site, "ann"))

        askers = [callers.submit(ask) for _ in range(4)]
        run("cells", "move-user", moving.app.name, "ann", target)
        # Whom the user knows, or that it is to be asked again; never nobody, nor somebody else's.
        assert eventually(lambda: len(seen) > 20)
        stop.set()
        for each in askers:
            each.result()
    assert {(status, *names) for status, names in seen} <= {(200, "Oliver"), (503,)}
    assert told(site, "ann") == (200, ["Oliver"])
    assert site.ask("/api/v1/users/ann/contacts/", {"name": "Wei"})[0] == 201
    with cells.entered(target), scope.user_scope(moving.user_pk):
        assert Memory.objects.of(moving.user_pk).facts().exists()
    for name in cells.names():
        assert 0 < sessions(name) <= POOL, name
    assert run_json("cells", "check")["ok"] is True


def test_a_schema_that_the_pooler_leaves_out_is_not_taken_for_another(pooler: int) -> None:
    with pytest.raises(OperationalError, match="not cell_02,public; a pooler has to set it"):
        _reached(pooler, "pathless", "cell_02")
    right = _reached(pooler, "c2", "cell_02")
    assert right is not None
    right.close()


def test_what_needs_a_session_of_its_own_is_refused_behind_a_pooler(pooler: int) -> None:
    through = _reached(pooler, "c1")
    assert through is not None
    refused = pytest.raises(CommandError, match="'c1' is reached through a pooler")
    with refused, scope.all_users_of_session(through):
        pass
    through.close()
