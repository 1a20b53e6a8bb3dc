"""Back to the moment before a mistake, by the steps of docs/recovery.md and the programs of the wheel."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest

from mio_site.postgres import server
from tests.deploy.test_files import ROOT
from tests.mio_site.waiting import eventually

CONFIGURATION = """
listen_addresses = ''
unix_socket_directories = '{folder}'
dynamic_shared_memory_type = mmap
jit = off
summarize_wal = on
"""
RECOVERY = """
restore_command = 'cp {folder}/wal/%f %p'
recovery_target_time = '{moment}'
recovery_target_action = promote
"""


class Server:
    """A PostgreSQL of one's own that others may copy from, in a folder of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home, self.data = folder, home, folder / "data"
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--locale=C.UTF-8")
        self.configure(self.data, CONFIGURATION.format(folder=folder))

    def run(self, name: str, *options: object) -> None:
        self._command(name, *options).wait_for()

    def begin(self, name: str, *options: object) -> "Program":
        return self._command(name, *options)

    def _command(self, name: str, *options: object) -> "Program":
        env = {**os.environ, "PGHOST": str(self.folder), "PGUSER": "postgres", "LC_ALL": "C.UTF-8"}
        return Program([*server._as_server(), server.program(name), *map(str, options)], env)

    def configure(self, data: Path, lines: str) -> None:
        with (data / "postgresql.conf").open("a") as file:
            file.write(lines)

    def start(self, data: Path) -> None:
        log = self.folder / "log"
        try:
            self.run("pg_ctl", "-D", data, "-l", log, "-w", "-s", "start")
        except AssertionError:
            raise AssertionError(log.read_text()[-2000:]) from None

    def sql(self, statement: str, database: str = "mio") -> Any:
        with psycopg.connect(
            dbname=database, user="postgres", host=str(self.folder), autocommit=True
        ) as connected:
            cursor = connected.execute(statement)
            return next(iter(cursor.fetchone() or ())) if cursor.description else None

    def manage(self, *arguments: str) -> str:
        url = f"postgres://postgres@/mio?{urlencode({'host': self.folder})}"
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, "DATABASE_URL": url, "MIO_HOME": str(self.home)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout


class Program:
    """One of PostgreSQL's that runs."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, cwd="/", env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def wait_for(self) -> None:
        _, said = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, said

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    # Not in the folder of tests, whose name is too long for a socket.
    folder = Path(tempfile.mkdtemp(prefix="mio-recovery-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        server._give_to_server(folder)
        one = Server(folder, tmp_path / "home")
        for data in (one.data, folder / "restored"):
            stack.callback(_stop, data)
        one.start(one.data)
        yield one


def _stop(data: Path) -> None:
    running = data / "postmaster.pid"
    with suppress(FileNotFoundError, ProcessLookupError):  # none was left, or it was killed
        pid = int(running.read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)
        assert eventually(lambda: _has_ended(pid), 30)


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def say(own: Server, file: Path, first: int) -> None:
    """Ten messages of the user that are read to the end."""
    lines = [
        {"id": f"m{n}", "role": "user", "content": f"My friend Nora has {n} chickens in Oslo."}
        for n in range(first, first + 10)
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    own.manage("ingest", "--user", "ann", str(file), "--wait")


def test_a_server_is_brought_back_to_the_moment_before_a_mistake(
    own_server: Server, tmp_path: Path, figures: dict[str, Any]
) -> None:
    own, folder, said = own_server, own_server.folder, tmp_path / "said.jsonl"
    own.sql("CREATE DATABASE mio", "postgres")
    own.manage("prepare")
    (folder / "wal").mkdir()
    server._give_to_server(folder / "wal")
    receive = ("pg_receivewal", "-D", folder / "wal", "--slot=mio_archive")
    own.run(*receive, "--create-slot")
    archive = own.begin(*receive, "--synchronous")

    say(own, said, 0)
    own.run("pg_basebackup", "-D", folder / "full", "-c", "fast", "-X", "none")
    own.run("pg_verifybackup", "-n", folder / "full")
    say(own, said, 10)
    changed = f"--incremental={folder}/full/backup_manifest"
    own.run("pg_basebackup", "-D", folder / "monday", "-c", "fast", "-X", "none", changed)
    say(own, said, 20)
    moment: datetime = own.sql("SELECT clock_timestamp()")
    own.manage("forget_user", "--user", "ann", "--yes")
    assert own.sql("SELECT count(*) FROM memories_message") == 0

    killed = int((own.data / "postmaster.pid").read_text().split()[0])
    os.kill(killed, signal.SIGKILL)
    archive.end()
    assert eventually(lambda: _has_ended(killed), 30)
    for last in (folder / "wal").glob("*.partial"):
        last.rename(last.with_suffix(""))
    own.run("pg_combinebackup", folder / "full", folder / "monday", "-o", folder / "restored")
    own.configure(folder / "restored", RECOVERY.format(folder=folder, moment=moment.isoformat()))
    (folder / "restored" / "recovery.signal").touch()
    own.start(folder / "restored")
    assert eventually(lambda: own.sql("SELECT pg_is_in_recovery()") is False, 60)

    assert own.sql("SELECT count(DISTINCT client_id) FROM memories_message") == 30
    own.manage("doctor")
    told = own.manage("context", "--user", "ann", "How is Nora?", "--json")
    assert "Nora" in json.loads(told.splitlines()[-1])["system_prompt"]
    figures.update(messages=30, lost=0, after_the_mistake=0)
