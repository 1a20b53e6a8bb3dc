"""What the words of a text are, for storing and for asking."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.search.tokens import LONGEST, own, query_weights, tokenise
from memories.types import AROUND


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Anna was running in the park", "run parks"),
        ("歐陽娜娜彈大提琴", "欧阳娜娜 弹 大提琴"),
        ("我在南京市长江大桥旁边开会", "长江大桥"),
        ("小红买了ＩＰＨＯＮＥ", "iphone"),
        ("We met on 2024-05-07", "5"),
        ("他身高175cm", "175厘米"),
        ("生日是03月09日", "3月9号"),
        ("Zoë's café", "zoe cafe"),
    ],
)
def test_a_document_is_found_by_the_same_words_in_another_form(stored: str, asked: str) -> None:
    assert set(query_weights(asked)) <= set(tokenise(stored))


@pytest.mark.parametrize(
    ("one", "other"),
    [("我老妈退休了", "母亲"), ("my mum retired", "妈妈"), ("我们老板很忙", "boss")],
)
def test_a_relative_is_the_same_under_every_name(one: str, other: str) -> None:
    roles = {token for token in query_weights(other) if token.startswith("role:")}
    assert roles
    assert roles & set(tokenise(one))


def test_an_attribute_is_found_by_its_other_words_and_in_the_other_language() -> None:
    assert set(query_weights("她的家乡在哪里")) & set(tokenise("She grew up in Leeds"))
    assert set(query_weights("手机号是多少")) & set(tokenise("联系方式：13900000000"))


def test_only_a_question_for_a_time_asks_for_sentences_that_have_one() -> None:
    assert "has:time" in tokenise("We moved last week")
    assert "has:time" not in tokenise("We like tea")
    assert "has:time" in query_weights("When did they move?")
    assert "has:time" not in query_weights("Where did they move last week?")


@pytest.mark.parametrize("before", ["我叫", "她是", "昨天和", "他们说"])
def test_an_unknown_name_gives_the_same_tokens_wherever_it_stands(before: str) -> None:
    name = "柒梓谌"
    assert set(query_weights(name)) <= set(tokenise(f"{before}{name}。"))


@pytest.mark.parametrize("text", ["", "  ", "的了吗", "what is the", "！？", "\u200d"])
def test_a_text_without_content_has_no_words(text: str) -> None:
    assert query_weights(text) == {}


def test_repeats_count_in_documents_and_not_in_queries() -> None:
    assert tokenise("tea tea tea").count("tea") == 3
    assert list(query_weights("tea tea tea")) == ["tea"]


def test_a_number_counts_once_and_a_date_beside_its_parts() -> None:
    assert tokenise("Room 42") == ["room", "42"]
    assert tokenise("Room 42-43") == ["room", "42-43", "42", "43"]


def test_question_words_stay_in_documents_and_leave_queries() -> None:
    assert "谁" in tokenise("谁动了奶酪")
    assert query_weights("谁动了奶酪") == query_weights("动了奶酪")


def test_what_was_said_around_is_marked_and_can_be_taken_off_again() -> None:
    tokens = tokenise("Yes, yesterday", ["Did you buy the violin?"])
    assert AROUND + "violin" in tokens
    assert "violin" not in tokens
    assert own(tokens) == tokenise("Yes, yesterday")


@given(st.text(max_size=80))
def test_any_text_gives_short_tokens_without_space_or_the_mark(text: str) -> None:
    for token in tokenise(text):
        assert 0 < len(token) <= LONGEST
        assert not any(char.isspace() or char == "\0" for char in token)
        assert not token.startswith(AROUND)


def test_threads_get_the_same_tokens() -> None:
    texts = [f"她在第{n}小学教书, running {n} marathons" for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenise, texts)) == [tokenise(text) for text in texts]
