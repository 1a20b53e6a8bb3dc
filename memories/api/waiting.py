"""Requests that wait for the pipeline, without holding a thread or a database connection."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.utils import timezone

from accounts.api import in_thread
from accounts.scope import patient
from memories import queue
from memories.models import Work
from memories.pipeline import catch_up

# Waiting requests of one app in one process; any more are refused.
MOST = 32
# How many waiting requests do work in this process: each takes a connection of the pool and,
# offline, much of a processor. The rest is left to the workers.
AT_WORK = 4
# Seconds between checks of what others do, doubled up to the longest.
POLL, LONGEST_POLL = 0.1, 2.0

_waiting: Counter[int] = Counter()
_at_work = threading.BoundedSemaphore(AT_WORK)


class TooMany(Exception):
    """The app has as many waiting requests as are allowed."""


class OutOfTime(Exception):
    """Work is left after the time limit."""

    def __init__(self, pending: int) -> None:
        super().__init__(f"{pending} messages are still pending; they go on in the background.")


async def until_done(app_id: int, end_user_id: int, seconds: float) -> catch_up.CaughtUp:
    """Extracts and consolidates all that an end user has sent up to now, here or by the workers. A
    step that has begun is finished even if its task is cancelled. Raises TooMany, OutOfTime and
    catch_up.Postponed."""
    with _waiting_slot(app_id):
        started, until = timezone.now(), time.monotonic() + seconds
        steps, pause, handed_over = catch_up.steps(end_user_id), POLL, False
        while step := await in_thread(next, steps, None):
            progressed = await in_thread(_run_step, step)
            if progressed is None and not handed_over:
                await in_thread(queue.enqueue, "process", end_user_id)
                handed_over = True
            if time.monotonic() > until:
                raise OutOfTime(await in_thread(catch_up.pending, end_user_id))
            pause = POLL if progressed else min(2 * pause, LONGEST_POLL)
            if not progressed:
                await asyncio.sleep(pause)
        return await in_thread(catch_up.outcome, end_user_id, started)


def _run_step(step: Callable[[], object]) -> bool | None:
    """Runs the step; returns whether it did anything, None if enough others run already."""
    if not _at_work.acquire(blocking=False):
        return None
    try:
        # A model's answer is not discarded because the write of another takes long.
        with patient(Work.TIME_LIMIT.total_seconds()):
            return bool(step())
    finally:
        _at_work.release()


@contextmanager
def _waiting_slot(app_id: int) -> Iterator[None]:
    if _waiting[app_id] >= MOST:
        raise TooMany(f"{MOST} requests of this app wait already. Send it without `wait`.")
    _waiting[app_id] += 1
    try:
        yield
    finally:
        _waiting[app_id] -= 1
