import pytest

from memories.providers.offline.reading.third_person import with_subject


@pytest.mark.parametrize(
    ("text", "subject", "sentence"),
    [
        ("a nurse", "Anna", "Anna is a nurse"),
        ("Working nights", "Anna", "Anna is working nights"),
        ("moved to Leeds", "Anna", "Anna moved to Leeds"),
        ("It's over", "Anna", "Anna: It's over"),
        ("NASA engineer", "Anna", "Anna: NASA engineer"),
        ("护士", "沈佳", "沈佳是护士"),
        ("不吃香菜", "沈佳", "沈佳不吃香菜"),
        ("护士", "Anna", "Anna 是护士"),
    ],
)
def test_what_lacks_a_subject_gets_one(text: str, subject: str, sentence: str) -> None:
    assert with_subject(text, subject, chinese=text[0] >= "\u4e00") == sentence
