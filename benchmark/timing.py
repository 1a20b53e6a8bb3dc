"""What a system costs: milliseconds a context, its tokens, milliseconds a message taken in."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from benchmark.scoring import tokens


class Clock:
    def __init__(self) -> None:
        self._contexts: list[float] = []
        self._tokens: list[int] = []
        self._adding = 0.0

    @contextmanager
    def asking(self) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._contexts.append((time.perf_counter() - started) * 1000)

    @contextmanager
    def adding(self) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._adding += time.perf_counter() - started

    def count(self, text: str) -> None:
        self._tokens.append(tokens(text))

    def figures(self) -> dict[str, Any]:
        """``ms`` and ``tokens`` of a context in the middle, and of the slowest of twenty."""
        if not self._contexts:
            return {}
        slow = sorted(self._contexts)[int(0.95 * (len(self._contexts) - 1))]
        return {
            "contexts": len(self._contexts),
            "ms": round(median(self._contexts), 2),
            "ms_p95": round(slow, 2),
            "tokens": round(sum(self._tokens) / len(self._tokens)),
            "adding_s": round(self._adding, 1),
        }
