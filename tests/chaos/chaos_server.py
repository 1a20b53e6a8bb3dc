"""`make run` under load while its database server is killed, its disk is full, or it may not write."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mio_site import serve
from mio_site.postgres import server
from tests.deploy.test_files import ROOT
from tests.mio_site.waiting import eventually

CLIENTS, KILLS = 4, 8
DISK, LEFT = "500m", 4 << 20


class Site:
    """`manage.py serve` in a home of its own, and a key."""

    def __init__(self, home: Path, workers: int = 1) -> None:
        self.home = home
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        kept = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
        self.env = {**kept, "MIO_HOME": str(home), "MIO_WORKERS": str(workers)}
        self.log = (home.parent / "serve.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(self.port)], cwd=ROOT,
            env=self.env, stdout=self.log, stderr=self.log, start_new_session=True,
        )  # fmt: skip
        assert eventually(self.ready, 120)
        self.secret = self.manage("create_app", "chaos").split()[-1]

    def ready(self) -> bool:
        return serve.answers("127.0.0.1", self.port, "/readyz")

    def manage(self, *arguments: str) -> str:
        done = subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=self.env,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    def ask(self, path: str, body: object, timeout: float = 30) -> int:
        """The status; 0 without an answer."""
        http = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
        try:
            http.request("POST", f"/api/v1/{path}", json.dumps(body), headers)
            return http.getresponse().status
        except (OSError, HTTPException):
            return 0
        finally:
            http.close()

    def sql(self, statement: str) -> list[Any]:
        at = server.connection(self.home)
        with psycopg.connect(
            dbname=at["NAME"], user=at["USER"], password=at["PASSWORD"], host=at["HOST"],
            port=at["PORT"], autocommit=True, options="-c mio.scope=all -c default_transaction_read_only=off",
        ) as connected:  # fmt: skip
            cursor = connected.execute(statement)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        self.log.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    place = tmp_path_factory.mktemp("chaos")
    disk = place / "disk"
    disk.mkdir()
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "tmpfs", str(disk)],
        capture_output=True,
    ).returncode  # fmt: skip
    with ExitStack() as stack:
        if mounted:
            stack.callback(subprocess.run, ["umount", "--lazy", str(disk)], check=True)
        one = Site(disk / "home")
        stack.callback(one.end)
        yield one


class Load:
    """Clients that send until they are told to stop, and send again what was not taken."""

    def __init__(self, site: Site, user: str) -> None:
        self.site, self.user = site, user
        self.taken: set[str] = set()
        self.answers: dict[int, int] = {}
        self.longest = 0.0
        self._stop = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def running(self) -> Iterator["Load"]:
        threads = [threading.Thread(target=self._send, args=(n,)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def _send(self, client: int) -> None:
        number, since = 0, time.monotonic()
        while not self._stop.is_set():
            ids = [f"{client}-{number}-{part}" for part in (0, 1)]
            said = [{"id": i, "role": "user", "content": f"I like tea number {i}."} for i in ids]
            status = self.site.ask(f"users/{self.user}/messages/", {"messages": said})
            with self._lock:
                self.answers[status] = self.answers.get(status, 0) + 1
                self.longest = max(self.longest, time.monotonic() - since)
            if status == 202:
                self.taken |= set(ids)
                number, since = number + 1, time.monotonic()
            self._stop.wait(0.1 if status == 202 else 0.2)

    def nothing_is_lost(self) -> None:
        """What was answered with 202 is there, once; the doctor is content when it was read."""
        assert eventually(self.site.ready, 120)
        assert eventually(
            lambda: self.site.ask(f"users/{self.user}/context/", {"message": "tea"}) == 200, 60
        )
        stored = [i for (i,) in self.site.sql(
            f"SELECT client_id FROM memories_message m JOIN accounts_enduser u ON u.id = m.end_user_id "
            f"WHERE u.external_id = '{self.user}'")]  # fmt: skip
        assert len(stored) == len(set(stored))
        assert self.taken <= set(stored)
        assert eventually(
            lambda: self.site.ask(f"users/{self.user}/process/", {"wait": True}, 120) == 200, 240
        )
        assert eventually(self._well, 120), self.site.manage("doctor")

    def _well(self) -> bool:
        done = subprocess.run([sys.executable, "manage.py", "doctor"], cwd=ROOT, env=self.site.env,
                              capture_output=True)  # fmt: skip
        return done.returncode == 0

    def told(self) -> dict[str, Any]:
        return {"taken": len(self.taken), "lost": 0, "answers": dict(sorted(self.answers.items())),
                "longest_refused_s": round(self.longest, 1)}  # fmt: skip


def test_the_database_server_is_killed_under_load(site: Site, figures: dict[str, Any]) -> None:
    pid_file = site.home / "postgres/data/postmaster.pid"
    with Load(site, "killed").running() as load:
        for _ in range(KILLS):
            before = len(load.taken)
            assert eventually(lambda seen=before: len(load.taken) > seen + 40, 120)
            os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)
    load.nothing_is_lost()
    figures.update(kills=KILLS, **load.told())


def test_the_database_may_only_be_read(site: Site, figures: dict[str, Any]) -> None:
    others = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'mio' "
        "AND usename = 'mio' AND pid <> pg_backend_pid()"
    )
    load = Load(site, "readonly")
    with load.running():
        assert eventually(lambda: len(load.taken) > 40, 60)
        site.sql("ALTER DATABASE mio SET default_transaction_read_only = on")
        site.sql(others)
        assert eventually(lambda: load.answers.get(503, 0) > 5, 60)
        assert eventually(
            lambda: site.ask("users/readonly/context/", {"message": "tea"}) == 200, 60
        )
        site.sql("ALTER DATABASE mio RESET default_transaction_read_only")
        site.sql(others)
        taken = len(load.taken)
        assert eventually(lambda: len(load.taken) > taken + 20, 60)
    assert 500 not in load.answers
    load.nothing_is_lost()
    figures.update(context="answers", **load.told())


def test_the_disk_is_full(site: Site, figures: dict[str, Any]) -> None:
    disk = site.home.parent
    if not os.path.ismount(disk):
        pytest.skip("a small disk needs the right to mount one")
    ballast = disk / "ballast"
    load = Load(site, "full")
    with load.running():
        assert eventually(lambda: len(load.taken) > 40, 60)
        with ballast.open("wb") as file:
            while (free := os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize) > LEFT:
                file.write(bytes(min(free - LEFT, 1 << 20) or 1))
                file.flush()
        full = eventually(lambda: sum(n for s, n in load.answers.items() if s != 202) > 30, 120)
        ballast.unlink()
        taken = len(load.taken)
        assert eventually(lambda: len(load.taken) > taken + 20, 120)
    assert full, load.answers
    load.nothing_is_lost()
    figures.update(**load.told())
