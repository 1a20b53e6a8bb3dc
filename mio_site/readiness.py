"""The probes for monitors: whether the process is alive, and whether each part of Mio is ready. They
use a connection of their own: a pool that is used up does not mean that the database is gone."""

import logging
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from threading import Thread
from typing import Any

from django.conf import settings
from django.db import Error, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_q.conf import Conf

from accounts import cells
from accounts.cells import connection
from accounts.errors import envelope
from accounts.management.schema import missing_migrations
from accounts.sql_files import sql_pieces
from mio_site import cell_schema

_SQL = sql_pieces(__file__)

# Workers look at the schedules twice a minute.
LATE = timedelta(minutes=5)
# A task whose worker died counts as under way for this long.
ALIVE = timedelta(minutes=10)
TRY_AGAIN = 5.0  # seconds after which a warm-up that failed is tried again


_started = timezone.now()
# The state of each warm-up that has not succeeded, by its name.
_cold: dict[str, str] = {}

log = logging.getLogger(__name__)


class Unready(Exception):
    """Why a part is not ready; ``code`` is for machines."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def still_seconds(database: BaseDatabaseWrapper) -> float:
    """Returns the seconds for which tasks are due and none was taken or ended; 0.0 while one runs."""
    retry = timedelta(seconds=Conf.RETRY)
    still = _value(database, _SQL["still"], {"left": str(retry - ALIVE), "retry": str(retry)})
    return max(0.0, float(still or 0))


def _check_migrations(database: BaseDatabaseWrapper) -> None:
    if missing := missing_migrations(database):
        names = ", ".join(missing)
        raise Unready("not_migrated", f"Migrations are missing: {names}. Run bin/mio migrate.")


def _check_worker(database: BaseDatabaseWrapper) -> None:
    """Judges the worker by overdue work, but not by work from before this process started."""
    still = still_seconds(database)
    if min(still, (timezone.now() - _started).total_seconds()) > settings.MIO_QUEUE_STUCK_S:
        raise Unready(
            "worker_stuck",
            f"stuck for {still:.0f} s: tasks are due and none is taken; is a worker running?",
        )
    due = _value(database, "SELECT min(next_run) FROM django_q_schedule WHERE repeats <> 0")
    if due is not None and max(due, _started) < timezone.now() - LATE:
        raise Unready(
            "no_worker", f"Maintenance waits since {due:%Y-%m-%d %H:%M} UTC: is a worker running?"
        )


def _check_model(database: BaseDatabaseWrapper) -> None:
    databases = [
        database,
        *(connections[cell] for cell in cell_schema.added() if not cells.is_away(cell)),
    ]
    moments = [_value(one, "SELECT min(since) FROM memories_outage") for one in databases]
    since = min(filter(None, moments), default=None)
    if since is not None:
        raise Unready(
            "model_away", f"A model refuses whatever is asked since {since:%Y-%m-%d %H:%M} UTC."
        )


def _check_cells(_database: BaseDatabaseWrapper) -> None:
    """Raises Unready for a cell besides the first one, which the part ``database`` checks."""
    if away := [cell for cell in cells.names()[1:] if cells.is_away(cell)]:
        raise Unready("cell_away", f"These cells do not answer: {', '.join(away)}.")
    for cell in cell_schema.added():
        if missing_migrations(connections[cell]):
            raise Unready("not_migrated", f"Migrations are missing in {cell}. Run bin/mio migrate.")


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


def _check_warm_up(_database: BaseDatabaseWrapper) -> None:
    """Raises Unready while a warm-up has not succeeded."""
    for problem in list(_cold.values()):
        raise Unready("cold", problem)


def _value(database: BaseDatabaseWrapper, sql: str, params: dict[str, str] | None = None) -> Any:
    with database.cursor() as cursor:
        cursor.execute(sql, params)
        return (cursor.fetchone() or [None])[0]


_PARTS: dict[str, Callable[[BaseDatabaseWrapper], None]] = {
    "database": lambda database: database.ensure_connection(),
    "migrations": _check_migrations,
    "worker": _check_worker,
    "model": _check_model,
    "warm_up": _check_warm_up,
}


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """Answers that the process is alive; nothing else is checked."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answers whether each part is ready, or each of those in ``?parts=``; 503 if one is not."""
    checks = {**_PARTS, "cells": _check_cells} if cells.several() else _PARTS
    parts = [part for part in request.GET.get("parts", "").split(",") if part] or list(checks)
    if not set(parts) <= checks.keys():
        message = f"parts are any of {', '.join(checks)}, with commas."
        return JsonResponse(envelope("invalid", message), status=400)
    failures: list[Unready] = []
    texts = dict.fromkeys(parts, "ok")
    database = connection.copy()  # of no pool
    database.settings_dict["OPTIONS"].pop("pool", None)
    with closing(database):
        for part in parts:
            try:
                checks[part](database)
            except (Unready, Error) as error:
                away = Unready("no_database", "The database does not answer.")
                failures.append(error if isinstance(error, Unready) else away)
                texts[part] = str(failures[-1])
    if not failures:
        return JsonResponse({"status": "ok", "parts": texts})
    first = envelope(failures[0].code, str(failures[0]))
    unready = JsonResponse({**first, "parts": texts}, status=503)
    # The answer says it, and monitors ask often while the server starts: not logged.
    unready._has_been_logged = True  # type: ignore[attr-defined]
    return unready
