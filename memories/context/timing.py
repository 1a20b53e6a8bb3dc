"""What the steps of an injection cost."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from accounts import tracing
from accounts.cells import connection

# Whether this process has loaded what contexts read; before that no deadline holds.
is_warm = False
NAMES = ("who", "model", "linked", "embedding", "search", "prompt")


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
