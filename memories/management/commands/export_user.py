"""bin/mio export_user --user U [FILE]"""

import json as jsonlib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from accounts.management.command import MioCommand
from memories import portability


class Command(MioCommand):
    help = "Writes everything that is stored of an end user as one JSON object."
    user_required = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", help="default: the standard output")
        super().add_arguments(parser)

    def handle(self, *, file: str | None, user: str, app: str, json: bool, **_options: Any) -> None:
        document = portability.export_user(self.find_user(app, user))
        text = jsonlib.dumps(document, ensure_ascii=False)
        if file is None:
            self.stdout.write(text)
            return
        try:
            Path(file).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{file} can't be written: {error.strerror}.") from error
        counts = {section: len(document[section]) for section in portability.SECTIONS}
        self.report(json, file=file, **counts)
