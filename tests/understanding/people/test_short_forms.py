"""English short forms find the contact of the long name, and the other way round."""

import csv
from pathlib import Path
from uuid import uuid4

import nicknames
import pytest

from understanding.lexicon import word_sets
from understanding.names import TYPO, lookup_keys
from understanding.people.mentions import entries_of, find_mentions
from understanding.roles import terms
from understanding.types import Mention, Person

SURE = 0.8  # memories.context.who.SURE, which needs Django
WITH_A_MEANING_OF_ITS_OWN = word_sets("context_en")["capital_neighbours"] | terms().keys()


def table() -> list[tuple[str, str]]:
    """Each long name with each of its short forms; not those that are a month or a role word
    (May, Nan), nor initials (L.R.), which are found otherwise or less surely."""
    path = Path(nicknames.__file__).with_name("names.csv")
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    pairs = [(row["name1"], row["name2"]) for row in rows]
    own = WITH_A_MEANING_OF_ITS_OWN
    return [pair for pair in pairs if own.isdisjoint(pair) and "." not in "".join(pair)]


def mentions(message: str, *names: str) -> list[Mention]:
    return find_mentions(message, entries_of([Person(uuid4(), name) for name in names]))


def test_every_short_form_finds_the_long_name_and_the_other_way_round() -> None:
    pairs = table()
    assert len(pairs) > 2600
    both = [*pairs, *(pair[::-1] for pair in pairs[::4])]
    missed = [
        (contact, said)
        for contact, said in both
        if not mentions(f"How is {said.title()} doing?", contact.title())
    ]
    assert missed == []


@pytest.mark.parametrize("short", ["Alex", "Chris", "Sam"])
def test_a_short_form_of_several_names_is_less_sure_than_that_of_one(short: str) -> None:
    long = {"Alex": "Alexander", "Chris": "Christopher", "Sam": "Samuel"}[short]
    [shared], [own] = mentions(f"{short} called", long), mentions("Tom called", "Thomas")
    assert shared.confidence < min(own.confidence, SURE)


def test_where_two_contacts_have_one_short_form_neither_is_sure() -> None:
    found = mentions("How is Alex doing?", "Alexander Reyes", "Alexandra Holt")
    assert {one.person.name for one in found} == {"Alexander Reyes", "Alexandra Holt"}
    assert max(one.confidence for one in found) < 0.5


def test_whoever_bears_the_name_itself_is_meant_rather_than_whose_short_form_it_is() -> None:
    assert [one.person.name for one in mentions("How is Tom doing?", "Thomas", "Tom")] == ["Tom"]


@pytest.mark.parametrize(
    ("message", "contact"),
    [
        ("Will you come tonight?", "William"),
        ("Pat the dry rice with a towel", "Patricia"),
        ("Mark the date in your calendar", "Marcus"),
        ("Sue them if they don't pay", "Susan"),
        ("the bill came to forty euros", "William"),
        ("I may rob the bank and jack up the car in May", "Robert"),
        ("See you in May", "Mary"),
        ("I drew a gene map", "Eugene"),
    ],
)
def test_a_word_that_is_also_a_short_form_means_nobody(message: str, contact: str) -> None:
    assert mentions(message, contact) == []


def test_short_forms_add_a_key_each_and_no_more() -> None:
    keys = [key.key for key in lookup_keys(Person(uuid4(), "Thomas"))]
    assert {"tom", "thom", "tommy"} <= set(keys)
    assert len([key for key in keys if not key.startswith(TYPO)]) < 10
