"""Messages that speak of nobody bring in hardly anybody, and few become memories."""

from collections.abc import Iterator

import pytest

from memories.types import Extraction
from tests.memories.providers.offline.talks import talk
from tools.training.by_author import UNREAD, Case, nobody

SESSION = 8  # messages that are read together


def read_sessions(writer: str, language: str) -> Iterator[tuple[list[Case], Extraction]]:
    """The messages of a writer never learned from, with what is extracted of them."""
    assert writer in UNREAD
    cases = [case for case in nobody() if case["writer"] == writer]
    for at in range(0, len(cases), SESSION):
        session = cases[at : at + SESSION]
        yield session, talk(*[case["text"] for case in session], language=language)


@pytest.mark.parametrize(("writer", "language", "most"), [("n8", "zh", 2), ("n9", "en", 3)])
def test_hardly_anybody_is_found(writer: str, language: str, most: int) -> None:
    people = [
        one.name for _, extraction in read_sessions(writer, language) for one in extraction.people
    ]
    assert len(people) <= most, people


def test_most_messages_worth_a_memory_are_stored_and_less_than_half_of_the_others() -> None:
    stored: dict[bool, list[bool]] = {True: [], False: []}
    for writer, language in (("n8", "zh"), ("n9", "en")):
        for cases, extraction in read_sessions(writer, language):
            quotes = [memory.quote for memory in extraction.memories]
            for case in cases:
                is_stored = any(q in case["text"] or case["text"] in q for q in quotes)
                stored[bool(case["type"])].append(is_stored)
    # Readers would keep 42 of the 240.
    assert sum(stored[True]) >= 33
    assert sum(stored[False]) <= 82


@pytest.mark.parametrize(
    ("about_somebody", "more"),
    [
        ("My aunt Odile has a stall at the market.", "cheese and honey, about forty sorts"),
        ("我姨妈在夜市摆摊。", "一晚上能卖两百碗"),
    ],
)
def test_a_talk_of_somebody_goes_on_for_a_while_without_naming_them(
    about_somebody: str, more: str
) -> None:
    language = "zh" if about_somebody.startswith("我") else "en"

    def is_stored(*before: str) -> bool:
        extraction = talk(*before, more, language=language)
        return more in [memory.quote for memory in extraction.memories]

    assert is_stored(about_somebody)
    assert not is_stored()
    assert not is_stored(about_somebody, "ok", "ok", "ok")
