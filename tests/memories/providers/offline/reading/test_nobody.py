"""Messages that speak of nobody bring in hardly anybody."""

import pytest

from tests.memories.providers.offline.talks import talk
from tools.training.by_author import UNREAD, nobody

SESSION = 8  # messages that are read together


@pytest.mark.parametrize(("writer", "language", "most"), [("n8", "zh", 2), ("n9", "en", 3)])
def test_the_messages_of_a_writer_never_learned_from(writer: str, language: str, most: int) -> None:
    assert writer in UNREAD
    texts = [one["text"] for one in nobody() if one["writer"] == writer]
    sessions = [texts[at : at + SESSION] for at in range(0, len(texts), SESSION)]
    people = [person.name for some in sessions for person in talk(*some, language=language).people]
    assert len(people) <= most, people
