"""Clients that wait for the pipeline: they hold no thread and no connection to the database."""

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

# Of one app, in one process. More clients than that wait for the workers, not for us.
MOST = 32
# So many of those who wait have this process do the work itself: each takes a connection of the
# pool and, offline, much of a processor. What is above them is left to the workers.
AT_WORK = 4
# Seconds between looks at what others do, doubled up to the longest.
POLL, LONGEST_POLL = 0.1, 2.0

_waiting: Counter[int] = Counter()
_at_work = threading.BoundedSemaphore(AT_WORK)


class TooMany(Exception):
    """As many clients of the app wait as may."""


async def until_done(app_id: int, end_user_id: int, seconds: float) -> catch_up.CaughtUp:
    """Extracts and consolidates all that an end user has said up to now, here or by the workers. A
    step that has begun is finished even when its task is cancelled. Raises TooMany,
    catch_up.OutOfTime and catch_up.Postponed."""
    with _place(app_id):
        started, until = timezone.now(), time.monotonic() + seconds
        steps, pause, handed_over = catch_up.steps(end_user_id), POLL, False
        while step := await in_thread(next, steps, None):
            progressed = await in_thread(_work, step)
            if progressed is None and not handed_over:
                await in_thread(queue.enqueue, "process", end_user_id)
                handed_over = True
            if time.monotonic() > until:
                raise catch_up.OutOfTime(await in_thread(catch_up.pending, end_user_id))
            pause = POLL if progressed else min(2 * pause, LONGEST_POLL)
            if not progressed:
                await asyncio.sleep(pause)
        return await in_thread(catch_up.outcome, end_user_id, started)


def _work(step: Callable[[], object]) -> bool | None:
    """Whether the step did anything; None when enough others are at work."""
    if not _at_work.acquire(blocking=False):
        return None
    try:
        # What a model has read is not thrown away because somebody's write takes long.
        with patient(Work.TIME_LIMIT.total_seconds()):
            return bool(step())
    finally:
        _at_work.release()


@contextmanager
def _place(app_id: int) -> Iterator[None]:
    if _waiting[app_id] >= MOST:
        raise TooMany(f"{MOST} requests of this app wait already. Send it without `wait`.")
    _waiting[app_id] += 1
    try:
        yield
    finally:
        _waiting[app_id] -= 1
