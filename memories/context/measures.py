"""How soon contexts go out to applications, and how many without a search or not at all."""

import os
import time
from functools import cache

from prometheus_client import Histogram

from accounts.models import EndUser
from memories.context import build
from memories.context.request import ContextRequest
from memories.context.result import Trace

# What becomes of one: whether it was searched (Injection.searched), or that it failed.
FAILED = "failed"
OUTCOMES = ("yes", "words", "late", "no", FAILED)
# Of this process alone, under its number: what asks /metrics of a site meets one process or another,
# and may not take the counts of two for those of one.
SECONDS = Histogram(
    "mio_context_seconds",
    "Seconds that contexts took which applications asked for.",
    ["process", "outcome"],
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=None,
)


def measured_trace(end_user: EndUser | None, request: ContextRequest) -> Trace:
    """``build.trace``, counted with its time and outcome."""
    started, outcome = time.perf_counter(), FAILED
    try:
        traced = build.trace(end_user, request)
        outcome = traced.injection.searched
        return traced
    finally:
        _of_process(os.getpid())[outcome].observe(time.perf_counter() - started)


@cache
def _of_process(number: int) -> dict[str, Histogram]:
    """All at once: the first failure is a growth from 0 only where 0 was told before."""
    return {outcome: SECONDS.labels(str(number), outcome) for outcome in OUTCOMES}
