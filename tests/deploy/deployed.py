"""Processes as they are deployed, and a client outside of them."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from mio_site import serve
from tests.deploy.test_files import ROOT

POOL = 3


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


def pgbouncer_files(folder: Path, port: int, entries: list[str]) -> Path:
    """The shipped pgbouncer.ini with these entries of databases, and a port of its own."""
    at = connection.settings_dict
    text = (ROOT / "deploy" / "pgbouncer.ini").read_text()
    users = folder / "userlist.txt"
    users.write_text(f'"{at["USER"]}" "{at["PASSWORD"]}"\n')
    for pattern, replacement in (
        (r"^mio = .*", "\n".join(entries)),
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


def entry(name: str, at: Mapping[str, Any], more: str = "") -> str:
    """The line of pgbouncer.ini for a database, as the shipped one has it; ``more`` is said as it
    connects besides."""
    where = f"host={at['HOST']} port={at['PORT'] or 5432} dbname={at['NAME']}"
    return f"{name} = {where} connect_query='SET lock_timeout = 10000{more}'"


def missing_programs(*names: str) -> None:
    """Skips a test where these are not installed, but in CI."""
    missing = [name for name in names if not shutil.which(name)]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"apt-get install {' '.join(missing)}")


@dataclass(frozen=True)
class Outside:
    """A client that knows the address of a site alone."""

    port: int
    secret: str

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
