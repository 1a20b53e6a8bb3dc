"""What contexts cost: the steps of one, and for metrics, how soon they go out and how many without a
search or not at all."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from prometheus_client import Histogram

from accounts import tracing
from accounts.cells import connection

# Whether this process has loaded what contexts read; before that no deadline holds.
is_warm = False
NAMES = ("who", "model", "linked", "embedding", "search", "prompt")
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


def since(started: float) -> float:
    """The milliseconds since a ``time.perf_counter``."""
    return round((time.perf_counter() - started) * 1000, 3)


@dataclass(frozen=True, slots=True)
class Step:
    """``name`` is one of NAMES; ``embedding`` is what was left of it to wait for."""

    name: str
    ms: float
    statements: int


@dataclass
class Clock:
    """The time and the statements of each step."""

    steps: list[Step] = field(default_factory=list)
    statements: int = 0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        before, started = self.statements, time.perf_counter()
        with tracing.span(f"context {name}"), connection.execute_wrapper(self._counted):
            yield
        self.steps.append(Step(name, since(started), self.statements - before))

    def split(self, of: str, name: str, ms: float) -> None:
        """Counts ``ms`` of the last step, ``of``, as a step before it."""
        last = self.steps.pop()
        self.steps += [Step(name, round(ms, 3), 0), Step(of, last.ms - ms, last.statements)]

    def by_name(self) -> list[Step]:
        """What the steps of each name took together, in the order of their first."""
        summed: dict[str, Step] = {}
        for step in self.steps:
            held = summed.get(step.name, Step(step.name, 0.0, 0))
            summed[step.name] = Step(
                step.name, held.ms + step.ms, held.statements + step.statements
            )
        return list(summed.values())

    def _counted(self, execute: Callable[..., Any], *args: Any) -> Any:
        self.statements += 1
        return execute(*args)


@cache
def outcomes_of(process: int) -> dict[str, Histogram]:
    """The histograms of a process by outcome; all at once, since the first failure is a growth from 0
    only where 0 was told before."""
    return {outcome: SECONDS.labels(str(process), outcome) for outcome in OUTCOMES}
