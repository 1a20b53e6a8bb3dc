"""Loads the demo end user, once."""

from typing import Any

from django.core.management.base import BaseCommand

from accounts.models import EndUser
from memories import demo


class Command(BaseCommand):
    help = "Load the demo end user with its bilingual conversation, if the database has no user."

    def handle(self, *args: Any, **options: Any) -> None:
        if not EndUser.objects.exists():
            demo.load()
            self.stdout.write(f"Loaded the demo end user {demo.APP}/{demo.USER}.")
