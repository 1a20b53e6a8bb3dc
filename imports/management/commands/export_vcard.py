"""bin/mio export_vcard --user U [FILE]"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.management.command import MioCommand
from imports import address_book
from imports.dumps import BOOKS, vcard


class Command(MioCommand):
    help = (
        "Writes the contacts of an end user as an address book: vCard 3.0 or 4.0, or a CSV that "
        "Google Contacts takes."
    )
    user_required = True

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Overrides Django's hook: ``--version`` is the version of the vCard, not Django's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", help="default: the standard output")
        parser.add_argument("--version", dest="edition", type=int, choices=(3, 4), default=4)
        parser.add_argument("--format", dest="form", choices=BOOKS, default=vcard.NAME)
        super().add_arguments(parser)

    def handle(
        self, *, file: str | None, user: str, app: str, edition: int, form: str, json: bool,
        **_options: Any,
    ) -> None:  # fmt: skip
        """Writes the user's contacts as an address book to a file, or prints them."""
        entries = address_book.entries_of(self.find_user(app, user))
        options = {"version": edition} if form == vcard.NAME else {}
        text = BOOKS[form].write(entries, **options)
        if file is None:
            self.stdout.write(text, ending="")
            return
        try:
            Path(file).write_bytes(text.encode())
        except OSError as error:
            raise CommandError(f"{file} can't be written: {error.strerror}.") from error
        self.report(json, file=file, contacts=len(entries))
