"""What the tagger finds in invented sentences, and what it must not."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.understanding.entities.gold import GOLD
from understanding import entities
from understanding.entities import Kind, Named, tag


def found(text: str, *people: str) -> set[str]:
    return {f"{one.kind}:{one.name}" for one in tag(text, {name: name for name in people})}


def test_the_gold_sentences_are_tagged_almost_without_a_mistake() -> None:
    right = wrong = missed = 0
    for text, names, people in GOLD:
        wanted = {name.replace("_", " ") for name in names.split()}
        got = found(text, *people.split())
        right += len(got & wanted)
        wrong += len(got - wanted)
        missed += len(wanted - got)
    assert len(GOLD) >= 60
    assert right / (right + wrong) >= 0.97
    assert right / (right + missed) >= 0.9


def test_a_memory_takes_less_than_two_milliseconds() -> None:
    tag("用户在成都 likes London")  # the gazetteers are read once
    rounds = []
    for _ in range(3):
        started = time.process_time()  # what others do on this machine does not count
        for text, _, people in GOLD:
            tag(text, {name: name for name in people.split()})
        rounds.append((time.process_time() - started) / len(GOLD))
    assert min(rounds) < 0.002


@pytest.mark.parametrize(
    "text",
    [
        "用户在家公司附近的公园跑步",
        "小美在学校图书馆看书",
        "用户在一家软件公司工作",
        "老板在公司大会上表扬了用户",
        "用户去了一家日本餐厅",
        "用户打算周末去爬山",
        "Tom said The School was closed.",
        "The user works in Marketing.",
        "The user was born on May 5, 1990.",
        "The user drives a Honda.",
        "Nice people make the user happy.",
        "The user speaks Italian and German.",
    ],
)
def test_what_names_nothing_is_not_tagged(text: str) -> None:
    assert found(text) == set()


def test_a_place_that_is_a_given_name_too_needs_to_be_gone_to_or_lived_in() -> None:
    assert found("Austin likes the user's cat.") == set()
    assert found("The user moved to Austin.") == {"place:Austin"}
    assert found("Victoria lives in Victoria.") == {"place:Victoria"}


def test_the_longest_name_stands_and_what_lies_in_it_does_not() -> None:
    assert found("用户在北京大学第三医院体检") == {"organisation:北京大学第三医院"}
    assert found("She teaches at the University of Leeds.") == {"organisation:University of Leeds"}
    assert found("用户喜欢《北京的秋天》") == {"work:北京的秋天"}


def test_known_people_are_found_by_any_of_their_names_and_called_by_one() -> None:
    names = {"王芳": "王芳", "芳芳": "王芳", "Ann": "Ann"}
    assert tag("芳芳和王芳是一个人", names) == (Named(Kind.PERSON, "王芳", 0, 2),)
    assert [one.name for one in tag("Annie met Ann.", names)] == ["Ann"]


def test_a_name_is_the_same_however_it_is_written() -> None:
    keys = [tag(text)[0].key for text in ("用户住在上海市", "用户住在上海", "用戶住在上海")]
    assert len(set(keys)) == 1
    museum = [tag(f"They went to {the} Marlow Museum.")[0].key for the in ("the", "The")]
    assert len(set(museum)) == 1


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=6), st.text(max_size=6), max_size=3))
def test_any_text_is_tagged_within_its_bounds_and_always_the_same(
    text: str, people: dict[str, str]
) -> None:
    names = tag(text, people)
    assert names == tag(text, people)
    ends = [(one.start, one.end) for one in names]
    assert ends == sorted(ends)
    assert all(0 <= start < end <= len(text) for start, end in ends)
    assert all(a[1] <= b[0] for a, b in pairwise(ends))
    assert all(one.key and len(one.name) <= entities.LONGEST for one in names)
    assert len({one.key for one in names}) == len(names)
