"""Measures the product's own public functions on data files."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.scope import all_users
from tools.bench.datasets import BadDataset

# name -> how many data files it takes at least; corpus takes folders of authors
BENCHES = {
    "mentions": 1,
    "aliases": 1,
    "pronouns": 1,
    "extraction": 1,
    "forgetting": 1,
    "corpus": 1,
    "locomo": 1,
    "memdaily": 2,
    "latency": 0,
}


class Command(BaseCommand):
    help = "Measure the product on data files, in a database of its own that is dropped after."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", choices=BENCHES)
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument(
            "--rows", type=int, help="latency: also search in a table of so many memories"
        )
        parser.add_argument("--json", action="store_true", help="print only one JSON object")

    @all_users()
    def handle(self, *args: Any, **options: Any) -> None:
        name, files = options["name"], options["files"]
        if len(files) < BENCHES[name]:
            raise CommandError(f"bench {name} needs {BENCHES[name]} data file(s).")
        folders = name == "corpus"
        missing = [str(at) for at in files if not (at.is_dir() if folders else at.is_file())]
        if missing:
            raise CommandError(f"No such {'folder' if folders else 'file'}: {', '.join(missing)}")
        run: Callable[..., dict[str, Any]] = import_module(f"tools.bench.{name}").run
        try:
            asked = {"rows": options["rows"]} if name == "latency" and options["rows"] else {}
            figures = run(files, progress=not options["json"], **asked)
        except BadDataset as error:
            raise CommandError(str(error)) from error
        indent = None if options["json"] else 2
        self.stdout.write(json.dumps(figures, ensure_ascii=False, indent=indent))
