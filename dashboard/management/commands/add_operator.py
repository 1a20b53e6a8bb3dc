"""Adds an operator: bin/mio add_operator NAME [--role R] [--only APP …]"""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management.base import CommandError

from accounts.cells import atomic
from accounts.management.command import MioCommand
from accounts.models import App
from dashboard.models import ROLES, Operator, install_roles


class Command(MioCommand):
    help = "Makes an operator of the dashboard and prints the password, which is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", choices=ROLES, default="reviewer")
        parser.add_argument(
            "--only", action="append", metavar="APP", help="sees this app only; may be repeated"
        )
        super().add_arguments(parser)

    @atomic()
    def handle(
        self, *, name: str, role: str, only: list[str] | None, json: bool, **_options: Any
    ) -> None:
        users = get_user_model().objects
        if users.filter(username=name).exists():
            raise CommandError(f"There is an operator {name!r}.")
        apps = App.objects.filter(name__in=only or [])
        if missing := set(only or []) - {app.name for app in apps}:
            raise CommandError(f"There is no app {', '.join(sorted(missing))}.")
        install_roles()
        password = secrets.token_urlsafe(12)
        user = users.create_user(name, password=password)
        user.groups.add(Group.objects.get(name=role))
        if only:
            Operator.objects.create(user=user).apps.set(apps)
        if json:
            self.report(json, name=name, role=role, password=password)
        else:
            self.stdout.write(password)
