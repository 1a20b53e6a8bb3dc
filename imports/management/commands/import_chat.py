"""bin/mio import_chat FILE --user U --me NAME"""

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
from accounts.reasons import Skipped
from imports import dumps, intake, overview, people_intake
from imports.formats import TITLES
from imports.models import Import
from imports.types import DayOrderUnknown, Dump, NotReadable

ACTOR = "operator:import"


class Command(MioCommand):
    help = (
        "Takes in a chat history, an address book or memories: a file of "
        + ", ".join(TITLES.values())
        + ". What the user wrote is read as theirs, what others wrote as told by them; these become "
        "contacts. Entries of an address book that may mean several people are left out; the "
        "dashboard and the API ask. The same file twice adds nothing, and all of it is one change "
        "that can be undone."
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
        self, *, file: str, user: str, app: str, me: str | None = None, dry_run: bool, time_zone: str | None,
        day_first: bool | None, json: bool, **_options: Any,
    ) -> None:  # fmt: skip
        try:
            check_external_id(user)
            time_zones.check(time_zone or "UTC")
        except APIException as error:
            raise CommandError(f"--user: {described(error)}") from error
        except ValidationError as error:
            raise CommandError(f"--time-zone: {error.messages[0]}") from error
        stored_user = EndUser.objects.filter(app__name=app, external_id=user).first()
        end_user = stored_user or EndUser(app=App(name=app), external_id=user)
        zone = ZoneInfo(time_zone) if time_zone else end_user.zone
        try:
            dump = dumps.read(Path(file), me)
            if dump is not None:
                self._import_people(dump, me, end_user, dry_run=dry_run, json=json)
            else:
                self._import_chat(
                    Path(file), zone, day_first, me, end_user, dry_run=dry_run, json=json
                )
        except NotReadable as error:
            hint = " (--day-first, --no-day-first)" if isinstance(error, DayOrderUnknown) else ""
            raise CommandError(f"{error}{hint} Nothing was imported.") from error

    def _import_people(
        self, dump: Dump, me: str | None, end_user: EndUser, *, dry_run: bool, json: bool
    ) -> None:
        """Imports people and memories. Raises NotReadable if nobody said which of them is the user."""
        self._list_skipped(dump.skipped)
        for key, count in dump.owners.items():
            self.stderr.write(f"{count:>8}  {key}")
        if dry_run:
            planned = people_intake.plan(end_user, dump)
            for entry in planned.matched:
                self.stderr.write(f"{entry.outcome:>10}  {entry.entry.name}  {entry.why or ''}")
            calls = len(planned.memories) if _asks_model() else 0
            self.report(json, dry_run=True, format=dump.format, **planned.counts, model_calls=calls)
            return
        if dump.owners and me is None:
            raise NotReadable("dump_says_not_who", owners=", ".join(dump.owners))
        end_user = _get_or_create(end_user)
        imported, change = people_intake.take_in(end_user, dump, actor=ACTOR)
        self.report(json, format=dump.format, **imported.counts, change=change and change.pk)

    def _import_chat(
        self, path: Path, zone: Any, day_first: bool | None, me: str | None, end_user: EndUser, *,
        dry_run: bool, json: bool,
    ) -> None:  # fmt: skip
        chat = overview.look(path, zone, day_first, end_user.names)
        self._list_writers(chat)
        if dry_run:
            chosen = chat.guess if chat.asks and not me else intake.choose(chat, me or "")
            self.report(json, dry_run=True, **_figures(chat, chosen))
            return
        user_key = intake.choose(chat, me or "")
        import_ = Import.objects.create(
            end_user=_get_or_create(end_user), format=chat.format, total=chat.messages
        )
        try:
            turns = overview.turns(path, zone, day_first)
            with self.bar(chat.messages, "message", "imported") as bar:
                intake.load(
                    import_, chat, user_key, turns, ACTOR, lambda read: bar.update(read - bar.n)
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
            **_figures(chat, user_key),
            accepted=import_.accepted,
            duplicates=import_.duplicates,
            conflicts=import_.conflicts,
            people=len(chat.people(user_key)),
            change=import_.change,
        )

    def _list_writers(self, chat: overview.Overview) -> None:
        for speaker in chat.most_first():
            guessed = chat.guess == speaker.key
            note = f"  maybe the user ({chat.guess_reason})" if guessed else ""
            self.stderr.write(f"{speaker.messages:>8}  {speaker.name}{note}")
        self._list_skipped(chat.skipped)
        if chat.day_first is not None:
            self.stderr.write(f"Dates are read as {'D/M/Y' if chat.day_first else 'M/D/Y'}.")

    def _list_skipped(self, skipped: Skipped) -> None:
        for reason in skipped.named:
            self.stderr.write(f"Left out: {reason}")
        if more := skipped.count - len(skipped.named):
            self.stderr.write(f"Left out: {more} more.")


def _get_or_create(end_user: EndUser) -> EndUser:
    owner, _ = App.objects.get_or_create(name=end_user.app.name)
    return placement.first_seen(owner, end_user.external_id)


def _asks_model() -> bool:
    """Whether a model will read what is imported; the offline provider asks none."""
    return bool(settings.MIO_LLM != "offline")


def _figures(chat: overview.Overview, me: str) -> dict[str, Any]:
    speakers = {one.name: one.messages for one in chat.most_first()}
    cost = {} if _asks_model() else {"model_calls": 0, "model_tokens": 0}
    return {**chat.figures(me), "speakers": speakers, **cost}
