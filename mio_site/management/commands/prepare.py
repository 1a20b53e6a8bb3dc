"""bin/mio prepare: does what has to precede the start of web and worker of this code."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from mio_site import database


class Command(BaseCommand):
    help = (
        "Applies migrations, makes the first operator, installs the schedules. Safe to run again "
        "and by several machines at once; needs a direct connection to the database."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        database.ensure_migrated()
        call_command("ensure_operator")
        call_command("install_schedules")
