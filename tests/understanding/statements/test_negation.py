import pytest

from understanding.statements.wordings import negations


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("小红不吃辣，也没去过成都", 2),
        ("他从未抽烟", 1),
        ("不过她不仅会唱，还唱得不错", 0),
        ("没想到未来这么近", 0),
        ("别人的别墅", 0),
        ("Nora doesn't sing, nor does she dance", 2),
        ("NO ONE knows", 1),
        ("a notebook on the knot", 0),
    ],
)
def test_words_that_only_look_like_negations_are_none(text: str, times: int):
    assert negations(text) == times
