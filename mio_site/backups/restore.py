"""Restoring a backup in place of the current databases: all of it, or nothing.

Every database is loaded in a transaction of its own, and none is committed before all are loaded.
So what can go wrong in the hours of a restore changes nothing; what is left is a server that dies
between one commit and the next, and then the same restore is made again.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import Error, connections
from django.db.models import F

from accounts import cells, scope
from accounts.models import Placement
from memories import portability
from memories.models import Memory, Vector
from mio_site import cell_check, cell_schema
from mio_site.backups import backup_file
from mio_site.backups.backup_file import DumpedDatabase, Manifest
from mio_site.cell_check import Problem
from mio_site.postgres import dump
from mio_site.postgres.dump import DumpError, Load

VECTORS = Vector._meta.db_table


class PartlyReplaced(Exception):
    """Some databases were replaced and others were not; the message names them."""


def check(manifest: Manifest) -> None:
    """Raises DumpError unless every database of the backup has a place to go to."""
    if unnamed := [
        database for database in manifest.cells if database.name not in settings.MIO_CELLS
    ]:
        wanted = ",".join(f"{database.name}=postgres://…{_place(database)}" for database in unnamed)
        raise DumpError(
            "The backup holds cells that MIO_CELLS does not name: say there where they are to go, "
            f"as {wanted}."
        )
    names = [database.name for database in manifest.databases]
    backup_file.check_reachable(names)
    for database in manifest.databases:
        _check_place(database)
    counts = Counter(cell_schema.identity(name) for name in names)
    if same := [name for name in names if counts[cell_schema.identity(name)] > 1]:
        raise DumpError(f"{' and '.join(same)} are one and the same: correct MIO_CELLS.")


def check_others(manifest: Manifest) -> list[str]:
    """The cells that are not in the backup, which stay as they are. Raises DumpError where there are
    end users in one, whom nobody would know after it."""
    known = {database.name for database in manifest.cells}
    others = [name for name in settings.MIO_CELLS if name not in known]
    backup_file.check_reachable(others)
    for name in others:
        if count := _users(name):
            raise DumpError(
                f"The cell {name} is not in the backup, and holds end users ({count}). To leave it as "
                "it is, take it out of MIO_CELLS for the time of the restore; then put it back, "
                f"and run `cells add {name}` and `cells check --fix`."
            )
    return others


def _place(database: DumpedDatabase) -> str:
    return "" if database.schema_name == "public" else f"?schema={database.schema_name}"


def _check_place(database: DumpedDatabase) -> None:
    schema = cell_schema.schema_of(database.name)
    with connections[database.name].cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        (major,) = cursor.fetchone()
    if schema != database.schema_name:
        raise DumpError(
            f"{database.name} was in the schema {database.schema_name}, and is to go to {schema}: let its "
            f"address end in {_place(database) or 'no ?schema='}."
        )
    if major < int(database.postgres.partition(".")[0]):
        raise DumpError(
            f"{database.name} was kept by PostgreSQL {database.postgres}, and is to go to an older one: "
            "upgrade that server first."
        )


def _users(cell: str) -> int:
    own = connections[cell]
    table = f"{own.ops.quote_name(cell_schema.schema_of(cell))}.accounts_enduser"
    with scope.all_users_of_session(own), own.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [table])
        if cursor.fetchone()[0] is None:
            return 0
        cursor.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
        (count,) = cursor.fetchone()
    return int(count)


def put_back(file: Path, manifest: Manifest) -> None:
    """Puts the databases of a backup in the place of those that are there. Raises DumpError, after
    which nothing is changed, or PartlyReplaced."""
    with ExitStack() as stack:
        loads: dict[str, Load] = {}
        for database in manifest.databases:
            with _errors_of(database.name):
                cell_schema.add_schema(database.name, database.schema_name)
                with backup_file.dumped(file, database) as dumped:
                    loading = dump.loaded(connections[database.name], dumped, database.schema_name)
                    load = loads[database.name] = stack.enter_context(loading)
                rows = load.count_rows(database.schema_name)
                # Older versions of Mio left the vectors out: ``bring_up`` makes them.
                rows[VECTORS] = rows.get(VECTORS) or database.rows.get(VECTORS, 0)
                dump.check_counts(database.rows, rows)
        for name, load in loads.items():
            with _errors_of(name):
                load.check()
        commit(loads)
    for database in manifest.databases:
        connections[database.name].close()  # what it knew of types is of those that are gone


def commit(loads: Mapping[str, Load]) -> None:
    """Commits one after the other, the shared database last: it says who is in which cell. Raises
    PartlyReplaced."""
    names = list(loads)
    for place, name in enumerate(names):
        try:
            loads[name].commit()
        except DumpError as error:
            done, left = ", ".join(names[:place]), ", ".join(names[place + 1 :])
            raise PartlyReplaced(
                f"{_called(name)}: {error} Replaced: {done or 'none'}. Perhaps: {name}. Not "
                f"replaced: {left or 'none'}. Start nothing before the same restore was made again."
            ) from error


@contextmanager
def _errors_of(name: str) -> Iterator[None]:
    try:
        yield
    except (DumpError, Error) as error:
        raise DumpError(f"{_called(name)}: {error}".strip()) from error


def _called(cell: str) -> str:
    return "The shared database" if cell == cells.SHARED else f"The cell {cell}"


def settle() -> list[Problem]:
    """Mends what was under way at the moment of the backup, as an operator would: what follows from
    the rest, and moves are called back, so that each user is where the placement says, and there
    only. Returns what was wrong; what still is, is not ``mended``."""
    problems = cell_check.check(fix=True)
    for placed in Placement.objects.filter(
        user_pk__in=[p.user_pk for p in problems if not p.mended]
    ):
        with suppress(portability.CannotMove):
            portability.move(placed, placed.cell)
    left = [problem for problem in cell_check.check(fix=True) if not problem.mended]
    return [*(replace(each, mended=True) for each in problems if each not in left), *left]


def bring_up(manifest: Manifest) -> list[Problem]:
    """Migrates what was put back, with ids, policies and copies, and settles the cells. Makes vectors
    that are lacking from the embeddings of memories. Returns what was wrong in cells."""
    call_command("migrate", interactive=False, verbosity=0)
    for database in manifest.databases:
        if not database.rows.get(VECTORS):
            continue
        with cells.entered(database.name), scope.all_users():
            if not Vector.objects.exists():
                # A trigger makes the vector.
                Memory.objects.exclude(embedding=None).update(embedding=F("embedding"))
    return settle() if manifest.cells else []
