"""Putting what a backup holds in the place of what is there: all of it, or nothing.

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
from mio_site.backups.backup_file import Held, Manifest
from mio_site.cell_check import Problem
from mio_site.postgres import dump
from mio_site.postgres.dump import DumpError, Load

VECTORS = Vector._meta.db_table


class PartlyReplaced(Exception):
    """Which databases hold what the backup says, and which do not."""


def check(manifest: Manifest) -> None:
    """Raises DumpError unless every database of the backup has a place to go to."""
    if unnamed := [held for held in manifest.cells if held.name not in settings.MIO_CELLS]:
        wanted = ",".join(f"{held.name}=postgres://…{_place(held)}" for held in unnamed)
        raise DumpError(
            "The backup holds cells that MIO_CELLS does not name: say there where they are to go, "
            f"as {wanted}."
        )
    names = [held.name for held in manifest.databases]
    backup_file.check_reachable(names)
    for held in manifest.databases:
        _check_place(held)
    found = Counter(cell_schema.identity(name) for name in names)
    if same := [name for name in names if found[cell_schema.identity(name)] > 1]:
        raise DumpError(f"{' and '.join(same)} are one and the same: correct MIO_CELLS.")


def check_others(manifest: Manifest) -> list[str]:
    """The cells that are not in the backup, which stay as they are. Raises DumpError where there are
    end users in one, whom nobody would know after it."""
    known = {held.name for held in manifest.cells}
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


def _place(held: Held) -> str:
    return "" if held.schema_name == "public" else f"?schema={held.schema_name}"


def _check_place(held: Held) -> None:
    schema = cell_schema.schema_of(held.name)
    with connections[held.name].cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        (major,) = cursor.fetchone()
    if schema != held.schema_name:
        raise DumpError(
            f"{held.name} was in the schema {held.schema_name}, and is to go to {schema}: let its "
            f"address end in {_place(held) or 'no ?schema='}."
        )
    if major < int(held.postgres.partition(".")[0]):
        raise DumpError(
            f"{held.name} was kept by PostgreSQL {held.postgres}, and is to go to an older one: "
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


def put_back(file: Path, manifest: Manifest) -> list[Held]:
    """Puts the databases of a backup in the place of those that are there. Returns those whose dump
    has no vectors though the manifest counts some: older versions of Mio left them out. Raises
    DumpError, after which nothing is changed, or PartlyReplaced."""
    without_vectors = []
    with ExitStack() as stack:
        loads: dict[str, Load] = {}
        for held in manifest.databases:
            with _told_of(held.name):
                cell_schema.add_schema(held.name, held.schema_name)
                with backup_file.dumped(file, held) as dumped:
                    loading = dump.loaded(connections[held.name], dumped, held.schema_name)
                    load = loads[held.name] = stack.enter_context(loading)
                rows = load.count_rows(held.schema_name)
                if held.rows.get(VECTORS) and not rows.get(VECTORS):
                    without_vectors.append(held)
                    rows[VECTORS] = held.rows[VECTORS]
                dump.check_counts(held.rows, rows)
        for name, load in loads.items():
            with _told_of(name):
                load.check()
        commit(loads)
    for held in manifest.databases:
        connections[held.name].close()  # what it knew of types is of those that are gone
    return without_vectors


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
def _told_of(name: str) -> Iterator[None]:
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
    found = cell_check.check(fix=True)
    for held in Placement.objects.filter(user_pk__in=[p.user_pk for p in found if not p.mended]):
        with suppress(portability.CannotMove):
            portability.move(held, held.cell)
    left = [problem for problem in cell_check.check(fix=True) if not problem.mended]
    return [*(replace(each, mended=True) for each in found if each not in left), *left]


def bring_up(manifest: Manifest) -> list[Problem]:
    """Migrates what was put back, with ids, policies and copies, and settles the cells. Returns what
    was wrong there."""
    call_command("migrate", interactive=False, verbosity=0)
    return settle() if manifest.cells else []


def fill_vectors(cell: str) -> int:
    """Makes the vectors of a cell that has none, from the embeddings of its memories. Returns how
    many."""
    with cells.entered(cell), scope.all_users():
        Memory.objects.exclude(embedding=None).update(embedding=F("embedding"))  # by a trigger
        return Vector.objects.count()
