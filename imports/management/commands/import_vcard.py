"""manage.py import_vcard --user U FILE"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from rest_framework.exceptions import APIException

from accounts import placement
from accounts.api import check_external_id
from accounts.errors import described
from accounts.management.command import MioCommand
from accounts.models import App, EndUser
from imports import people_intake
from imports.dumps import book_file
from imports.management.skipped_lines import tell_skipped
from imports.models import Import
from imports.people_plan import plan
from imports.types import NotReadable

ACTOR = "operator:vcard"


class Command(MioCommand):
    help = (
        "Makes contacts of an address book (vCard 2.1, 3.0 or 4.0, CSV of Google Contacts), all of "
        "it or nothing, as one change that can be undone. Entries that may mean several people "
        "are left out; the dashboard and the API ask."
    )
    user_required = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--dry-run", action="store_true", help="count, and take in nothing")
        super().add_arguments(parser)

    def handle(
        self, *, file: str, user: str, app: str, dry_run: bool, json: bool, **_options: Any
    ) -> None:
        try:
            check_external_id(user)
            dump = book_file.of_bytes(Path(file).read_bytes())
        except OSError as error:
            raise CommandError(f"{file} can't be read: {error.strerror}.") from error
        except (APIException, NotReadable) as error:
            said = described(error) if isinstance(error, APIException) else str(error)
            raise CommandError(f"{said} Nothing was imported.") from error
        tell_skipped(self, dump.skipped)
        if dry_run:
            held = EndUser.objects.filter(app__name=app, external_id=user).first()
            wanted = plan(held or EndUser(app=App(name=app), external_id=user), dump)
            self.report(json, user=user, dry_run=True, **wanted.figures)
            return
        owner, _ = App.objects.get_or_create(name=app)
        end_user = placement.first_seen(owner, user)
        done = people_intake.take_in(end_user, dump, actor=ACTOR)
        Import.note(end_user, dump.format, done.plan.counts, done.change)
        change = done.change.pk if done.change else None
        self.report(json, user=user, **done.plan.figures, change=change)
