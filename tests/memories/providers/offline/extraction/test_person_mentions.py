"""A new person with the name of a known one is not taken for that one."""

from uuid import uuid4

import pytest

from contacts.types import Person
from memories.types import ExtractedMemory, Extraction
from tests.memories.providers.offline.talks import talk

RUTH = Person(uuid4(), "Ruth", (), "aunt", "female")
LAN = Person(uuid4(), "何婷", (), "表姐", "female")


def told(line: str, *lines: str, people: tuple[Person, ...]) -> Extraction:
    language = "en" if line.isascii() else "zh"
    return talk(line, *lines, language=language, people=people)


def about(found: Extraction, words: str) -> ExtractedMemory:
    return next(memory for memory in found.memories if words in memory.content)


@pytest.mark.parametrize(
    ("known", "lines", "words", "relationship"),
    [
        (RUTH, ["My coworker Ruth quit."], "quit", "coworker"),
        (RUTH, ["My landlord, Ruth, raised the rent."], "raised", "landlord"),
        (RUTH, ["Ruth from work is getting married."], "married", "coworker"),
        (LAN, ["我同事何婷辞职了"], "辞职", "同事"),
        (LAN, ["同事何婷辞职了"], "辞职", "同事"),
        (LAN, ["我同事里也有一个叫何婷的", "她是做翻译的"], "翻译", "同事"),
        (LAN, ["我有个客户也叫何婷，住在泉州"], "泉州", "客户"),
    ],
)
def test_a_namesake_is_somebody_new(known, lines, words, relationship):
    found = told(*lines, people=(known,))
    (person,) = [person for person in found.people if person.name == known.name]
    assert (person.contact_id, person.namesake) == (None, True)
    assert person.relationship == relationship
    memory = about(found, words)
    assert memory.people == (person.ref,)
    assert {fact.person for fact in memory.facts} <= {person.ref}


@pytest.mark.parametrize(
    ("known", "line"),
    [
        (RUTH, "Ruth quit."),
        (RUTH, "My aunt Ruth quit."),
        (RUTH, "My roommate Ruth quit."),
        (LAN, "何婷辞职了"),
        (LAN, "我表姐何婷辞职了"),
        (LAN, "我姐何婷辞职了"),
        (Person(uuid4(), "王芳", (), "邻居", "female"), "我阿姨王芳住院了"),
        (Person(uuid4(), "李强", (), "同事", "male"), "我男朋友李强辞职了"),
        (Person(uuid4(), "李强", (), "同事", "male"), "我哥李强辞职了"),
        (Person(uuid4(), "Carl", (), "friend", "male"), "My husband Carl quit."),
        (Person(uuid4(), "Carl", (), "classmate", "male"), "My colleague Carl quit."),
        (Person(uuid4(), "Carl", (), "boss", "male"), "My former boss Carl quit."),
        (Person(uuid4(), "Carl", (), "", "male"), "My coworker Carl quit."),
    ],
)
def test_the_known_one_stays_one_person(known, line):
    found = told(line, people=(known,))
    assert [person.contact_id for person in found.people] == [known.id]
    assert not any(person.namesake for person in found.people)


def test_who_was_spoken_of_last_is_meant_by_the_bare_name():
    found = told("My coworker Ruth quit.", "Ruth is moving to Bergen.", people=(RUTH,))
    assert about(found, "Bergen").people == about(found, "quit").people
    assert RUTH.id not in [person.contact_id for person in found.people]


def test_each_of_two_in_one_talk_keeps_their_own():
    found = told("我表姐何婷喜欢猫，我同事何婷喜欢狗", people=())
    (cat,), (dog,) = about(found, "猫").people, about(found, "狗").people
    assert cat != dog
    assert {p.ref: p.namesake for p in found.people} == {cat: False, dog: True}


def test_known_namesakes_are_told_apart_by_what_they_are():
    other = Person(uuid4(), "Ruth", (), "coworker", "female")
    found = told(
        "Ruth called.", "My coworker Ruth quit.", "My aunt Ruth retired.", people=(RUTH, other)
    )
    ids = {person.ref: person.contact_id for person in found.people}
    assert [ids[ref] for ref in about(found, "quit").people] == [other.id]
    assert [ids[ref] for ref in about(found, "retired").people] == [RUTH.id]


def test_an_earlier_turn_makes_nobody_new():
    known = Person(uuid4(), "何婷", (), "同事", "female")
    found = talk("我公司也有个何婷", "何婷搬到了泉州", people=(known,), context=1)
    assert [person.contact_id for person in found.people] == [known.id]
