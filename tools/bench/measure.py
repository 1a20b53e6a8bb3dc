"""Times of calls, and their percentiles."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence

from tqdm import tqdm


def timed(calls: Iterable[Callable[[], object]]) -> list[float]:
    """The milliseconds that each call takes, one after the other."""
    times = []
    for call in tqdm(calls, unit="call", leave=False, disable=None):  # to a terminal only
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1000)
    return times


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """The 50th, 95th and 99th, in the unit of ``times``."""
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return {f"p{q}_ms": round(cuts[q - 1], 3) for q in (50, 95, 99)}
