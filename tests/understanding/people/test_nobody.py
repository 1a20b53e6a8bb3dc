"""What is no person's name is hardly ever taken for one."""

from collections.abc import Iterator

import pytest

from tools.training.by_author import UNREAD, nobody
from understanding.people.person_tagger import person_spans, recurring


def messages(writer: str) -> list[str]:
    return [one["text"] for one in nobody() if one["writer"] == writer]


def names(texts: list[str]) -> Iterator[str]:
    again = recurring(texts)
    for text in texts:
        for one in person_spans(text, recurring_names=again):
            if one.kind == "name":
                yield text[one.start : one.end]


@pytest.mark.parametrize(("writer", "most"), [("n8", 12), ("n9", 14)])
def test_messages_of_a_writer_never_learned_from_that_speak_of_nobody(
    writer: str, most: int
) -> None:
    assert writer in UNREAD
    texts = messages(writer)
    assert len(texts) == 120
    assert len(found := list(names(texts))) <= most, found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("她的邮箱是wei_chen88@example.com", []),
        ("see https://www.example.org/Mary/Jones", []),
        ("I asked Mary to write to mary.jones@example.org", ["Mary"]),
        ("新买的Lyra60拍照不错", []),
        ("the account is called frieda_lang", []),
        ("我儿子Tom3岁了", ["Tom"]),
    ],
)
def test_what_stands_in_an_address_or_is_glued_to_a_number_is_no_name(
    text: str, expected: list[str]
) -> None:
    assert list(names([text])) == expected


@pytest.mark.parametrize("text", ["ta. the kettle was a good shout", "ta very much"])
def test_a_greeting_is_no_name(text: str) -> None:
    assert list(names([text])) == []


def test_a_given_name_goes_on_with_a_surname_that_is_a_word_for_a_place() -> None:
    assert list(names(["My friend Zoe Park is a nurse."])) == ["Zoe Park"]
    assert list(names(["We met at Hyde Park."])) == []


@pytest.mark.xfail(strict=True, reason="figures behind names of things are all that it has learned")
def test_a_chinese_name_stands_right_before_a_year() -> None:
    assert list(names(["我同学小钱2015年在三星上班"])) == ["小钱"]
