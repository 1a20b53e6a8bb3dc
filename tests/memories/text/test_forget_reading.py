"""What a sentence asks to forget, and how much of it is sure."""

import pytest

from memories.text.forget_reading import EVERYTHING, Reading, read


@pytest.mark.parametrize(
    ("everything", "last", "means"),
    [
        (EVERYTHING + 0.1, 0.1, "everything"),
        (EVERYTHING - 0.1, 0.3, "unclear"),
        (0.1, 0.6, "last"),
        (0.3, 0.3, "named"),
    ],
)
def test_all_is_meant_only_where_it_is_sure(everything: float, last: float, means: str) -> None:
    scope = {"everything": everything, "last": last, "named": 1 - everything - last}
    assert Reading(1.0, scope).means == means


@pytest.mark.parametrize(
    "text", ["Please forget this: my salary", "My salary, please forget that", "Forget my salary"]
)
def test_what_is_named_stands_in_the_clause_that_asks_before_it_or_behind_a_colon(
    text: str,
) -> None:
    assert "salary" in read(text).topic
