"""What contacts write in a chat is told by them of themselves, and never of the user."""

from datetime import timedelta
from uuid import uuid4

import pytest

from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import CONTACT, Extraction, ExtractionRequest, Turn
from tests.memories.providers.offline.talks import NOON, contents
from understanding.types import Person


def chat(*lines: str, language: str = "en", people: tuple[Person, ...] = ()) -> Extraction:
    """Extract from lines ``Name: text``; those of "Me" are the user's."""
    turns = []
    for number, line in enumerate(lines, start=1):
        name, text = line.split(": ", 1)
        role, speaker = ("user", "") if name == "Me" else (CONTACT, name)
        turns.append(Turn(number, role, text, NOON + timedelta(minutes=number), "c", speaker))
    return OfflineProvider().extract(ExtractionRequest(tuple(turns), (), people, language)).value


def told(found: Extraction) -> list[tuple[str, str, tuple[str, ...]]]:
    names = {person.ref: person.name for person in found.people}
    return [(m.speaker, m.content, tuple(names[r] for r in m.people)) for m in found.memories]


def test_what_a_friend_says_of_herself_is_told_by_her_of_her():
    found = chat("Anna: I just moved to Lisbon", "Me: wow great", "Anna: I'm allergic to peanuts")
    assert told(found) == [
        ("Anna", "I just moved to Lisbon", ("Anna",)),
        ("Anna", "I'm allergic to peanuts", ("Anna",)),
    ]
    [anna] = found.people
    facts = {(f.key, f.value, f.person) for m in found.memories for f in m.facts}
    assert facts == {("location", "Lisbon", anna.ref), ("allergy", "peanuts", anna.ref)}


def test_the_same_in_chinese_of_somebody_known_by_an_alias():
    known = Person(uuid4(), "王小红", ("小红",), "表姐", "female")
    found = chat("小红: 我对花生过敏", "Me: 我下个月去东京出差", language="zh", people=(known,))
    [hers] = [m for m in found.memories if m.people]
    assert (hers.content, hers.speaker, hers.subtype) == ("我对花生过敏", "小红", "family")
    assert [person.contact_id for person in found.people] == [known.id]
    assert [m.speaker for m in found.memories if not m.people] == ["user"]


@pytest.mark.parametrize(
    "line",
    [
        "Anna: we moved to Lisbon",  # who else?
        "Anna: you moved to Lisbon, I heard",
        "Anna: my boss Carlos lives in Lisbon",  # nobody whom the user knows
        "Anna: I told her that she moved to Lisbon",
        "Anna: moved to Lisbon last week",  # who?
        "小红: 我们搬到深圳了",
        "小红: 你搬到深圳了，我听说",
        "小红: 我妈妈住在深圳",
    ],
)
def test_what_may_mean_somebody_else_is_not_kept(line):
    found = chat(line, language="zh" if "小红" in line else "en")
    assert (found.memories, found.people, found.relations) == ((), (), ())


def test_a_name_that_several_people_bear_is_nobodys():
    two = tuple(Person(uuid4(), "Anna", (), role) for role in ("sister", "colleague"))
    assert chat("Anna: I just moved to Lisbon", people=two).memories == ()


def test_what_the_user_asks_of_a_friend_is_not_asked_of_mio():
    lines = ("Anna: I just moved to Lisbon", "Me: forget what I told you about Ben")
    assert chat(*lines).forget == ()
    alone = Turn(1, "user", "Please forget what I told you about Ben", NOON)
    asked = ExtractionRequest((alone,), (), (Person(uuid4(), "Ben"),))
    assert OfflineProvider().extract(asked).value.forget


def test_you_means_no_assistant_where_people_talk():
    lines = ("Anna: I just moved to Lisbon", "Me: you are my best friend in Porto")
    assert "Porto" not in contents(chat(*lines))
