"""Percentiles of times."""

import statistics
from collections.abc import Sequence


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """The 50th, 95th and 99th, in the unit of ``times``."""
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return {f"p{q}_ms": round(cuts[q - 1], 3) for q in (50, 95, 99)}
