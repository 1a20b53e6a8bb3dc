"""manage.py import_chat FILE --user U --me NAME"""

from argparse import ArgumentParser, BooleanOptionalAction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from rest_framework.exceptions import APIException

from accounts import placement, time_zones
from accounts.api import check_external_id
from accounts.errors import described
from accounts.management.command import MioCommand
from accounts.models import App, EndUser
from imports import dumps, intake, overview, people_intake
from imports.formats import TITLES
from imports.management.skipped_lines import tell_skipped
from imports.models import Import
from imports.people_plan import plan
from imports.types import DayOrderUnknown, Dump, NotReadable, Options
from memories.pipeline import cadence

ACTOR = "operator:import"


class Command(MioCommand):
    help = (
        "Takes in a chat history, an address book or memories: a file of "
        + ", ".join(TITLES.values())
        + ". What the user wrote is read as theirs, what others wrote as told by them; these become "
        "contacts. The same file twice adds nothing, and all of it is one change that can be undone."
    )
    user_required = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the export as the program wrote it, or the zip archive")
        parser.add_argument(
            "--me", help='who of the writers the user is, or whose memories they are ("": nobody)'
        )
        parser.add_argument("--dry-run", action="store_true", help="count, and take in nothing")
        parser.add_argument("--time-zone", help="where times have none (default: the user's own)")
        parser.add_argument(
            "--day-first",
            action=BooleanOptionalAction,
            help="dates are D/M/Y (--no-day-first: M/D/Y); default: what the whole file shows",
        )
        super().add_arguments(parser)

    def handle(
        self, *, file: str, user: str, app: str, me: str | None, dry_run: bool, time_zone: str | None,
        day_first: bool | None, json: bool, **_options: Any,
    ) -> None:  # fmt: skip
        try:
            check_external_id(user)
        except APIException as error:
            raise CommandError(f"--user: {described(error)}") from error
        held = EndUser.objects.filter(app__name=app, external_id=user).first()
        try:
            if time_zone:
                time_zones.check(time_zone)
        except ValidationError as error:
            raise CommandError(f"--time-zone: {error.messages[0]}") from error
        usual = held.zone if held else ZoneInfo(settings.TIME_ZONE)
        zone = ZoneInfo(time_zone) if time_zone else usual
        path, options = Path(file), Options(day_first)
        try:
            dump = dumps.read(path, me)
        except NotReadable as error:
            raise CommandError(f"{error} Nothing was imported.") from error
        if dump is not None:
            self._take_in(dump, me, user, app, held, dry_run=dry_run, json=json)
            return
        try:
            found = overview.look(path, zone, options, held.names if held else ())
            self._tell(found)
            unanswered = dry_run and found.asks and not me
            choice = None if unanswered else intake.choose(found, me or "")
        except NotReadable as error:
            hint = " (--day-first, --no-day-first)" if isinstance(error, DayOrderUnknown) else ""
            raise CommandError(f"{error}{hint} Nothing was imported.") from error
        guessed = found.guess.key if found.guess else ""
        figures = _figures(found, choice.me if choice else guessed)
        if dry_run or choice is None:
            self.report(json, dry_run=True, **figures)
            return
        owner, _ = App.objects.get_or_create(name=app)
        end_user = placement.first_seen(owner, user)
        import_ = Import.objects.create(
            end_user=end_user, format=found.format, total=found.messages
        )
        try:
            change = intake.begin(import_, choice, ACTOR)
            with self.bar(found.messages, "message", "imported") as bar:
                intake.load(
                    import_,
                    overview.turns(path, zone, options),
                    choice,
                    lambda read: bar.update(read - bar.n),
                )
        except NotReadable as error:
            intake.fail(import_, error)
            raise CommandError(f"{error} Undo change {import_.change} to take it back.") from error
        if import_.conflicts:
            self.stderr.write(
                f"{import_.conflicts} messages are there already as somebody else's: the file was "
                "imported before with another answer who the user is. Undo that import first."
            )
        self.report(
            json,
            **figures,
            accepted=import_.accepted,
            duplicates=import_.duplicates,
            conflicts=import_.conflicts,
            people=len(choice.people),
            change=change.pk,
        )

    def _take_in(
        self, dump: Dump, me: str | None, user: str, app: str, held: EndUser | None, *,
        dry_run: bool, json: bool,
    ) -> None:  # fmt: skip
        """Takes in people and memories, once somebody said who of them is the user."""
        tell_skipped(self, dump.skipped)
        for one in dump.owners:
            self.stderr.write(f"{one.memories:>8}  {one.key}")
        if dry_run:
            wanted = plan(held or EndUser(app=App(name=app), external_id=user), dump)
            for entry in wanted.matched:
                self.stderr.write(f"{entry.outcome:>10}  {entry.entry.name}  {entry.why or ''}")
            calls = len(wanted.memories) if _asks_model() else 0
            self.report(json, dry_run=True, **wanted.figures, model_calls=calls)
            return
        if dump.owners and me is None:
            asked = NotReadable("dump_says_not_who", owners=", ".join(o.key for o in dump.owners))
            raise CommandError(f"{asked} Nothing was imported.")
        owner, _ = App.objects.get_or_create(name=app)
        end_user = placement.first_seen(owner, user)
        done = people_intake.take_in(end_user, dump, actor=ACTOR)
        Import.note(end_user, dump.format, done.plan.counts, done.change)
        change = done.change.pk if done.change else None
        self.report(json, **done.plan.figures, change=change)

    def _tell(self, found: overview.Overview) -> None:
        """Who wrote how much, on stderr, and what would be guessed."""
        for speaker in intake.most_first(found.speakers.values()):
            guessed = found.guess is not None and found.guess.key == speaker.key
            note = f"  maybe the user ({found.guess.reason})" if guessed and found.guess else ""
            self.stderr.write(f"{speaker.messages:>8}  {speaker.name}{note}")
        tell_skipped(self, found.skipped)
        if found.day_first is not None:
            self.stderr.write(f"Dates are read as {'D/M/Y' if found.day_first else 'M/D/Y'}.")


def _asks_model() -> bool:
    """Whether a model will read what is taken in; the offline provider asks none."""
    return bool(settings.MIO_LLM != "offline")


def _figures(found: overview.Overview, me: str) -> dict[str, Any]:
    """What a file holds; ``left_out`` are the messages of those who become nobody when ``me`` is
    the user."""
    batch = cadence.longest_batch()
    return {
        "format": found.format,
        "messages": found.messages,
        "undated": found.undated,
        "left_out": found.left_out(me),
        "unreadable": found.skipped.count,
        "speakers": {one.name: one.messages for one in intake.most_first(found.speakers.values())},
        "first": found.first,
        "last": found.last,
        "day_first": found.day_first,
        "model_calls": found.calls(batch) if _asks_model() else 0,
        "model_tokens": found.model_tokens(batch) if _asks_model() else 0,
    }
