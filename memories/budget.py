"""How much one run of a job may still do, and how long a piece of work may take."""

import ctypes
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
    """Raises TimeLimitExceeded in what is done in it after so long: in a pattern, in SQL, waiting for
    a model. In another than the process's main thread a call into C or the database is waited for."""
    main = threading.current_thread() is threading.main_thread()
    with _alarm(seconds) if main else _interruption(seconds):
        yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
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


@contextmanager
def _interruption(seconds: float) -> Iterator[None]:
    """A thread gets no signals; the interpreter can be told to raise in it."""
    thread, ending, ended = ctypes.c_ulong(threading.get_ident()), threading.Lock(), False
    interrupt = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def over() -> None:
        with ending:
            if not ended:
                interrupt(thread, ctypes.py_object(TimeLimitExceeded))

    timer = threading.Timer(seconds, over)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with ending:
            ended = True
            interrupt(thread, None)  # the thread's next work is not this one's
        timer.cancel()


class Budget:
    """What is left of a run's provider calls and written rows. A unit of work that has begun is
    finished, so a small overdraft is possible."""

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
