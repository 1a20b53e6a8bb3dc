"""Everything in the database as one file, by PostgreSQL's own programs, and back.

The file is a ZIP, stored only: ``manifest.json`` says what it holds, ``database.dump`` is pg_dump's,
``secret_key`` is the one that was generated into MIO_HOME.
"""

import json
import os
import secrets
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any

from django.conf import settings
from django.db import Error
from django.db.backends.postgresql.client import DatabaseClient
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from accounts.cells import atomic, connection
from accounts.scope import all_users
from mio_site.postgres.server import program

MANIFEST, DUMP, KEY = "manifest.json", "database.dump", "secret_key"
FORMAT = 1


class DumpError(Exception):
    """What a program of PostgreSQL said when it failed, or why a file is no backup."""


def dump(file: Path) -> dict[str, Any]:
    """Writes ``file``, which only this user may read, and returns its manifest. It has its name
    only when it is whole. Raises DumpError."""
    part = file.with_name(f".{file.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as raw:
            with zipfile.ZipFile(raw, "w") as archive:
                manifest = _write(archive)
            raw.flush()
            os.fsync(raw.fileno())
        os.link(part, file)
    finally:
        part.unlink(missing_ok=True)
    return manifest


def _write(archive: zipfile.ZipFile) -> dict[str, Any]:
    """The rows that are counted are those that are written: both are of one snapshot."""
    with atomic(), all_users(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT pg_export_snapshot(), current_setting('server_version')")
        snapshot, version = cursor.fetchone()
        with archive.open(DUMP, "w", force_zip64=True) as out:
            _run(
                "pg_dump",
                "--format=custom",
                "--enable-row-security",
                f"--snapshot={snapshot}",
                to=out,
            )
        manifest = {
            "format": FORMAT,
            "made_at": timezone.now().isoformat(timespec="seconds"),
            "postgres": version,
            "migrations": sorted(map(list, MigrationRecorder(connection).applied_migrations())),
            "rows": count_rows(),
        }
    archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
    generated = settings.MIO_HOME / KEY
    if generated.exists() and generated.read_text().strip() == settings.SECRET_KEY:
        archive.writestr(KEY, settings.SECRET_KEY)
    return manifest


def count_rows() -> dict[str, int]:
    """How many rows each table has."""
    with all_users(), connection.cursor() as cursor:
        tables = sorted(connection.introspection.table_names(cursor))
        counts = {}
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608
            counts[table] = cursor.fetchone()[0]
    return counts


def read_manifest(file: Path) -> dict[str, Any]:
    """What the backup holds. Raises DumpError for a file that is none, is not whole, or was made
    by a newer Mio than this one."""
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = json.loads(archive.read(MANIFEST))
            broken = archive.testzip()
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise DumpError(f"{file} is no whole backup ({error}).") from error
    if broken:
        raise DumpError(f"{file} is no whole backup: {broken} was changed.")
    known = MigrationLoader(None).disk_migrations
    apps = {app for app, _ in known}
    unknown = [f"{a}.{n}" for a, n in manifest["migrations"] if a in apps and (a, n) not in known]
    unknown = [name for name in unknown if not _was_squashed(name, known)]
    if manifest["format"] > FORMAT or unknown:
        newer = ", ".join(unknown[:3]) or f"format {manifest['format']}"
        raise DumpError(f"{file} was made by a newer Mio ({newer}): upgrade this one first.")
    return manifest


def _was_squashed(name: str, known: dict[tuple[str, str], Any]) -> bool:
    return any(
        name == f"{app}.{old}" for migration in known.values() for app, old in migration.replaces
    )


def restore(file: Path) -> None:
    """Puts what ``dump`` wrote in the place of what is there, all of it or nothing.
    Raises DumpError."""
    with tempfile.TemporaryFile() as dumped, tempfile.TemporaryFile() as script:
        with zipfile.ZipFile(file) as archive, archive.open(DUMP) as member:
            copyfileobj(member, dumped)
        dumped.seek(0)
        _run(
            "pg_restore",
            "--no-owner",
            "--no-privileges",
            "--file=-",
            given=dumped,
            to=script,
            connected=False,
        )
        script.seek(0)
        empty = "--command=DROP SCHEMA public CASCADE; CREATE SCHEMA public"
        options = ("--quiet", "--no-psqlrc", "--single-transaction", "--set=ON_ERROR_STOP=1")
        _run("psql", *options, empty, "--file=-", given=script)
    connection.close()  # what it knew of types is of those that are gone


def restore_key(file: Path) -> bool:
    """Puts the secret key of the backup into MIO_HOME, and the one that was there beside it.
    Whether another one is in use now: processes that run have the old one."""
    with zipfile.ZipFile(file) as archive:
        if KEY not in archive.namelist():
            return False
        key = archive.read(KEY).decode()
    if key == settings.SECRET_KEY:
        return False
    place: Path = settings.MIO_HOME / KEY
    if place.exists():
        place.replace(place.with_name(f"{KEY}.before"))
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(f"{key}\n")
    return True


@contextmanager
def scratch_database() -> Iterator[None]:
    """An empty database beside the configured one, in its place until the end of the block.
    Raises DumpError where the role may make none."""
    real, name = connection.settings_dict["NAME"], f"mio_scratch_{secrets.token_hex(6)}"
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
    except Error as error:
        raise DumpError(f"No scratch database can be made: {error}".strip()) from error
    _turn_to(name)
    try:
        yield
    finally:
        _turn_to(real)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _turn_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def _run(
    name: str,
    *options: str,
    given: IO[bytes] | None = None,
    to: IO[bytes] | None = None,
    connected: bool = True,
) -> None:
    at: dict[str, Any] = connection.settings_dict
    command, given_secrets = DatabaseClient.settings_to_cmd_args_env(at, list(options))
    arguments = command[1:] if connected else options
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - our own command, no shell
            [program(name), *arguments],
            env={
                **os.environ,
                **(given_secrets or {}),
                "PGOPTIONS": "--client-min-messages=warning -c mio.scope=all",
            },
            stdin=given or subprocess.DEVNULL,
            stdout=subprocess.PIPE if to else subprocess.DEVNULL,
            stderr=said,
        )
        with process:
            if to and process.stdout:
                try:
                    copyfileobj(process.stdout, to)
                except BaseException:
                    process.kill()
                    raise
        if process.returncode:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise DumpError((lines or [f"{name} failed."])[0])
