"""Dumps and loads one database, or a schema of one, by PostgreSQL's own programs."""

import os
import secrets
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, cast

from django.db import Error, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.client import DatabaseClient

from accounts import scope
from accounts.cells import SHARED
from accounts.row_security import unprotected
from accounts.sql_files import sql_pieces
from mio_site.postgres.server import program

_SQL = sql_pieces(__file__)

# Shows all rows, and lets a transaction wait as long as the others take.
_SESSION = "--client-min-messages=warning -c mio.scope=all -c idle_in_transaction_session_timeout=0"


class DumpError(Exception):
    """A program of PostgreSQL failed, or a file is no backup; the message says why."""


def dump(
    own: BaseDatabaseWrapper, to: IO[bytes], *, snapshot: str, schema: str, alone: bool
) -> None:
    """Writes what a snapshot contains, of this schema ``alone`` or of all. Raises DumpError."""
    options = ["--format=custom", "--enable-row-security", "--load-via-partition-root"]
    options.append(f"--snapshot={snapshot}")
    if alone:
        options.append(f'--schema="{schema}"')
    _run(*_command(own, "pg_dump", *options), to=to)


def count_rows(own: BaseDatabaseWrapper, schema: str) -> dict[str, int]:
    """Returns the number of rows of each table of a schema. Raises DumpError if a policy hides some."""
    if hidden := [table for table, *_ in unprotected(own)]:
        raise DumpError(
            f"Row-level security hides the rows of {', '.join(hidden)}: run `migrate`, which "
            "gives each table its policy."
        )
    with own.cursor() as cursor:
        cursor.execute(_SQL["counts"].format(schema="%s"), [schema])
        counts = [statement for (statement,) in cursor.fetchall()]
        return dict(own.connection.execute(count).fetchone() for count in counts)


@dataclass(frozen=True, slots=True)
class Load:
    """A loaded dump in an open transaction; a process that dies commits nothing."""

    psql: subprocess.Popen[bytes]
    errors: IO[bytes]

    def check(self) -> list[str]:
        """Raises DumpError if the transaction is lost or has failed."""
        return self._answers("SELECT;")

    def check_counts(self, schema: str, expected: Mapping[str, int]) -> None:
        """Raises DumpError that names the schema's tables with more or fewer rows than expected."""
        counts = (
            _SQL["counts"].replace("%%", "%").format(schema=_literal(schema)).replace("\n", " ")
        )
        lines = self._answers(f"SET row_security = on;\n\\o\n{counts}\\gexec\n\\o /dev/null")
        actual = {table: int(rows) for table, rows in (line.rsplit("|", 1) for line in lines)}
        wrong = [
            f"{table} ({actual.get(table, 0)} instead of {expected.get(table, 0)})"
            for table in sorted(expected.keys() | actual.keys())
            if actual.get(table, 0) != expected.get(table, 0)
        ]
        if wrong:
            raise DumpError(f"Rows are missing, or too many: {', '.join(wrong)}.")

    def commit(self) -> None:
        """Commits what was loaded. Raises DumpError if that may have failed."""
        self.psql.communicate(b"COMMIT;\n")
        if self.psql.returncode:
            raise _failure("psql", self.errors)

    def _answers(self, script: str) -> list[str]:
        """Returns the lines that psql prints for a script. Raises DumpError if psql has ended."""
        with suppress(BrokenPipeError):
            self.script.write(f"{script}\n\\echo here\n".encode())
            self.script.flush()
        lines: list[str] = []
        for line in cast(IO[bytes], self.psql.stdout):
            if line == b"here\n":
                return lines
            lines.append(line.decode().rstrip("\n"))
        self.psql.wait()
        raise _failure("psql", self.errors)

    @property
    def script(self) -> IO[bytes]:
        return cast(IO[bytes], self.psql.stdin)


@contextmanager
def loaded(own: BaseDatabaseWrapper, dumped: IO[bytes], schema: str) -> Iterator[Load]:
    """Loads what ``dump`` wrote in place of what is there; the block may commit. Raises DumpError."""
    options = ("--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--output=/dev/null", "--file=-",
               "--no-align", "--tuples-only")  # fmt: skip
    command, environment = _command(own, "psql", *options)
    with (
        tempfile.TemporaryFile() as errors,
        _started(command, environment, subprocess.PIPE, errors) as psql,
    ):
        load = Load(psql, errors)
        try:
            with suppress(BrokenPipeError):  # the check reports what ended it
                literal = _literal(own.ops.quote_name(schema))
                load.script.write(f"BEGIN;\n{_SQL['empty'].format(schema=literal)}".encode())
                load.script.flush()
                restored = ("--no-owner", "--no-privileges", f"--schema={schema}", "--file=-")
                _run([program("pg_restore"), *restored], {}, to=load.script, stdin=dumped)
            load.check()
            yield load
        finally:
            psql.kill()
            with suppress(BrokenPipeError):
                load.script.close()


def _literal(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


@contextmanager
def scratch_database(cell: str = SHARED) -> Iterator[None]:
    """Puts an empty database in place of a cell's within the block. Raises DumpError."""
    own = connections[cell]
    real, name = own.settings_dict["NAME"], f"mio_scratch_{secrets.token_hex(6)}"
    try:
        with own.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
    except Error as error:
        raise DumpError(f"No scratch database can be made: {error}".strip()) from error
    own.close()
    own.settings_dict["NAME"] = name
    try:
        yield
    finally:
        own.close()
        own.settings_dict["NAME"] = real
        drop_database(own, name)


def drop_database(own: BaseDatabaseWrapper, name: str) -> None:
    """Drops a database and our sessions there. (FORCE needs a superuser while autovacuum works.)"""
    with scope.all_users_of_session(own), own.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = %s AND usename = current_user",
            [name],
        )
        cursor.execute(f"DROP DATABASE {own.ops.quote_name(name)}")


def _command(
    own: BaseDatabaseWrapper, name: str, *options: str
) -> tuple[list[str], dict[str, str]]:
    """Returns the arguments and the environment of a program that works in a database."""
    config: dict[str, Any] = dict(own.settings_dict)
    for key in ("host", "port"):  # of a socket's address, which Django's own client leaves out
        config[key.upper()] = str(config["OPTIONS"].get(key, config[key.upper()]))
    arguments, given_secrets = DatabaseClient.settings_to_cmd_args_env(config, list(options))
    return [program(name), *arguments[1:]], {**(given_secrets or {}), "PGOPTIONS": _SESSION}


def _started(
    command: list[str], environment: Mapping[str, str], stdin: IO[bytes] | int, errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Starts a program whose output is read from a pipe; its errors go to a file."""
    return subprocess.Popen(  # noqa: S603 - our own command, no shell
        command,
        env={**os.environ, **environment},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=errors,
    )


def _run(
    command: list[str],
    environment: Mapping[str, str],
    *,
    to: IO[bytes],
    stdin: IO[bytes] | None = None,
) -> None:
    """Runs a program and copies its output into ``to``. Raises DumpError if it fails."""
    with (
        tempfile.TemporaryFile() as errors,
        _started(command, environment, stdin or subprocess.DEVNULL, errors) as process,
    ):
        try:
            copyfileobj(cast(IO[bytes], process.stdout), to)
        except BaseException:
            process.kill()
            raise
        if process.wait():
            raise _failure(Path(command[0]).name, errors)


def _failure(name: str, errors: IO[bytes]) -> DumpError:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return DumpError((lines or [f"{name} failed."])[0])
