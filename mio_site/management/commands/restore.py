"""manage.py restore FILE --yes"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from mio_site.postgres.dump import DumpError, restore


class Command(BaseCommand):
    help = (
        "Replaces the whole database by what backup wrote, also by an older Mio, or leaves it as "
        "it is where that fails. Stop web and workers first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--yes", action="store_true", help="what is there now is lost")

    def handle(self, *, file: Path, yes: bool, **_options: Any) -> None:
        if not yes:
            raise CommandError("What is in the database now will be lost. Say --yes.")
        try:
            restore(file)
        except (DumpError, OSError) as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        call_command("migrate", interactive=False, verbosity=0)
