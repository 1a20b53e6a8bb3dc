"""Requests to forget a person, as many people may word them, beside what only sounds like one."""

from collections import Counter
from functools import cache
from pathlib import Path
from time import process_time
from typing import NamedTuple
from uuid import uuid4

import pytest

from tests.memories.providers.offline.talks import talk
from understanding.requests import forget_reading
from understanding.types import Person

PEOPLE = {
    "en": (
        Person(uuid4(), "Brenda", ("Bren",), "friend", "female"),
        Person(uuid4(), "Anna", (), "Brenda's sister", "female"),
        Person(uuid4(), "Tom", (), "boss", "male"),
    ),
    "zh": (
        Person(uuid4(), "小红", ("红红",), "朋友", "female"),
        Person(uuid4(), "小明", (), "小红的哥哥", "male"),
        Person(uuid4(), "张伟", (), "老板", "male"),
    ),
}


class Case(NamedTuple):
    split: str
    language: str
    who: str
    before: str
    text: str


@cache
def cases() -> list[Case]:
    lines = Path(__file__).with_name("requests.tsv").read_text().splitlines()
    return [Case(*line.split("\t")) for line in lines if not line.startswith("#")]


def read_right(case: Case) -> bool:
    """Whether all about the person meant, and nobody else, is asked to be forgotten at once."""
    people = PEOPLE[case.language]
    lines = [line for line in (case.before, case.text) if line]
    asked = talk(*lines, language=case.language, people=people).forget
    if case.who == "-":
        return all(one.unclear for one in asked)
    meant = next(person.id for person in people if person.name == case.who)
    whole = {one.contact_id for one in asked if not (one.turn_ids or one.words or one.keys)}
    others = [one for one in asked if one.words or one.keys or one.everything]
    return whole == {meant} and not others


# So many of some 20 each may be read wrong, by language and whether it is a request.
WRONG = {
    "dev": Counter({("en", True): 1, ("zh", True): 1}),
    "held": Counter({("en", True): 2, ("en", False): 1, ("zh", True): 2}),
    "later": Counter({("en", True): 1, ("zh", True): 1, ("zh", False): 1}),
}


@pytest.mark.parametrize("split", WRONG)
def test_requests_are_told_from_what_sounds_like_one(split: str) -> None:
    wrong = [case for case in cases() if case.split == split and not read_right(case)]
    assert Counter((case.language, case.who != "-") for case in wrong) <= WRONG[split], wrong


@pytest.mark.parametrize(
    ("line", "words"),
    [("Forget Zelda Smith, please", ("Zelda Smith",)), ("把老高忘了吧", ("老高",)), ("忘掉她", ())],
)
def test_a_request_for_nobody_known_is_one_all_the_same(line: str, words: tuple[str, ...]) -> None:
    language = "en" if line.isascii() else "zh"
    found = talk(line, language=language, people=PEOPLE[language]).forget
    assert [(one.contact_id, one.words) for one in found] == [(None, words)]


@pytest.mark.parametrize("piece", ["请你", "please ", "忘了你", "everything about all of ", "Ann "])
def test_reading_a_request_takes_no_longer_than_its_words_allow(piece: str) -> None:
    begun = process_time()
    for _ in range(20):
        forget_reading.may_ask(piece * 60)
    assert process_time() - begun < 0.2
