"""A query as the questions in it, and how it is meant."""

import pytest

from memories.search.query import MOST_PARTS, WEIGHTS, Intent, infer, parts


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("小红喜欢吃什么？", ["小红喜欢吃什么？"]),
        ("小红喜欢吃什么？另外，她哥哥叫什么", ["小红喜欢吃什么", "她哥哥叫什么"]),
        ("Who is Ben? Also, where is he?", ["Who is Ben", "where is he?"]),
        ("今天好累啊。我想问的是，小红几岁？", ["小红几岁？"]),
        ("It rained. What I really want to know is: who is Ben?", ["who is Ben?"]),
        ("我还有一个问题", ["我还有一个问题"]),
        ("他也另外找了工作", ["他也另外找了工作"]),
        ("", [""]),
        ("我想问：", ["我想问："]),
    ],
)
def test_a_query_is_divided_into_its_questions(query: str, expected: list[str]) -> None:
    assert parts(query) == expected


def test_a_query_of_very_many_questions_stays_whole() -> None:
    query = "谁？" + "另外，谁？" * MOST_PARTS
    assert parts(query) == [query]


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("When did Ben move?", Intent.RECALL),
        ("小红几岁了", Intent.RECALL),
        ("Tell me about Ben", Intent.EXPLORE),
        ("说说小红的事情", Intent.EXPLORE),
        ("“明天会更好”", Intent.EXACT),
        ("ben@example.org", Intent.EXACT),
        ("I'm meeting Ben tomorrow", Intent.GENERAL),
        ("小红", Intent.GENERAL),
    ],
)
def test_the_intent_shows_in_the_form_of_the_query(query: str, intent: Intent) -> None:
    assert infer(query) is intent


def test_the_weights_of_every_intent_make_a_whole() -> None:
    assert set(WEIGHTS) == set(Intent)
    assert all(sum(weights) == pytest.approx(1) for weights in WEIGHTS.values())
