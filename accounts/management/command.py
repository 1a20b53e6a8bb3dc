"""What our commands share: finding whom they are about, progress on stderr, JSON at the end."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from accounts.cells import connection
from accounts.models import App, EndUser
from accounts.schema import missing_migrations
from accounts.scope import all_users

DEFAULT_APP = "default"
APP_HELP = f"default: the only one with this end user, the only one, or {DEFAULT_APP!r}"


class MioCommand(BaseCommand):
    """``--json`` makes the last line of the output one JSON object.

    ``user_required`` says whether ``--user`` must be given or may be; None: it is no option.
    """

    user_required: bool | None = None

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Refuses a database that is behind the code with words, not with a traceback."""
        if missing := missing_migrations(connection):
            raise CommandError(
                f"Migrations are missing: {', '.join(missing)}. Run manage.py migrate."
            )
        with all_users():
            if "app" in options and options["app"] is None:
                options["app"] = self._usual_app(options.get("user"))
            return super().execute(*args, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        if self.user_required is not None:
            parser.add_argument(
                "--user", required=self.user_required, help="the app's own id of the end user"
            )
            parser.add_argument("--app", help=APP_HELP)
        parser.add_argument("--json", action="store_true", help="print one JSON object at the end")

    def _usual_app(self, external_id: str | None) -> str:
        """The name of the app that is meant where none is named. Raises CommandError."""
        names = App.objects.order_by("name").values_list("name", flat=True)
        holding = list(names.filter(end_users__external_id=external_id)) if external_id else []
        if len(holding) > 1:
            apps = ", ".join(holding)
            raise CommandError(f"End user {external_id!r} is in several apps ({apps}): say --app.")
        only = holding or list(names[:2])
        return only[0] if len(only) == 1 else DEFAULT_APP

    def find_user(self, app: str, external_id: str) -> EndUser:
        """The end user. Raises CommandError."""
        found = EndUser.objects.filter(app__name=app, external_id=external_id).first()
        if found is None:
            raise CommandError(f"The app {app!r} has no end user {external_id!r}.")
        return found

    def chosen_users(self, app: str, external_id: str | None) -> list[EndUser]:
        """The one named, or all of the app."""
        if external_id is not None:
            return [self.find_user(app, external_id)]
        if not App.objects.filter(name=app).exists():
            raise CommandError(f"There is no app {app!r}.")
        return list(EndUser.objects.filter(app__name=app).order_by("pk"))

    def bar(self, total: int | None, unit: str, label: str = "") -> tqdm:
        """A progress bar on stderr."""
        return tqdm(total=total, unit=unit, desc=label or None, file=sys.stderr, leave=True)

    def report(self, as_json: bool, **figures: Any) -> None:
        """The outcome: one JSON object, or a line of words."""
        if as_json:
            self.stdout.write(json.dumps(figures, ensure_ascii=False, default=str))
        else:
            words = (f"{name.replace('_', ' ')}: {value}" for name, value in figures.items())
            self.stdout.write(", ".join(words))
