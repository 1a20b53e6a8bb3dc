"""Each row of a file of patterns earns its place: without it, the function that acts on the rows
answers each of its examples otherwise. Files join as their rows get examples."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from memories.providers.offline.reading import facts
from understanding.dates import relative_dates
from understanding.text import is_chinese

SAID = datetime(2025, 6, 4, 9, 30, tzinfo=UTC)


def _dates(text: str) -> Any:
    return relative_dates.find_dates(text, SAID, is_chinese(text))


# The module, the name of its rows, and the function that acts on them.
FILES: Sequence[tuple[ModuleType, str, Callable[[str], Any]]] = [
    (facts, "_FACTS", facts.stated),
    (relative_dates, "_DATES", _dates),
]
ROWS = [(module, name, act, row) for module, name, act in FILES for row in getattr(module, name)]


@pytest.mark.parametrize(("module", "name", "act", "row"), ROWS)
def test_a_row_changes_the_answer_to_its_examples_and_to_no_other(
    module: ModuleType,
    name: str,
    act: Callable[[str], Any],
    row: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yes, no = ([row[of]] if isinstance(row[of], str) else row[of] for of in ("yes", "no"))
    with_row = [act(text) for text in (*yes, *no)]
    others = [other for other in getattr(module, name) if other is not row]
    monkeypatch.setattr(module, name, others)
    without_row = [act(text) for text in (*yes, *no)]
    changed = [a != b for a, b in zip(with_row, without_row, strict=True)]
    assert changed == [True] * len(yes) + [False] * len(no)
