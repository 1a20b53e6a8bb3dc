"""bin/mio forget_user --user U --yes"""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from accounts.management.command import MioCommand
from memories.erasure import erase
from memories.erasure.receipts import By


class Command(MioCommand):
    help = "Erases an end user for good: messages, memories, contacts, changes, everything."
    user_required = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="really")
        super().add_arguments(parser)

    def handle(self, *, user: str, app: str, yes: bool, json: bool, **_options: Any) -> None:
        end_user = self.find_user(app, user)
        if not yes:
            raise CommandError(f"This erases all of {user!r} and can't be undone. Add --yes.")
        gone = erase.forget_everything(end_user, By("operator:forget_user"))
        self.report(json, **asdict(gone))
