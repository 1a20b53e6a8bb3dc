"""Everything in the database as one file, by PostgreSQL's own programs, and back."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from mio_site.postgres.server import program


class DumpError(Exception):
    """What a program of PostgreSQL said when it failed."""


def dump(file: Path) -> None:
    """Writes ``file``, which only this user may read. Raises DumpError."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600))
    _run("pg_dump", "--format=custom", "--enable-row-security", f"--file={file}")


def restore(file: Path) -> None:
    """Puts what ``dump`` wrote in the place of what is there, all of it or nothing.
    Raises DumpError."""
    with tempfile.TemporaryFile() as script:
        _run(
            "pg_restore",
            "--no-owner",
            "--no-privileges",
            "--file=-",
            str(file),
            to=script,
            connected=False,
        )
        script.seek(0)
        empty = "--command=DROP SCHEMA public CASCADE; CREATE SCHEMA public"
        options = ("--quiet", "--no-psqlrc", "--single-transaction", "--set=ON_ERROR_STOP=1")
        _run("psql", *options, empty, "--file=-", given=script)
    connection.close()  # what it knew of types is of those that are gone


def _run(
    name: str,
    *options: str,
    given: IO[bytes] | None = None,
    to: IO[bytes] | None = None,
    connected: bool = True,
) -> None:
    settings: dict[str, Any] = connection.settings_dict
    command, secrets = DatabaseClient.settings_to_cmd_args_env(settings, list(options))
    arguments = command[1:] if connected else options
    done = subprocess.run(  # noqa: S603 - our own command, no shell
        [program(name), *arguments],
        env={
            **os.environ,
            **(secrets or {}),
            "PGOPTIONS": "--client-min-messages=warning -c mio.scope=all",
        },
        stdin=given or subprocess.DEVNULL,
        stdout=to or subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DumpError((done.stderr.strip().splitlines() or [f"{name} failed."])[0])
