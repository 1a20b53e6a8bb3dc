"""manage.py backup FILE"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mio_site.postgres.dump import DumpError, dump


class Command(BaseCommand):
    help = "Writes the whole database into a file, while everything runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *, file: Path, **_options: Any) -> None:
        if file.exists():
            raise CommandError(f"{file} is there already.")
        try:
            dump(file)
        except (DumpError, OSError) as error:
            raise CommandError(str(error)) from error
