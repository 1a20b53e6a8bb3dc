"""The file of a backup: a ZIP, stored only, with a manifest that says what it holds.

``database.dump`` is pg_dump's of the shared database (of its schema, where there are cells),
``cells/NAME.dump`` that of a cell, ``secret_key`` the one that was generated into MIO_HOME. Dumps are of
snapshots taken while no placement changes: whatever is committed in the cells then, all of each
user is in the cell that counts. What else a snapshot holds of somebody ``cells check`` finds.
"""

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from django.conf import settings
from django.db import Error, OperationalError, connections
from django.db import transaction as django_transaction  # noqa: TID251 of several cells at once
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from accounts import cells, row_security, scope
from mio_site import cell_schema
from mio_site.postgres import dump
from mio_site.postgres.dump import DumpError

MANIFEST, DUMP, KEY = "manifest.json", "database.dump", "secret_key"
# Of a file with cells; one without is of the first form, which every Mio reads.
FORMAT = 2

# Seconds: who places an end user waits behind this lock.
LOCK_TIMEOUT = 5.0
# Should a cell fall silent just while placements are held, the server gives them back by itself.
HELD_AT_MOST = 10.0

_BEGIN = """
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SET LOCAL idle_in_transaction_session_timeout = 0
"""
_EXPORT = """
SELECT pg_export_snapshot(), current_setting('server_version'),
    coalesce(sum(pg_total_relation_size(oid)), 0)::bigint
FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""
_PLACED_ELSEWHERE = """
SELECT DISTINCT cell FROM (
    SELECT cell FROM accounts_placement UNION SELECT moving_to FROM accounts_placement
) named WHERE cell <> '' AND cell <> ALL(%s) ORDER BY cell
"""


class DumpedDatabase(BaseModel):
    """One database in the file, with the numbers of rows in the snapshot that was dumped."""

    model_config = ConfigDict(frozen=True)

    name: str = cells.SHARED
    number: int = 0
    schema_name: str = Field("public", alias="schema")
    postgres: str
    migrations: list[tuple[str, str]]
    rows: dict[str, int]

    @property
    def member(self) -> str:
        return DUMP if self.name == cells.SHARED else f"cells/{self.name}.dump"


class Manifest(DumpedDatabase):
    """The shared database and, beside it, the cells."""

    format: int
    made_at: str
    cells: tuple[DumpedDatabase, ...] = ()

    @property
    def databases(self) -> tuple[DumpedDatabase, ...]:
        """All that the file holds, the shared database last."""
        return (*self.cells, self)

    @property
    def row_count(self) -> int:
        return sum(sum(database.rows.values()) for database in self.databases)


def write(file: Path) -> Manifest:
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
    except Error as error:
        raise DumpError(str(error).strip()) from error
    finally:
        part.unlink(missing_ok=True)
    return manifest


def _write(archive: zipfile.ZipFile) -> Manifest:
    names = [cells.SHARED, *cell_schema.added()]
    check_reachable(names)
    databases = {}
    with _snapshots(names) as all_taken:
        _check_nobody_is_elsewhere(names)
        numbers = _numbers() if len(names) > 1 else {}
        for snapshot in all_taken:
            own, schema = connections[snapshot.cell], cell_schema.schema_of(snapshot.cell)
            database = DumpedDatabase(
                name=snapshot.cell,
                number=numbers.get(snapshot.cell, 0),
                schema=schema,
                postgres=snapshot.server_version,
                migrations=sorted(MigrationRecorder(own).applied_migrations()),
                rows=dump.count_rows(own, schema),
            )
            with archive.open(database.member, "w", force_zip64=True) as out:
                dump.dump(own, out, snapshot=snapshot.exported, schema=schema, alone=len(names) > 1)
            # What it held back of vacuum is free again, however long the others take.
            snapshot.end()
            databases[snapshot.cell] = database
    manifest = _manifest(databases.pop(cells.SHARED), [databases[name] for name in names[1:]])
    archive.writestr(MANIFEST, manifest.model_dump_json(indent=1, by_alias=True))
    generated = settings.MIO_HOME / KEY
    if generated.exists() and generated.read_text().strip() == settings.SECRET_KEY:
        archive.writestr(KEY, settings.SECRET_KEY)
    return manifest


def _manifest(shared: DumpedDatabase, added: list[DumpedDatabase]) -> Manifest:
    return Manifest(
        **shared.model_dump(by_alias=True),
        format=FORMAT if added else 1,
        made_at=timezone.now().isoformat(timespec="seconds"),
        cells=added,
    )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that other sessions of the cell's server can use, until ``end`` is called."""

    cell: str
    exported: str
    server_version: str
    size: int
    end: Callable[[], None]


@contextmanager
def _snapshots(names: Sequence[str]) -> Iterator[list[Snapshot]]:
    """The snapshots of these cells, SHARED among them, the smallest cell first; what runs in it sees
    all rows of each, as they are there. Raises DumpError where placements never stand still."""
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(scope.all_users_of_session(connections[name]))
        transactions = {name: stack.enter_context(ExitStack()) for name in names}
        for name, transaction in transactions.items():
            transaction.enter_context(django_transaction.atomic(name))
            with connections[name].cursor() as cursor:
                cursor.execute(_BEGIN)
        with _placements_at_rest() if len(names) > 1 else ExitStack():
            for name in names:
                with connections[name].cursor() as cursor:
                    cursor.execute("SELECT 1")  # the snapshot is of the first query
        snapshots = [Snapshot(name, *_exported(name), transactions[name].close) for name in names]
        yield sorted(snapshots, key=lambda snapshot: snapshot.size)


@contextmanager
def _placements_at_rest() -> Iterator[None]:
    """Holds all placements still for the block, which takes a moment. The lock goes with the savepoint,
    and the transaction of SHARED keeps its snapshot. Raises DumpError where the lock is not to be had."""
    with connections[cells.SHARED].cursor() as cursor:
        cursor.execute("SAVEPOINT at_rest")
        try:
            cursor.execute(
                f"SET LOCAL lock_timeout = '{int(LOCK_TIMEOUT * 1000)}ms';"
                f"SET LOCAL idle_in_transaction_session_timeout = '{int(HELD_AT_MOST * 1000)}ms';"
                "LOCK TABLE accounts_placement IN SHARE MODE"
            )
        except OperationalError as error:
            raise DumpError(
                "Somebody is writing in which cell end users are (one large import, it may be): make "
                "the backup when that is done."
            ) from error
        yield
        cursor.execute("ROLLBACK TO SAVEPOINT at_rest; RELEASE SAVEPOINT at_rest")


def _exported(name: str) -> tuple[str, str, int]:
    with connections[name].cursor() as cursor:
        cursor.execute(_EXPORT)
        exported, server_version, size = cursor.fetchone()
    return exported, server_version, size


def check_reachable(names: list[str]) -> None:
    """Raises DumpError for cells that do not answer, and for those that Citus keeps: what pg_dump
    says of their tables does not make them tables of Citus again."""
    if away := [name for name in names if cells.is_away(name)]:
        raise DumpError(f"These cells do not answer: {', '.join(away)}.")
    on_citus = [name for name in names if row_security.login_of(connections[name]).apart]
    if on_citus:
        raise DumpError(
            f"Citus keeps {', '.join(on_citus)}: back up every node by PostgreSQL's own tools "
            "(docs/recovery.md)."
        )


def _check_nobody_is_elsewhere(names: list[str]) -> None:
    """Raises DumpError where end users are placed in a cell that is not among these."""
    with connections[cells.SHARED].cursor() as cursor:
        cursor.execute("SELECT to_regclass('accounts_placement')")
        if cursor.fetchone()[0] is None:  # a database from before there were any
            return
        cursor.execute(_PLACED_ELSEWHERE, [names])
        elsewhere = [name for (name,) in cursor.fetchall()]
    if elsewhere:
        raise DumpError(
            f"End users are in {', '.join(elsewhere)}, which MIO_CELLS does not name: set it as web "
            "and workers have it."
        )


def _numbers() -> dict[str, int]:
    with connections[cells.SHARED].cursor() as cursor:
        cursor.execute("SELECT name, number FROM accounts_cell")
        return dict(cursor.fetchall())


def read_manifest(file: Path) -> Manifest:
    """The manifest of a backup. Raises DumpError for a file that is none, is not whole, or was made
    by a newer Mio than this one."""
    try:
        with zipfile.ZipFile(file) as archive:
            written = json.loads(archive.read(MANIFEST))
            if written["format"] > FORMAT:
                raise _newer(file, f"format {written['format']}")
            manifest = Manifest.model_validate(written)
            broken = archive.testzip()
            missing = {database.member for database in manifest.databases} - set(archive.namelist())
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise DumpError(f"{file} is no whole backup ({error}).") from error
    if broken or missing:
        what = f"{broken} was changed" if broken else f"{min(missing)} is missing"
        raise DumpError(f"{file} is no whole backup: {what}.")
    known = MigrationLoader(None).disk_migrations
    apps = {app for app, _ in known}
    applied = {each for database in manifest.databases for each in database.migrations}
    unknown = sorted(f"{a}.{n}" for a, n in applied if a in apps and (a, n) not in known)
    if unknown:
        raise _newer(file, ", ".join(unknown[:3]))
    return manifest


def _newer(file: Path, what: str) -> DumpError:
    return DumpError(f"{file} was made by a newer Mio ({what}): upgrade this one first.")


@contextmanager
def dumped(file: Path, database: DumpedDatabase) -> Iterator[IO[bytes]]:
    """The dump of one database, as a seekable file for pg_restore."""
    with tempfile.TemporaryFile() as copy:
        with zipfile.ZipFile(file) as archive, archive.open(database.member) as member:
            copyfileobj(member, copy)
        copy.seek(0)
        yield copy


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
