"""Starts the embedded PostgreSQL, unless DATABASE_URL names another one, and migrates the database."""

from django.conf import settings
from django.core.management import call_command
from django.db import connections

from accounts import cells
from accounts.cells import connection
from accounts.management.schema import missing_migrations
from mio_site import cell_schema
from mio_site.postgres import server
from mio_site.postgres.server import ServerError

__all__ = ["ServerError", "ensure_migrated", "ensure_running"]

ADVISORY_LOCK = 0x4D696F  # "Mio": one process prepares a database at a time


def ensure_running() -> bool:
    """Starts or joins the embedded server, if used; returns whether it started. Raises ServerError."""
    return settings.MIO_EMBEDDED_POSTGRES and server.ensure_running(settings.MIO_HOME)


def ensure_migrated() -> None:
    """Applies the migrations that the database lacks; only checks if it lacks none."""
    if not _pending():
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
        try:
            if _pending():
                call_command("migrate", interactive=False, verbosity=0)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])


def _pending() -> bool:
    """Whether a cell that answers lacks migrations."""
    return bool(missing_migrations(connection)) or any(
        missing_migrations(connections[cell])
        for cell in cell_schema.added()
        if not cells.is_away(cell)
    )
