"""manage.py migrate: Django's, on the rows of all end users, and row-level security after it."""

from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from accounts import citus, row_security, scope


class Command(migrate.Command):
    def handle(self, *args: Any, database: str, **options: Any) -> None:
        with scope.all_users_of_session(connections[database]):
            super().handle(*args, database=database, **options)
            row_security.protect(connections[database])
            if row_security.login_of(connections[database]).apart:
                citus.bind_triggers(connections[database])
