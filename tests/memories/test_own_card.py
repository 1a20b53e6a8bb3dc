from datetime import UTC, datetime

import pytest

from memories.own_card import MOST_TOKENS, attributes_of, is_family, render
from understanding.text import estimate_tokens

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def fact(kind, value, memory="m", **times):
    return {"kind": kind, "value": value, "memory": memory, **times}


def test_the_last_said_of_a_single_kind_counts_and_other_kinds_collect_values_with_their_sources():
    facts = [
        fact("location", "York", "m3"),
        fact("allergy", "Shrimp", "m3"),
        fact("location", "Leeds", "m2"),
        fact("allergy", "latex", "m2"),
        fact("allergy", "shrimp", "m1"),
        fact("birthday", "May 3", "m1"),
    ]
    assert attributes_of(facts, NOW) == {
        "allergy": [
            {"value": "Shrimp", "sources": ["m3", "m1"], "since": None},
            {"value": "latex", "sources": ["m2"], "since": None},
        ],
        "location": [{"value": "York", "sources": ["m3"], "since": None}],
    }


def test_what_is_over_or_has_not_begun_is_not_on_the_card():
    facts = [
        fact("location", "Hull", since="2026-05-01T00:00:00+00:00"),
        fact("location", "York", since="2020-01-01T00:00:00+00:00"),
        fact("health", "a broken wrist", until="2026-02-01T00:00:00+00:00"),
        fact("health", "asthma", until="2027-02-01T00:00:00+00:00"),
    ]
    assert render(attributes_of(facts, NOW), "en") == "Health: asthma\nLocation: York"
    assert render(attributes_of(facts, NOW), "zh") == "健康：asthma\n所在地：York"


def test_a_full_card_keeps_the_last_of_each_kind():
    wishes = [
        fact("answer_wish", f"{n} words at most, and never a table of numbers where plain words do")
        for n in range(8)
    ]
    text = render(
        attributes_of([*wishes, fact("allergy", "figs"), fact("pet", "a cat")], NOW), "en"
    )
    assert estimate_tokens(text) <= MOST_TOKENS
    assert text.startswith("Wishes for answers: 0 words at most")
    assert "7 words" not in text
    assert text.endswith("Allergies: figs\nPets: a cat")
    long = render(
        attributes_of([fact("answer_wish", "好" * 500), fact("pet", "𠮷" * 500)], NOW), "zh"
    )
    assert 0 < estimate_tokens(long) <= MOST_TOKENS


@pytest.mark.parametrize(
    ("name", "relationship", "expected"),
    [
        ("Lena", "wife", True),
        ("赵桂芬", "妈妈", True),
        ("妈妈", "", True),
        ("Grandma", "", True),
        ("孟阿姨", "", False),
        ("孟阿姨", "房东", False),
        ("Lena", "ex-wife", False),
        ("前男友", "前男友", False),
        ("Lena", "colleague", False),
        ("Lena", "Ben's sister", False),
        ("阿龙", "甜甜的男朋友", False),
        ("Fiona", "老大", False),
    ],
)
def test_family_are_partners_and_relatives_and_not_who_was_one_or_is_called_like_one(
    name, relationship, expected
):
    assert is_family(name, relationship) is expected
