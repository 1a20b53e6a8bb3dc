"""How much one run of a job may still do, and how long a piece of work may take."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeLimitExceeded(Exception):
    """The work took longer than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Ends what is done in it after so long, wherever it is: in a pattern, in SQL, waiting for
    a model. Raises TimeLimitExceeded. Only in a process's main thread, where the workers of the
    queue and the commands do all they do; a request's thread is not interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimitExceeded

    outer, _ = signal.getitimer(signal.ITIMER_REAL)  # the queue's own limit for the whole task
    started = time.monotonic()
    handler = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, outer) if outer else seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer:
            left = outer - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))


class Budget:
    """What is left of a run's provider calls and written rows.

    A job spends as it works and stops at the next whole unit of work once nothing is left; a
    unit that has begun is finished, so that a small overdraft is possible and harmless.
    """

    def __init__(self, calls: int, rows: int) -> None:
        self.calls = calls
        self.rows = rows

    def spend(self, calls: int = 0, rows: int = 0) -> None:
        """Counts provider calls made and rows written."""
        self.calls -= calls
        self.rows -= rows

    @property
    def left(self) -> bool:
        """Whether another unit of work may begin."""
        return self.calls > 0 and self.rows > 0
