"""What stands in a message without being the user's own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understanding.statements.own_words import own_words, unquoted, without_injected


@given(st.text(alphabet="ab<>/ ", max_size=30), st.text(alphabet="xy<>/", max_size=30))
def test_a_fenced_block_disappears_whatever_stands_around_it(around, inside):
    text = f"{around}<mio-memory>{inside}SECRET</mio-memory>{around}"
    assert without_injected(text) == around * 2
    assert "SECRET" not in own_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "ours<mio-memory>SECRET",
        "ours<mio-memory SECRET",
        "ours<mio-memory>a<MIO-memory>b</mio-memory>SECRET</mio-memory>",
        "ours</mio-memory>",
    ],
)
def test_nested_and_cut_off_blocks_disappear_whole(text):
    assert without_injected(text) == "ours"
    assert own_words(text).rstrip() == "ours"


@given(st.text(alphabet='ab<>/`~\n>“”" -!', max_size=60))
def test_what_is_blanked_leaves_every_other_character_in_its_place(text):
    for left in (own_words(text), unquoted(text)):
        assert len(left) == len(text)
        assert all(kept in (" ", given) for kept, given in zip(left, text, strict=True))


def test_a_short_quotation_is_the_users_own_words_unless_they_must_be_unquoted():
    text = "我说“忘掉它”的时候"
    assert own_words(text) == text
    assert unquoted(text) == "我说     的时候"
