"""Baselines: the turns themselves, the newest first until the budget is spent."""

from collections.abc import Sequence

from benchmark.scoring import BUDGET, tokens
from benchmark.system import Message, Turn


class LastTurns:
    """The last twenty turns."""

    MOST: int | None = 20

    def open(self, user: str) -> None:
        self._turns: list[Message] = []

    def add(self, messages: Sequence[Message]) -> None:
        self._turns += messages

    def settle(self) -> None:
        pass

    def context(self, message: str, history: Sequence[Turn]) -> str:
        return shown(self._turns[-self.MOST :] if self.MOST else self._turns)

    def close(self) -> None:
        pass


class AllTurns(LastTurns):
    """All turns, as far as the budget goes."""

    MOST = None


def shown(turns: Sequence[Message]) -> str:
    """The newest of the turns that fit in the budget, in order of time."""
    lines: list[str] = []
    left = BUDGET
    for turn in reversed(turns):
        line = f"[{turn['created_at'][:10]}] {turn['role']}: {turn['content']}"
        left -= tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))
