"""The time that contexts take: of each step, in the metrics, and whether it has a limit."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from prometheus_client import Histogram

from accounts import tracing

# Whether this process has loaded what contexts read; before that there is no deadline.
is_warm = False
# The steps of a context, in order; ``embedding`` is the time spent waiting for it.
STEPS = ("who", "model", "linked", "embedding", "search", "prompt")
# The outcomes of a context: whether it was searched (Injection.searched), or that it failed.
FAILED = "failed"
OUTCOMES = ("yes", "words", "late", "no", FAILED)
# For this process alone, labelled with its number: each request for /metrics reaches another
# process of a site, whose counts must not be taken for those of one.
SECONDS = Histogram(
    "mio_context_seconds",
    "Seconds that contexts took which applications asked for.",
    ["process", "outcome"],
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=None,
)


@cache
def outcomes(process: int) -> dict[str, Histogram]:
    """Returns the histograms of a process by outcome; all are created at once, since the first
    failure is an increase from 0 only if 0 was reported before."""
    return {outcome: SECONDS.labels(str(process), outcome) for outcome in OUTCOMES}


class Clock:
    """Measures the milliseconds of each step; steps of one name are added up."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.steps: dict[str, float] = defaultdict(float)

    @property
    def total_ms(self) -> float:
        return round((time.perf_counter() - self.began) * 1000, 3)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        with tracing.span(f"context {name}"):
            yield
        self.steps[name] += (time.perf_counter() - started) * 1000
