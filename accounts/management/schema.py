"""Checks whether the database is in the state that the code expects."""

from functools import cache

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def missing_migrations(connection: BaseDatabaseWrapper) -> list[str]:
    """Returns the newest migration of each app that lacks it. One statement."""
    applied = MigrationRecorder(connection).applied_migrations()
    return [f"{app}.{name}" for app, name in _latest_migrations() if (app, name) not in applied]


@cache
def _latest_migrations() -> list[tuple[str, str]]:
    return MigrationLoader(None).graph.leaf_nodes()
