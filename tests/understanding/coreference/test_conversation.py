"""Whom a conversation is still about in a message that does not mean them."""

from uuid import UUID

import pytest

from understanding.coreference.discourse import staying
from understanding.types import Mention, Person

PEOPLE = {name: Person(UUID(int=n), name) for n, name in enumerate("abcdefg", start=1)}


def mentions(names: str, confidence: float = 0.9) -> list[Mention]:
    """Upper case: hardly sure."""
    return [
        Mention(PEOPLE[name.lower()], 0, 1, name, "name", 0.3 if name.isupper() else confidence)
        for name in names
    ]


@pytest.mark.parametrize(
    ("turns", "message", "reach", "expected"),
    [
        ([], "", 3, ""),
        (["a"], "", 3, "a"),
        (["a"], "", 0, ""),
        (["a", "", ""], "", 3, "a"),
        (["a", "", "", ""], "", 3, ""),
        # Meant again, so it stays anew.
        (["a", "", "a", "", ""], "", 3, "a"),
        # A turn or a message about others alone moves the talk on.
        (["a", "b"], "", 3, "b"),
        (["a"], "b", 3, ""),
        # One about somebody of the talk and others doesn't.
        (["a", "ab"], "", 3, "ab"),
        (["ab"], "b", 3, "a"),
        (["a", "ab", "b", "b"], "", 3, "ba"),
        (["a", "ab", "b", "b", "b"], "", 3, "b"),
        # A guess brings nobody in, and takes nobody out.
        (["A"], "", 3, ""),
        (["a", "B"], "", 3, "a"),
        # Nobody twice, and not a crowd.
        (["a"], "a", 3, ""),
        (["abcdefg"], "", 3, "abc"),
    ],
)
def test_who_stays(turns: list[str], message: str, reach: int, expected: str) -> None:
    found = staying([mentions(names) for names in turns], mentions(message), reach)
    assert "".join(mention.person.name for mention in found) == expected
    assert all(mention.how == "conversation" for mention in found)


def test_whoever_was_meant_longer_ago_is_less_sure() -> None:
    one, two = (staying([mentions("a"), *([[]] * ago)], [], 3)[0] for ago in (0, 2))
    assert 0.9 > one.confidence > two.confidence
    assert [str(one.reason), str(two.reason)] == [
        "still being talked about; messages since: 1",
        "still being talked about; messages since: 3",
    ]
