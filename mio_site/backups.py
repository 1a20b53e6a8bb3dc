"""Backups: writes all databases into a file, and restores them from it.

The file is a ZIP, stored only, with a manifest that says what it contains: ``database.dump`` is
pg_dump's of the shared database (of its schema, if there are cells), ``cells/NAME.dump`` that of a
cell, ``secret_key`` the key that was generated into MIO_HOME. Dumps are of snapshots taken while no
placement changes: whatever is committed in the cells then, all rows of a user are in the cell that
counts. ``cells check`` finds rows of users that a snapshot has besides.

A restore replaces all or nothing: every database is loaded in a transaction of its own, and none is
committed before all are loaded. If a server dies between two commits, repeat the restore."""

import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import Error, OperationalError, connections
from django.db import transaction as django_transaction  # noqa: TID251 of several cells at once
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from accounts import cells, row_security, scope
from accounts.models import Placement
from memories import portability
from mio_site import cell_check, cell_schema
from mio_site.postgres import dump
from mio_site.postgres.dump import DumpError, Load

MANIFEST, DUMP, KEY = "manifest.json", "database.dump", "secret_key"
# The format of a file with cells; a file without has the format 1, which every Mio reads.
FORMAT = 2

# Seconds: whoever places an end user waits for this lock.
LOCK_TIMEOUT = 5.0

_BEGIN = """
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SET LOCAL idle_in_transaction_session_timeout = 0
"""


class DumpedDatabase(BaseModel):
    """One database in the file, with the numbers of rows in the snapshot that was dumped."""

    model_config = ConfigDict(frozen=True)

    name: str = cells.SHARED
    schema_name: str = Field("public", alias="schema")
    postgres: str
    migrations: list[tuple[str, str]]
    rows: dict[str, int]

    @property
    def member(self) -> str:
        return DUMP if self.name == cells.SHARED else f"cells/{self.name}.dump"


class Manifest(DumpedDatabase):
    """The shared database, and the cells besides it."""

    format: int
    made_at: str
    cells: tuple[DumpedDatabase, ...] = ()

    @property
    def databases(self) -> tuple[DumpedDatabase, ...]:
        """All databases in the file, the shared one last."""
        return (*self.cells, self)

    @property
    def size(self) -> str:
        """The number of rows and databases, for people."""
        rows = sum(sum(database.rows.values()) for database in self.databases)
        return f"{rows} rows" + (f" of {len(self.databases)} databases" if self.cells else "")


def write(file: Path) -> Manifest:
    """Writes ``file``, which only this user may read, and returns its manifest. Raises DumpError."""
    part = file.with_name(f".{file.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as raw:
            with zipfile.ZipFile(raw, "w") as archive:
                manifest = _write_archive(archive)
            raw.flush()
            os.fsync(raw.fileno())
        os.link(part, file)
    except Error as error:
        raise DumpError(str(error).strip()) from error
    finally:
        part.unlink(missing_ok=True)
    return manifest


def _write_archive(archive: zipfile.ZipFile) -> Manifest:
    names = [*cell_schema.added(), cells.SHARED]
    check_reachable(names)
    databases: list[DumpedDatabase] = []
    with _snapshots(names) as snapshots:
        for name, (snapshot, postgres) in snapshots.items():
            source, schema = connections[name], cell_schema.schema_of(name)
            database = DumpedDatabase(
                name=name,
                schema=schema,
                postgres=postgres,
                migrations=sorted(MigrationRecorder(source).applied_migrations()),
                rows=dump.count_rows(source, schema),
            )
            with archive.open(database.member, "w", force_zip64=True) as out:
                dump.dump(source, out, snapshot=snapshot, schema=schema, alone=len(names) > 1)
            databases.append(database)
    *added, shared = databases
    manifest = Manifest(
        **shared.model_dump(by_alias=True),
        format=FORMAT if added else 1,
        made_at=timezone.now().isoformat(timespec="seconds"),
        cells=added,
    )
    archive.writestr(MANIFEST, manifest.model_dump_json(indent=1, by_alias=True))
    generated = settings.MIO_HOME / KEY
    if generated.exists() and generated.read_text().strip() == settings.SECRET_KEY:
        archive.writestr(KEY, settings.SECRET_KEY)
    return manifest


@contextmanager
def _snapshots(names: Sequence[str]) -> Iterator[dict[str, tuple[str, str]]]:
    """Yields exported snapshots of these cells with the versions of their servers. Raises DumpError."""
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(scope.all_users_of_session(connections[name]))
            stack.enter_context(django_transaction.atomic(name))
            connections[name].cursor().execute(_BEGIN)
        # The lock ends with the savepoint, and the transaction keeps its snapshot.
        with django_transaction.atomic(cells.SHARED):
            try:
                # If a cell stops answering meanwhile, the server releases the lock by itself.
                connections[cells.SHARED].cursor().execute(
                    f"SET LOCAL lock_timeout = '{int(LOCK_TIMEOUT * 1000)}ms';"
                    "SET LOCAL idle_in_transaction_session_timeout = '10s';"
                    "LOCK TABLE accounts_placement IN SHARE MODE"
                )
            except OperationalError as error:
                raise DumpError(
                    "Somebody is writing in which cell end users are (one large import, it may be): "
                    "make the backup when that is done."
                ) from error
            for name in names:
                connections[name].cursor().execute("SELECT 1")  # the snapshot is of the first query
            django_transaction.set_rollback(True, cells.SHARED)
        elsewhere = Placement.objects.exclude(cell__in=names).values_list("cell", flat=True)
        if unnamed := ", ".join(sorted(set(elsewhere.distinct()))):
            raise DumpError(
                f"End users are in {unnamed}, which MIO_CELLS does not name: set it as web and workers "
                "have it."
            )
        snapshots = {}
        for name in names:
            cursor = connections[name].cursor()
            cursor.execute("SELECT pg_export_snapshot(), current_setting('server_version')")
            snapshots[name] = cursor.fetchone()
        yield snapshots


def check_reachable(names: Sequence[str]) -> None:
    """Raises DumpError for cells that do not answer, or are kept by Citus."""
    if away := [name for name in names if cells.is_away(name)]:
        raise DumpError(f"These cells do not answer: {', '.join(away)}.")
    on_citus = [name for name in names if row_security.login_of(connections[name]).apart]
    if on_citus:
        raise DumpError(
            f"Citus keeps {', '.join(on_citus)}: back up every node by PostgreSQL's own tools "
            "(docs/recovery.md)."
        )


def read_manifest(file: Path) -> Manifest:
    """Returns the manifest of a backup. Raises DumpError for an incomplete file, or a newer Mio's."""
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = Manifest.model_validate_json(archive.read(MANIFEST))
            broken = archive.testzip()
            missing = {database.member for database in manifest.databases} - set(archive.namelist())
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise DumpError(f"{file} is no whole backup ({error}).") from error
    if broken or missing:
        what = f"{broken} was changed" if broken else f"{min(missing)} is missing"
        raise DumpError(f"{file} is no whole backup: {what}.")
    migrations = MigrationLoader(None).disk_migrations
    apps = {app for app, _ in migrations}
    applied = {migration for database in manifest.databases for migration in database.migrations}
    unknown = sorted(f"{a}.{n}" for a, n in applied if a in apps and (a, n) not in migrations)
    if unknown:
        first = ", ".join(unknown[:3])
        raise DumpError(f"{file} was made by a newer Mio ({first}): upgrade this one first.")
    return manifest


@contextmanager
def dumped(file: Path, database: DumpedDatabase) -> Iterator[IO[bytes]]:
    """Yields the dump of one database, as a seekable file for pg_restore."""
    with tempfile.TemporaryFile() as copy:
        with zipfile.ZipFile(file) as archive, archive.open(database.member) as member:
            copyfileobj(member, copy)
        copy.seek(0)
        yield copy


def restore_key(file: Path) -> bool:
    """Stores the backup's secret key in MIO_HOME. Returns whether running processes have another."""
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


def check_places(manifest: Manifest) -> None:
    """Raises DumpError unless MIO_CELLS names a place for each cell of the backup, and no others."""
    cell_names = {database.name for database in manifest.cells}
    if extra := [name for name in settings.MIO_CELLS if name not in cell_names]:
        raise DumpError(
            f"The backup does not hold {', '.join(extra)}: take them out of MIO_CELLS for the time "
            "of the restore, and run `cells add` for each afterwards."
        )
    if unnamed := [one for one in manifest.cells if one.name not in settings.MIO_CELLS]:
        example = ",".join(f"{one.name}=postgres://…{_schema_suffix(one)}" for one in unnamed)
        raise DumpError(
            "The backup holds cells that MIO_CELLS does not name: say there where they are to go, "
            f"as {example}."
        )
    check_reachable(cells.names())
    for database in manifest.databases:
        schema = cell_schema.schema_of(database.name)
        if schema != database.schema_name:
            raise DumpError(
                f"{database.name} was in the schema {database.schema_name}, and is to go to {schema}: "
                f"let its address end in {_schema_suffix(database) or 'no ?schema='}."
            )
    for one, other in cell_schema.duplicates(cells.names()):
        raise DumpError(f"{one} and {other} are one and the same: correct MIO_CELLS.")


def _schema_suffix(database: DumpedDatabase) -> str:
    return "" if database.schema_name == "public" else f"?schema={database.schema_name}"


def restore_backup(file: Path, manifest: Manifest) -> None:
    """Replaces the databases by those of a backup. Raises DumpError if nothing is changed,
    CommandError if only some were replaced."""
    with ExitStack() as stack:
        loads: dict[str, Load] = {}
        for database in manifest.databases:
            with _errors_in(database.name):
                cell_schema.add_schema(database.name, database.schema_name)
                with dumped(file, database) as file_dump:
                    loading = dump.loaded(
                        connections[database.name], file_dump, database.schema_name
                    )
                    loads[database.name] = stack.enter_context(loading)
                loads[database.name].check_counts(database.schema_name, database.rows)
        for name, load in loads.items():
            with _errors_in(name):
                load.check()
        commit(loads)
    for name in loads:
        connections[name].close()  # its ids of types are those of the replaced database


def commit(loads: Mapping[str, Load]) -> None:
    """Commits one after the other, the shared database last. Raises CommandError with what is done."""
    names = list(loads)
    for place, name in enumerate(names):
        try:
            loads[name].commit()
        except DumpError as error:
            done, left = ", ".join(names[:place]), ", ".join(names[place + 1 :])
            raise CommandError(
                f"{_title(name)}: {error} Replaced: {done or 'none'}. Perhaps: {name}. Not "
                f"replaced: {left or 'none'}. Start nothing before the same restore was made again."
            ) from error


@contextmanager
def _errors_in(name: str) -> Iterator[None]:
    """Raises errors of the block as DumpError, with the name of the database."""
    try:
        yield
    except (DumpError, Error) as error:
        raise DumpError(f"{_title(name)}: {error}".strip()) from error


def _title(cell: str) -> str:
    return "The shared database" if cell == cells.SHARED else f"The cell {cell}"


def bring_up() -> list[str]:
    """Migrates the restored databases, calls back interrupted moves, and repairs what ``cells
    check`` can repair. Returns what is still wrong."""
    call_command("migrate", interactive=False, verbosity=0)
    if not cells.several():
        return []
    users = [problem.user_pk for problem in cell_check.check(fix=True) if not problem.mended]
    for placed in Placement.objects.filter(user_pk__in=filter(None, users)):
        with suppress(portability.CannotMove):
            portability.move(placed, placed.cell)
    return [str(problem) for problem in cell_check.check(fix=True) if not problem.mended]
