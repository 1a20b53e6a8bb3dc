"""Removes an operator: bin/mio remove_operator NAME"""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from accounts.management.command import MioCommand


class Command(MioCommand):
    help = "Ends the sessions of an operator, who can't sign in any more; what they did keeps the name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        super().add_arguments(parser)

    def handle(self, *, name: str, json: bool, **_options: Any) -> None:
        if not get_user_model().objects.filter(username=name).update(is_active=False):
            raise CommandError(f"There is no operator {name!r}.")
        self.report(json, removed=name)
