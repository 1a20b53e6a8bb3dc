"""Which words of a text may point back at somebody."""

import pytest

from understanding.coreference.anaphors import find_anaphors, read_turn
from understanding.types import Utterance


def pointing(text: str) -> list[tuple[str, str]]:
    found = find_anaphors(read_turn(Utterance("user", text), 2000))
    return [(one.text, one.group) for one in found]


@pytest.mark.parametrize(
    "text",
    [
        "吉他多少钱",
        "还有其他颜色吗",
        "尊重他人",
        "利他主义是什么",
        "发了朋友圈",
        "the show",
        "moved here",
        "what the hell",
    ],
)
def test_characters_inside_other_words_are_no_pronouns(text: str) -> None:
    assert pointing(text) == []


def test_pronouns_are_found_in_every_variety() -> None:
    assert pointing("她妈妈来了") == [("她", "personal"), ("妈妈", "noun")]
    assert pointing("佢哋成日嘈") == [("佢哋", "several")]
    assert pointing("他俩谁也不理谁") == [("他俩", "several")]
    assert pointing("shes late, theyre not") == [("she", "personal"), ("they", "several")]
    assert pointing("that guy again") == [("that guy", "noun")]
    assert pointing("那傢伙呢") == [("那家伙", "noun")]


def test_a_word_says_gender_and_number() -> None:
    (her, them) = find_anaphors(read_turn(Utterance("user", "她问他们俩"), 2000))
    assert (her.gender, her.number) == ("female", 1)
    assert (them.gender, them.number) == ("", 2)
