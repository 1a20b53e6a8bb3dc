"""Each row of a file of patterns earns its place: without it, the function that acts on the rows
answers its example otherwise. Files join as their rows get examples."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from understanding.dates import relative_dates
from understanding.text import is_chinese

SAID = datetime(2025, 6, 4, 9, 30, tzinfo=UTC)


def _dates(text: str) -> Any:
    return relative_dates.find_dates(text, SAID, is_chinese(text))


# The module, the name of its rows, and the function that acts on them.
FILES: Sequence[tuple[ModuleType, str, Callable[[str], Any]]] = [
    (relative_dates, "_DATES", _dates),
]
ROWS = [(module, name, act, row) for module, name, act in FILES for row in getattr(module, name)]


@pytest.mark.parametrize(("module", "name", "act", "row"), ROWS)
def test_a_row_changes_the_answer_to_its_example_and_to_no_other(
    module: ModuleType,
    name: str,
    act: Callable[[str], Any],
    row: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    examples = (row["yes"], row["no"])
    with_row = [act(text) for text in examples]
    others = [other for other in getattr(module, name) if other is not row]
    monkeypatch.setattr(module, name, others)
    without_row = [act(text) for text in examples]
    assert [a == b for a, b in zip(with_row, without_row, strict=True)] == [False, True]
