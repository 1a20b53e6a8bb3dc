"""Waiting for what real processes do."""

import time
from collections.abc import Callable


def eventually(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether it comes true within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
