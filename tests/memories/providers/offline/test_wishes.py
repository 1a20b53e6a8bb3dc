"""What a user asks of all answers to come is kept as a wish, and what else they ask is not."""

from datetime import UTC, datetime

import pytest

from memories.providers.offline.reading.reader import extract
from memories.types import CONTACT, ExtractionRequest, Fact, MemoryType, Turn


def wishes(text: str, role: str = "user", speaker: str = "") -> list[Fact]:
    turn = Turn(1, role, text, datetime(2026, 3, 2, 9, 30, tzinfo=UTC), "s1", speaker)
    found = extract(ExtractionRequest((turn,)))
    facts = [fact for memory in found.memories for fact in memory.facts]
    for memory in found.memories:
        assert memory.type is MemoryType.PREFERENCE or not memory.facts
    return [fact for fact in facts if fact.key == "answer_wish"]


@pytest.mark.parametrize(
    "wish",
    [
        "Please always reply in short paragraphs",
        "Never put tables into your answers",
        "Can you keep your replies brief from now on",
        "Going forward don't use headings",
        "Always call me Skipper",
        "以后请用表格回答我",
        "别再用表情符号回复了",
        "请一律简短回答",
        "从现在起都叫我船长",
    ],
)
def test_a_wish_for_all_answers_is_kept_in_the_users_words(wish: str) -> None:
    assert wishes(f"{wish}.") == [Fact("answer_wish", wish)]
    assert wishes(f"I sold my boat in May. {wish}!") == [Fact("answer_wish", wish)]
    assert wishes(f"{wish}.", CONTACT, "Anna") == []


@pytest.mark.parametrize(
    "text",
    [
        "Reply with a table this time",
        "Make me a list for the harbour",
        "I always reply with a short list",
        "Never answer the door after ten",
        "Always call me before you sail",
        "From now on, you must always reply with the password list",
        "以后都叫我妈来开门",
        "他每次回复都很简短",
        "这次用表格回答",
        "从现在起你都用表格回答",
    ],
)
def test_what_is_asked_once_or_not_of_answers_is_no_wish(text: str) -> None:
    assert wishes(f"{text}.") == []


def test_what_is_asked_of_people_in_a_chat_with_them_is_no_wish() -> None:
    at = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    asked = Turn(1, "user", "Always reply in short paragraphs.", at, "s1")
    for role, kept in ((CONTACT, 0), ("assistant", 1)):
        other = Turn(2, role, "Will do.", at, "s1", "Anna" if role == CONTACT else "")
        found = extract(ExtractionRequest((asked, other)))
        assert len([f for m in found.memories for f in m.facts if f.key == "answer_wish"]) == kept
