"""manage.py export_vcard --user U [FILE]"""

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.management.command import MioCommand
from accounts.models import EndUser
from contacts.vcard import read, sync
from contacts.vcard.write import write
from memories.models import Link


class Command(MioCommand):
    help = "Writes the contacts of an end user as an address book (vCard 3.0 or 4.0)."
    user_required = True

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """``--version`` is that of the vCard here, not Django's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", help="default: the standard output")
        parser.add_argument("--version", dest="edition", type=int, choices=(3, 4), default=4)
        super().add_arguments(parser)

    def handle(
        self, *, file: str | None, user: str, app: str, edition: int, json: bool, **_options: Any
    ) -> None:
        entries = _with_notes(self.find_user(app, user))
        text = write(entries, edition)
        if file is None:
            self.stdout.write(text, ending="")
            return
        try:
            Path(file).write_bytes(text.encode())
        except OSError as error:
            raise CommandError(f"{file} can't be written: {error.strerror}.") from error
        self.report(json, file=file, contacts=len(entries))


def _with_notes(end_user: EndUser) -> list[read.Entry]:
    """The entries with the notes that an address book had brought and that still stand."""
    notes: dict[tuple[str, int], list[str]] = {}
    links = Link.objects.of(end_user).filter(
        rejected=False, memory__status="active", memory__metadata__has_key="vcard_note"
    )
    rows = links.order_by("pk").values_list(
        "contact__name", "contact__namesake", "memory__metadata__vcard_note"
    )
    for name, namesake, note in rows:
        notes.setdefault((name, namesake), []).append(note)
    return [
        replace(entry, notes=tuple(notes.get((entry.name, entry.namesake), ())))
        for entry in sync.entries(end_user)
    ]
