"""The base of our commands: the user and app they are about, progress on stderr, JSON at the end."""

import json
import operator
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts import cells, placement
from accounts.cells import connection
from accounts.management.schema import missing_migrations
from accounts.models import App, EndUser
from accounts.scope import all_users

if TYPE_CHECKING:
    from tqdm import tqdm

DEFAULT_APP = "default"
APP_HELP = f"default: the only one with this end user, the only one, or {DEFAULT_APP!r}"


class MioCommand(BaseCommand):
    """``--json`` makes the last line of the output one JSON object. ``user_required``: whether
    ``--user`` is required or optional; None: there is no such option. With several cells, a command
    with a user runs in the user's cell; without one, if there is the option or ``each_cell``, in
    each cell, and figures are added up."""

    # The checks are of the code, which `manage.py check` and the tests look at; they load all pages.
    requires_system_checks = ()
    user_required: bool | None = None
    each_cell = False
    _figures: dict[str, Any] | None = None

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Overrides Django's hook: raises CommandError if the database lacks migrations."""
        if missing := missing_migrations(connection):
            raise CommandError(
                f"Migrations are missing: {', '.join(missing)}. Run bin/mio migrate."
            )
        with all_users():
            if "app" in options and options["app"] is None:
                options["app"] = self._default_app(options.get("user"))
            if not cells.several() or (self.user_required is None and not self.each_cell):
                return super().execute(*args, **options)
            if options.get("user") is not None:
                with cells.entered(self._cell_of(options["app"], options["user"])):
                    return super().execute(*args, **options)
            self._execute_everywhere(*args, **options)
            return None

    def _cell_of(self, app: str, external_id: str) -> str:
        """Returns the cell of an end user, or that for new users. Raises CommandError during a move."""
        owner = App.objects.filter(name=app).first()
        placed = placement.find(owner.pk, external_id) if owner is not None else None
        if placed is not None and placed.moving_to:
            raise CommandError(f"The end user {external_id!r} is being moved: wait for its end.")
        return placed.cell if placed is not None else placement.emptiest_cell()

    def _execute_everywhere(self, *args: Any, **options: Any) -> None:
        """Runs the command in all cells, even if it fails in some. Raises CommandError for those."""
        failed = [f"{cell}: it does not answer" for cell in cells.names() if cells.is_away(cell)]
        self._figures = {}
        for cell in cells.reachable():
            if not options.get("json"):
                self.stdout.write(f"{cell}:")
            try:
                with cells.entered(cell):
                    super().execute(*args, **options)
            except CommandError as error:
                failed.append(f"{cell}: {error}")
        if options.get("json"):
            self.stdout.write(json.dumps(self._figures, ensure_ascii=False, default=str))
        if failed:
            raise CommandError("\n".join(failed))

    def add_arguments(self, parser: ArgumentParser) -> None:
        if self.user_required is not None:
            parser.add_argument(
                "--user", required=self.user_required, help="the app's own id of the end user"
            )
            parser.add_argument("--app", help=APP_HELP)
        parser.add_argument("--json", action="store_true", help="print one JSON object at the end")

    def _default_app(self, external_id: str | None) -> str:
        """Returns the app's name if none is named. Raises CommandError if several have the user."""
        names = App.objects.order_by("name").values_list("name", flat=True)
        relation = "placements" if cells.several() else "end_users"
        owners = (
            list(names.filter(**{f"{relation}__external_id": external_id})) if external_id else []
        )
        if len(owners) > 1:
            apps = ", ".join(owners)
            raise CommandError(f"End user {external_id!r} is in several apps ({apps}): say --app.")
        candidates = owners or list(names[:2])
        return candidates[0] if len(candidates) == 1 else DEFAULT_APP

    def find_user(self, app: str, external_id: str) -> EndUser:
        """Returns the end user. Raises CommandError if there is none."""
        end_user = EndUser.objects.filter(app__name=app, external_id=external_id).first()
        if end_user is None:
            raise CommandError(f"The app {app!r} has no end user {external_id!r}.")
        return end_user

    def chosen_users(self, app: str, external_id: str | None) -> list[EndUser]:
        """Returns the end user of this id, or all of the app. Raises CommandError."""
        if external_id is not None:
            return [self.find_user(app, external_id)]
        if not App.objects.filter(name=app).exists():
            raise CommandError(f"There is no app {app!r}.")
        return list(EndUser.objects.filter(app__name=app).order_by("pk"))

    def bar(self, total: int | None, unit: str, label: str = "") -> "tqdm":
        """Returns a progress bar on stderr, drawn only if that is a terminal."""
        # Loaded at first use: most commands show none.
        from tqdm import tqdm

        return tqdm(total=total, unit=unit, desc=label or None, file=sys.stderr, disable=None)

    def report(self, as_json: bool, **figures: Any) -> None:
        """Prints the outcome: one JSON object, or a line of words."""
        if as_json and self._figures is not None:
            self._figures = _sum(self._figures, figures)
        elif as_json:
            self.stdout.write(json.dumps(figures, ensure_ascii=False, default=str))
        else:
            words = (f"{name.replace('_', ' ')}: {value}" for name, value in figures.items())
            self.stdout.write(", ".join(words))


def _sum(one: Any, other: Any) -> Any:
    """Adds the figures of two cells: numbers and lists are added, other values joined in a text."""
    if isinstance(one, dict) and isinstance(other, dict):
        shared = {key: _sum(one[key], other[key]) for key in one.keys() & other.keys()}
        return {**one, **other, **shared}
    if isinstance(one, bool) and isinstance(other, bool):
        return one and other
    for kinds in ((int, float), (list,)):
        if isinstance(one, kinds) and isinstance(other, kinds):
            return operator.add(one, other)
    return one if one == other else f"{one}, {other}"
