"""manage.py restore FILE --yes, or restore FILE --verify"""

from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from accounts import cells, scope
from memories.management.commands.doctor import Command as Doctor
from mio_site.backups import backup_file, restore
from mio_site.backups.backup_file import DumpedDatabase, Manifest
from mio_site.cell_check import Problem
from mio_site.postgres import dump
from mio_site.postgres.dump import DumpError

SHOWN = 10


# What the doctor finds that a copy has because the original has it.
NO_DAMAGE = frozenset({"nothing_tells_a_secret"})


class Command(BaseCommand):
    help = (
        "Replaces the shared database and all cells by what backup wrote, also by an older Mio, or "
        "leaves them as they are where that fails. Stop web and workers first. With --verify it "
        "changes nothing: it restores into scratch databases, counts the rows and runs the doctor "
        "there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--yes", action="store_true", help="what is there now is lost")
        what.add_argument("--verify", action="store_true", help="try it in scratch databases")

    def handle(self, *, file: Path, yes: bool, verify: bool, **_options: Any) -> None:
        if not (yes or verify):
            raise CommandError("What is in the database now will be lost. Say --yes, or --verify.")
        try:
            manifest = backup_file.read_manifest(file)
            restore.check(manifest)
            with cells.only([database.name for database in manifest.cells]):
                if verify:
                    self._verify(file, manifest)
                    return
            others = restore.check_others(manifest)
            restore.put_back(file, manifest)
        except (DumpError, OSError, Error) as error:
            raise CommandError(f"{str(error).strip()} Nothing was changed.") from error
        except restore.PartlyReplaced as error:
            raise CommandError(str(error)) from error
        self._finish(file, manifest, others)

    def _finish(self, file: Path, manifest: Manifest, others: list[str]) -> None:
        try:
            if backup_file.restore_key(file):
                self.stdout.write("The secret key of the backup is in MIO_HOME: start Mio anew.")
            with cells.only([database.name for database in manifest.cells]):
                problems = restore.bring_up(manifest)
        except (CommandError, OSError, Error) as error:
            raise CommandError(
                f"All that the backup holds was put back; then: {str(error).strip()} Run `migrate` "
                "and `cells check --fix` when that is mended."
            ) from error
        for name in others:
            self.stdout.write(f"{name} is not in the backup: `cells add {name}` opens it again.")
        for problem in problems:
            if problem.mended:
                self.stdout.write(f"{problem} (mended)")
        if left := _left(problems):
            raise CommandError(f"All that the backup holds was put back. {left}")

    def _verify(self, file: Path, manifest: Manifest) -> None:
        with ExitStack() as scratch:
            for database in manifest.databases:
                scratch.enter_context(dump.scratch_database(database.name))
            restore.put_back(file, manifest)
            if left := _left(restore.bring_up(manifest)):
                raise DumpError(left)
            for database in manifest.databases:
                self._doctor(database)
        tables = sum(len(database.rows) for database in manifest.databases)
        where = f" of {len(manifest.databases)} databases" if manifest.cells else ""
        self.stdout.write(
            f"{file} can be restored: {manifest.row_count} rows in {tables} tables{where}."
        )

    def _doctor(self, database: DumpedDatabase) -> None:
        """That of this one cell: the command of itself would go through all."""
        with cells.entered(database.name), scope.all_users():
            doctor = Doctor()
            doctor.stdout = self.stdout
            try:
                doctor.handle(fix=False, json=False, leave_out=NO_DAMAGE)
            except CommandError as error:
                raise CommandError(f"{database.name}: {error}") from error


def _left(problems: list[Problem]) -> str:
    left = [str(problem) for problem in problems if not problem.mended]
    return f"{len(left)} things are wrong: {'; '.join(left[:SHOWN])}." if left else ""
