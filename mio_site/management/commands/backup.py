"""bin/mio backup FILE, or backup --to FOLDER [--keep N]"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from mio_site import backups
from mio_site.postgres.dump import DumpError

# By name the newest is last, even if two are of the same second.
NAMED = "mio-{:%Y%m%dT%H%M%S.%fZ}.backup"
# A file in MIO_HOME; it is touched whenever a backup was made.
LAST = "last_backup"

LIKE = "mio-????????T??????.??????Z.backup"


class Command(BaseCommand):
    help = (
        "Writes the shared database, all cells and the secret key of MIO_HOME into one file, while "
        "everything runs. With --to the file is named after the moment."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("file", type=Path, nargs="?")
        where.add_argument("--to", type=Path, metavar="FOLDER", help="a new file in this folder")
        parser.add_argument(
            "--keep", type=int, metavar="N", help="with --to: delete all but the newest N there"
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="restore it into scratch databases, and check those",
        )

    def handle(
        self, *, file: Path | None, to: Path | None, keep: int | None, verify: bool, **_options: Any
    ) -> None:
        if keep is not None and (to is None or keep < 1):
            raise CommandError("--keep takes a number of at least 1, and goes with --to.")
        try:
            if to is not None:
                to.mkdir(mode=0o700, parents=True, exist_ok=True)
            target = file or (to or Path()) / NAMED.format(timezone.now())
            if target.exists():
                raise CommandError(f"{target} is there already.")
            manifest = backups.write(target)
        except (DumpError, OSError) as error:
            raise CommandError(f"{error} No backup was made.") from error
        if verify:
            call_command("restore", str(target), verify=True, stdout=self.stdout)
        self.stdout.write(f"{target}: {manifest.size}, {target.stat().st_size} bytes")
        (settings.MIO_HOME / LAST).touch()
        # Only once the new one exists and, if that was asked for, is verified.
        for old in sorted(to.glob(LIKE))[:-keep] if to and keep else ():
            old.unlink()
