"""bin/mio restore FILE --yes, or restore FILE --verify"""

from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from accounts import cells, scope
from memories.management.commands.doctor import Command as Doctor
from mio_site import backups
from mio_site.postgres import dump
from mio_site.postgres.dump import DumpError

SHOWN = 10

# Findings of the doctor that a copy has because the original has them.
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
            manifest = backups.read_manifest(file)
            backups.check_places(manifest)
            with ExitStack() as scratch:
                for name in cells.names() if verify else ():
                    scratch.enter_context(dump.scratch_database(name))
                backups.restore_backup(file, manifest)
                if verify:
                    _raise_if_any(backups.bring_up())
                    for name in cells.names():
                        self._doctor(name)
        except (DumpError, OSError, Error) as error:
            raise CommandError(f"{str(error).strip()} Nothing was changed.") from error
        if verify:
            self.stdout.write(f"{file} can be restored: {manifest.size}.")
            return
        try:
            if backups.restore_key(file):
                self.stdout.write("The secret key of the backup is in MIO_HOME: start Mio anew.")
            _raise_if_any(backups.bring_up())
        except (CommandError, DumpError, OSError, Error) as error:
            raise CommandError(
                f"All that the backup holds was put back; then: {str(error).strip()} Run `migrate` "
                "and `cells check --fix` when that is mended."
            ) from error

    def _doctor(self, cell: str) -> None:
        """Runs the doctor in this cell only; as a command it would run in all."""
        with cells.entered(cell), scope.all_users():
            doctor = Doctor()
            doctor.stdout = self.stdout
            try:
                doctor.handle(fix=False, json=False, leave_out=NO_DAMAGE)
            except CommandError as error:
                raise CommandError(f"{cell}: {error}") from error


def _raise_if_any(problems: list[str]) -> None:
    if problems:
        raise DumpError(f"{len(problems)} things are wrong: {'; '.join(problems[:SHOWN])}.")
