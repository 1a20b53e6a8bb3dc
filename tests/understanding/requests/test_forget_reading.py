"""What a sentence asks to forget, and how much of it is sure."""

import pytest

from understanding.requests.forget_reading import EVERYTHING, Reading, may_ask, means_person, read


@pytest.mark.parametrize(
    ("everything", "last", "means"),
    [
        (EVERYTHING + 0.1, 0.1, "everything"),
        (EVERYTHING - 0.1, 0.3, "unclear"),
        (0.1, 0.6, "last"),
        (0.3, 0.3, "named"),
    ],
)
def test_all_is_meant_only_where_it_is_sure(everything: float, last: float, means: str) -> None:
    scope = {"everything": everything, "last": last, "named": 1 - everything - last}
    assert Reading(1.0, scope).likely_scope == means


@pytest.mark.parametrize(
    "text", ["Please forget this: my salary", "My salary, please forget that", "Forget my salary"]
)
def test_what_is_named_stands_in_the_clause_that_asks_before_it_or_behind_a_colon(
    text: str,
) -> None:
    assert "salary" in read(text).topic


@pytest.mark.parametrize(
    ("sentence", "name", "is_person"),
    [
        ("Forget Greta from the choir.", "Greta", True),
        ("Greta, forget all about her.", "Greta", True),
        ("Forget Greta's debts.", "Greta", False),
        ("Forget that Greta from the choir got sacked.", "Greta", False),
        ("Forget Greta who sings in the choir.", "Greta", True),
        ("Forget that thing about Greta owing us money.", "Greta", False),
        ("把教我游泳的那个阿砚忘掉", "阿砚", True),
        ("把阿砚教我游泳的事忘掉", "阿砚", False),
        ("阿砚的电话别留", "阿砚", False),
    ],
)
def test_a_person_is_meant_where_nothing_else_is_said_of_them_but_who_they_are(
    sentence: str, name: str, is_person: bool
) -> None:
    start = sentence.index(name)
    assert means_person(sentence, start, start + len(name)) is is_person


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Delete what I said about the loan. No, keep it.", False),
        ("Forget the thing about Ruben... wait, no, leave it", False),
        ("把那条体检的删了吧，等等，不用删", False),
        ("忘掉刚才说的贷款。算了，还是记着吧", False),
        ("Delete what I said about the loan. No, keep it. Actually, delete it.", True),
        ("No, don't keep what I said about the loan", True),
        ("Remember the loan? No, delete it", True),
        ("不，别记贷款的事了", True),
        ("贷款的事你不要留着", True),
    ],
)
def test_a_request_that_is_taken_back_in_the_same_breath_is_none(text: str, asks: bool) -> None:
    assert may_ask(text) is asks
