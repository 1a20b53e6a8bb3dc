"""The parts of Mio that have to be ready, and what is said of one that is not.

They are asked over a connection of their own, so that a pool whose connections are all in use does
not look like a database that is gone.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Thread

from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from accounts import cells
from accounts.cells import connection
from accounts.management.schema import missing_migrations
from mio_site import cell_schema
from mio_site.still_queue import still_seconds

# Workers look at the schedules twice a minute.
LATE = timedelta(minutes=5)
TRY_AGAIN = 5.0  # seconds after which a warm-up that failed is tried again

_started = timezone.now()
# What is still to be said of each warm-up that has not ended well, by its name.
_cold: dict[str, str] = {}

log = logging.getLogger(__name__)


class Unready(Exception):
    """Why a part is not ready; ``code`` is for machines."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def own_connection() -> Iterator[BaseDatabaseWrapper]:
    """A connection to the database that belongs to no pool."""
    own = connection.copy()
    own.settings_dict["OPTIONS"].pop("pool", None)
    try:
        yield own
    finally:
        own.close()


def _database(own: BaseDatabaseWrapper) -> None:
    own.ensure_connection()


def _migrations(own: BaseDatabaseWrapper) -> None:
    if missing := missing_migrations(own):
        named = ", ".join(missing)
        raise Unready("not_migrated", f"Migrations are missing: {named}. Run manage.py migrate.")


def _worker(own: BaseDatabaseWrapper) -> None:
    """Judges the worker by overdue work, but not by work from before this process started."""
    here = (timezone.now() - _started).total_seconds()
    still = still_seconds(own)
    if min(still, here) > settings.MIO_QUEUE_STUCK_S:
        raise Unready(
            "worker_stuck",
            f"stuck for {still:.0f} s: tasks are due and none is taken; is a worker running?",
        )
    due = _moment(own, "SELECT min(next_run) FROM django_q_schedule WHERE repeats <> 0")
    if due is not None and max(due, _started) < timezone.now() - LATE:
        raise Unready(
            "no_worker", f"Maintenance waits since {due:%Y-%m-%d %H:%M} UTC: is a worker running?"
        )


def _model(own: BaseDatabaseWrapper) -> None:
    asked = [own, *(connections[cell] for cell in cell_schema.added() if not cells.is_away(cell))]
    moments = [_moment(one, "SELECT min(since) FROM memories_outage") for one in asked]
    since = min(filter(None, moments), default=None)
    if since is not None:
        raise Unready(
            "model_away", f"A model refuses whatever is asked since {since:%Y-%m-%d %H:%M} UTC."
        )


def _cells(_own: BaseDatabaseWrapper) -> None:
    """The cells beside the first one, which ``database`` is about."""
    away = [cell for cell in cells.names()[1:] if cells.is_away(cell)]
    if away:
        raise Unready("cell_away", f"These cells do not answer: {', '.join(away)}.")
    behind = [cell for cell in cell_schema.added() if missing_migrations(connections[cell])]
    if behind:
        named = ", ".join(behind)
        raise Unready("not_migrated", f"Migrations are missing in {named}. Run manage.py migrate.")


def start_warm_up(name: str, load: Callable[[], None]) -> None:
    """Calls ``load`` in a thread, until it succeeds; then the part ``warm_up`` is ready."""
    _cold[name] = "The process still loads what it reads texts with."

    def run() -> None:
        while True:
            try:
                load()
            except Exception as error:
                _cold[name] = (
                    f"{name} failed: {type(error).__name__}; see the log. It is tried again."
                )
                log.warning("%s failed", name, exc_info=True)
                time.sleep(TRY_AGAIN)
            else:
                del _cold[name]
                return
            finally:
                cells.release()

    Thread(target=run, name="warm-up", daemon=True).start()


def _warm_up(_own: BaseDatabaseWrapper) -> None:
    for problem in list(_cold.values()):
        raise Unready("cold", problem)


def _moment(own: BaseDatabaseWrapper, sql: str) -> datetime | None:
    with own.cursor() as cursor:
        cursor.execute(sql)
        moment: datetime | None = cursor.fetchone()[0]
    return moment


PARTS: dict[str, Callable[[BaseDatabaseWrapper], None]] = {
    "database": _database,
    "migrations": _migrations,
    "worker": _worker,
    "model": _model,
    "warm_up": _warm_up,
}


def parts() -> dict[str, Callable[[BaseDatabaseWrapper], None]]:
    """Each part by name, with what raises Unready where it is not ready."""
    return {**PARTS, "cells": _cells} if cells.several() else PARTS
