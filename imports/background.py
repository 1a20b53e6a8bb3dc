"""Tasks of the queue: each takes ids and may run twice."""

import time

from accounts.fair_queue import put
from accounts.scope import all_users
from imports import uploads
from imports.models import Import

# Seconds after which an import leaves the worker to others for a while.
TURN = 300.0


def enqueue(task: str, import_: Import) -> None:
    """Queues a function of this module, in the turn of the import's end user."""
    put(f"imports.background.{task}", str(import_.pk), end_user_id=import_.end_user_id)


@all_users()
def look(import_id: str) -> None:
    """Looks through a file that was uploaded."""
    if (import_ := _of(import_id, Import.State.UPLOADED)) is not None:
        uploads.look(import_)


@all_users()
def take_in(import_id: str) -> None:
    """Takes in a file, in as many turns as it needs."""
    import_ = _of(import_id, Import.State.RUNNING)
    if import_ is not None and not uploads.take_in(import_, time.monotonic() + TURN):
        enqueue("take_in", import_)


def _of(import_id: str, state: str) -> Import | None:
    rows = Import.objects.select_related("end_user__app")
    return rows.filter(pk=import_id, state=state).first()
