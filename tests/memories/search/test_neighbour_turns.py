"""What was said around a memory."""

from datetime import timedelta

from memories.search.context_tokens import PAUSE, around
from memories.types import Turn
from tests.factories import SOME_DAY


def turn(number: int, minutes: float = 0, session: str = "") -> Turn:
    return Turn(number, "user", f"turn {number}", SOME_DAY + timedelta(minutes=minutes), session)


def test_the_turns_beside_those_of_a_memory_are_around_it() -> None:
    turns = [turn(n, n) for n in range(6)]
    assert around(turns, {2, 3}) == ["turn 1", "turn 4"]
    assert around(turns, {0}) == ["turn 1"]
    assert around(turns, {5}) == ["turn 4"]
    assert around(turns, {9}) == []


def test_a_pause_ends_a_conversation() -> None:
    long = PAUSE.total_seconds() / 60 + 1
    assert around([turn(0), turn(1, long), turn(2, long)], {1}) == ["turn 2"]


def test_another_session_is_another_conversation() -> None:
    turns = [turn(0, session="a"), turn(1, session="b"), turn(2, session="b")]
    assert around(turns, {1}) == ["turn 2"]
