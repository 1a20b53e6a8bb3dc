"""The user's own ways to mean somebody: found whole, and only those that tell one person apart."""

from uuid import uuid4

import pytest

from contacts.own_references import is_telling
from understanding import certainty
from understanding.people import references
from understanding.types import Entry, Person

BARBER = Person(uuid4(), "Marco")
FATHER = Person(uuid4(), "沈国梁")


def entries(person: Person, *phrases: str) -> list[Entry]:
    return [Entry(key, person) for key in references.keys_of(phrases)]


def found(text: str, *known: list[Entry]) -> list[tuple[str, str]]:
    """Who is found in a text by the keys that it holds, and by which words."""
    keys = references.keys_in(text)
    reached = [entry for each in known for entry in each if entry.key.key in keys]
    return [(one.person.name, one.text) for one in references.find(text, reached)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ask The Guy who  tunes my piano.", "The Guy who  tunes my piano"),
        ("昨天the guy who tunes my piano又迟到了", "the guy who tunes my piano"),
        ("那个教我游泳的大姐又涨价了", "教我游泳的大姐"),
        ("教我遊泳的大姐", "教我遊泳的大姐"),
        ("gramps says hi", "gramps"),
    ],
)
def test_a_phrase_is_found_whole_in_any_spelling(text: str, words: str) -> None:
    known = entries(BARBER, "the guy who tunes my piano", "教我游泳的大姐", "gramps")
    assert found(text, known) == [("Marco", words)]


@pytest.mark.parametrize(
    "text", ["the guy who tunes my pianola", "the guy next door", "grampson", "教我游泳", ""]
)
def test_a_part_of_a_phrase_or_a_longer_word_is_nobody(text: str) -> None:
    known = entries(BARBER, "the guy who tunes my piano", "教我游泳的大姐", "gramps")
    assert found(text, known) == []


def test_phrases_with_one_beginning_are_all_found() -> None:
    phrases = [f"the guy with the {thing}" for thing in ("dog", "beard", "van", "drum kit")]
    known = entries(BARBER, *phrases)
    assert len(known) == 1
    assert all(found(f"Is {phrase} in?", known) == [("Marco", phrase)] for phrase in phrases)


def test_the_longer_phrase_wins_and_who_shares_one_is_less_sure() -> None:
    known = [entries(BARBER, "老寿星"), entries(FATHER, "老寿星家的保姆", "老寿星")]
    assert found("老寿星家的保姆走了", *known) == [("沈国梁", "老寿星家的保姆")]
    both = references.find("老寿星好吗", [*known[0], *known[1]])
    assert {one.person for one in both} == {BARBER, FATHER}
    assert all(one.confidence < certainty.REFERENCE for one in both)


@pytest.mark.parametrize(
    ("phrase", "telling"),
    [
        ("老寿星", True),
        ("教我游泳那大姐", True),
        ("the guy who tunes my piano", True),
        ("佟女士", True),
        ("gramps", True),
        ("他", False),
        ("那个人", False),
        ("她老公", False),
        ("my friend", False),
        ("the old man", False),
        ("school", False),
        ("学校", False),
        ("朋友", False),
        ("", False),
        ("!!!", False),
        ("x" * 80, False),
    ],
)
def test_pronouns_and_common_words_mean_nobody_in_particular(phrase: str, telling: bool) -> None:
    assert is_telling(phrase) is telling
