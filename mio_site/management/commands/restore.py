"""manage.py restore FILE --yes, or restore FILE --verify"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from mio_site.postgres import dump
from mio_site.postgres.dump import DumpError


class Command(BaseCommand):
    help = (
        "Replaces the whole database by what backup wrote, also by an older Mio, or leaves it as "
        "it is where that fails. Stop web and workers first. With --verify it changes nothing: "
        "it restores into a scratch database, counts the rows and runs the doctor there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--yes", action="store_true", help="what is there now is lost")
        what.add_argument("--verify", action="store_true", help="try it in a scratch database")

    def handle(self, *, file: Path, yes: bool, verify: bool, **_options: Any) -> None:
        if not (yes or verify):
            raise CommandError("What is in the database now will be lost. Say --yes, or --verify.")
        try:
            rows = dump.read_manifest(file)["rows"]
            if verify:
                self._verify(file, rows)
                return
            dump.restore(file)
            replaced = dump.restore_key(file)
        except (DumpError, OSError) as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        call_command("migrate", interactive=False, verbosity=0)
        if replaced:
            self.stdout.write("The secret key of the backup is in MIO_HOME: start Mio anew.")

    def _verify(self, file: Path, rows: dict[str, int]) -> None:
        with dump.scratch_database():
            dump.restore(file)
            found = dump.count_rows()
            wrong = sorted(t for t in rows.keys() | found.keys() if rows.get(t) != found.get(t))
            if wrong:
                raise DumpError(f"Rows are missing in {', '.join(wrong)}.")
            call_command("migrate", interactive=False, verbosity=0)
            call_command("doctor", stdout=self.stdout)
        self.stdout.write(
            f"{file} can be restored: {sum(rows.values())} rows in {len(rows)} tables."
        )
