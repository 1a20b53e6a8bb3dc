"""Django's PostgreSQL backend, with a guard before every statement."""

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base, operations

from accounts import tracing
from accounts.scope import SETTINGS, guard


class DatabaseOperations(operations.DatabaseOperations):
    def last_executed_query(self, *args: Any) -> Any:
        """What was asked for, without the scope that went along."""
        sent = super().last_executed_query(*args)
        return SETTINGS.sub("", sent) if sent else sent


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.MIO_TRACING:
            self.execute_wrappers.append(tracing.statement)
        self.execute_wrappers.append(guard)
