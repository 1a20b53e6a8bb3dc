"""Corrections touch the value or the person they mean, and nothing else."""

from uuid import uuid4

import pytest

from contacts.types import Person
from memories.types import Extraction
from tests.memories.providers.offline.talks import contents, talk


def facts(found: Extraction) -> set[tuple[str, str, str]]:
    names = {person.ref: person.name for person in found.people}
    return {(names.get(f.person, ""), f.key, f.value) for m in found.memories for f in m.facts}


def test_who_somebody_is_not_leaves_what_was_said_of_that_other_alone():
    found = talk("老周的老婆怀孕了。", "小何是我同事，不是老周。")
    assert "老周的老婆怀孕了" in contents(found)
    assert {person.name for person in found.people} == {"老周", "小何"}


def test_not_this_but_that_of_a_thing_is_no_employer():
    found = talk("我朋友孙悦的伞不是红色，是蓝色。")
    assert not any(key == "company" for _, key, _ in facts(found))


def test_what_somebody_is_not_says_what_they_are():
    assert facts(talk("我不是律师，是会计。")) == {("", "job_title", "会计")}


@pytest.mark.parametrize(
    "words",
    ["I meant Porto, not Lisbon.", "Sorry, not Lisbon, I meant Porto.", "Not Lisbon, Porto."],
)
def test_words_that_lead_to_the_right_value_are_not_part_of_it(words):
    found = talk("My friend Nadia lives in Lisbon.", words, language="en")
    assert facts(found) == {("Nadia", "location", "Porto")}


@pytest.mark.parametrize(
    ("line", "words", "language", "fact"),
    [
        ("我朋友小兰在网易上班。", "不对，不是小兰，是小岚。", "zh", ("小岚", "company", "网易")),
        (
            "My friend Marc works at Fiat.",
            "Sorry, not Marc, Mark.",
            "en",
            ("Mark", "company", "Fiat"),
        ),
        (
            "My friend Sara works at Fiat.",
            "I meant Clara, not Sara.",
            "en",
            ("Clara", "company", "Fiat"),
        ),
    ],
)
def test_a_wrong_name_gives_what_was_said_to_the_right_one(line, words, language, fact):
    found = talk(line, words, language=language)
    assert facts(found) == {fact}
    assert [person.name for person in found.people] == [fact[0]]


def test_a_wrong_name_of_an_earlier_batch_is_outdated_and_told_again():
    lan = Person(uuid4(), "小兰", (), "朋友", "")
    found = talk("我朋友小兰在网易上班。", "不对，不是小兰，是小岚。", people=(lan,), context=1)
    assert found.retracted_turn_ids == (1,)
    assert facts(found) == {("小岚", "company", "网易")}


def test_a_false_start_is_dropped():
    assert facts(talk("我朋友阿远不对，阿远是导游。")) == {("阿远", "job_title", "导游")}
    found = talk("My friend Lena is no wait, Lena is 42.", language="en")
    assert facts(found) == {("Lena", "age", "42")}
    assert "wait" not in contents(found)


@pytest.mark.parametrize(
    ("line", "name", "fact"),
    [
        ("My friend Nadia told me that Hugo is getting divorced.", "Hugo", "getting divorced"),
        ("My mom said my aunt has diabetes.", "aunt", "diabetes"),
        ("My cousin Nora introduced me to her fiancé Hugo, a pharmacist.", "Hugo", "pharmacist"),
        ("我妈告诉我表姐离婚了。", "表姐", "离婚"),
        ("我朋友小兰说她在网易上班。", "小兰", "网易"),
    ],
)
def test_what_is_told_of_another_is_that_others(line, name, fact):
    found = talk(line, language="en" if name in {"Hugo", "aunt"} else "zh")
    assert {(who, value) for who, key, value in facts(found)} == {(name, fact)}


def test_what_tellers_say_of_their_own_things_is_theirs():
    found = talk("My friend Nadia said her birthday is May 3.", language="en")
    assert {(who, key) for who, key, _ in facts(found)} == {("Nadia", "birthday")}


@pytest.mark.parametrize("line", ["妈妈说你表姐要结婚了。", "妈妈说表姐要结婚了。"])
def test_what_a_teller_says_of_somebody_unknown_is_not_the_tellers(line):
    assert facts(talk(line)) == set()


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("My friend Nadia called me yesterday.", "called the user"),
        ("I meant it when I told my friend Nadia about Lisbon.", "The user meant"),
    ],
)
def test_only_verbs_are_put_into_the_third_person(line, written):
    found = contents(talk(line, language="en"))
    assert "yesterdays" not in found
    assert written in found


@pytest.mark.parametrize(
    "line", ["今天和我朋友小兰吃了火锅。", "Today I went rowing with my friend Hugo."]
)
def test_what_was_done_today_is_no_plan(line):
    (memory,) = talk(line, language="en" if line.isascii() else "zh").memories
    assert memory.type == "activity"


def test_what_is_still_to_come_today_is_a_plan():
    (memory,) = talk("今天下午要和我朋友小兰去看电影。").memories
    assert memory.type == "plan"


def test_dinner_with_a_friend_is_no_work():
    (memory,) = talk("I had dinner with my friend Hugo last night.", language="en").memories
    assert memory.type == "activity"
    assert not memory.facts
