"""How much one run of a job may still do, and how long a piece of work may take."""

import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeLimitExceeded(Exception):
    """The work took longer than its time limit."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeLimitExceeded in the block after ``seconds``: in a pattern, in SQL, waiting for a
    model. Outside the main thread, it waits for the end of a call into C or the database."""
    main = threading.current_thread() is threading.main_thread()
    with _alarm(seconds) if main else _interruption(seconds):
        yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def expire(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimitExceeded

    outer_limit, _ = signal.getitimer(signal.ITIMER_REAL)  # the queue's own, for the whole task
    started = time.monotonic()
    outer_handler = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, outer_limit) if outer_limit else seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, outer_handler)
        if outer_limit:
            left = outer_limit - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))


@contextmanager
def _interruption(seconds: float) -> Iterator[None]:
    """Has the interpreter raise TimeLimitExceeded in this thread, which gets no signals."""
    thread, lock, ended = ctypes.c_ulong(threading.get_ident()), threading.Lock(), False
    interrupt = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def expire() -> None:
        with lock:
            if not ended:
                interrupt(thread, ctypes.py_object(TimeLimitExceeded))

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            ended = True
            interrupt(thread, None)  # cancels it: the thread does other work next
        timer.cancel()


class Budget:
    """The provider calls and row writes that a run has left. A unit of work that has begun is
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
