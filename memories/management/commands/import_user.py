"""bin/mio import_user FILE"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from rest_framework.exceptions import APIException

from accounts.api import check_external_id
from accounts.errors import described
from accounts.management.command import APP_HELP, MioCommand
from accounts.models import App
from accounts.parsers import parse
from memories import portability


class Command(MioCommand):
    help = "Reads what export_user wrote, all of it or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--app", help=APP_HELP)
        parser.add_argument("--user", help="another id for the end user than in the file")
        super().add_arguments(parser)

    def handle(self, *, file: str, app: str, user: str | None, json: bool, **_options: Any) -> None:
        try:
            if user is not None:
                check_external_id(user)
            document = parse(Path(file).read_bytes())
        except OSError as error:
            raise CommandError(f"{file} can't be read: {error.strerror}.") from error
        except APIException as error:
            raise CommandError(described(error)) from error
        owner, _ = App.objects.get_or_create(name=app)
        counts: dict[str, int] = {}
        with self.bar(None, "row") as bar:

            def progress(what: str, count: int) -> None:
                bar.set_description(what)
                bar.update(count)
                counts[what] = counts.get(what, 0) + count

            try:
                made = portability.import_user(owner, document, external_id=user, progress=progress)
            except portability.CannotImport as error:
                raise CommandError(str(error)) from error
        rows = {section: counts.get(section, 0) for section in portability.SECTIONS}
        self.report(json, user=made.external_id, **rows)
