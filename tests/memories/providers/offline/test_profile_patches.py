"""What new memories change in a profile, by rules, whatever order they arrive in."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import (
    AttributeValue,
    MemoryType,
    Profile,
    ProfilePatch,
    ProfileRequest,
    StoredFact,
    StoredMemory,
)
from understanding.types import Person

MARCH = datetime(2025, 3, 1, tzinfo=UTC)
YUE = Person(uuid4(), "孙悦", (), "同事", "female")


def told(day: int, content: str, *facts: tuple[str, str]) -> StoredMemory:
    return StoredMemory(
        uuid4(),
        content,
        MemoryType.PERSONAL,
        MARCH + timedelta(days=day),
        None,
        tuple(StoredFact(key, value, YUE.id) for key, value in facts),
    )


def patch(
    *memories: StoredMemory, profile: Profile | None = None, language: str = "zh"
) -> ProfilePatch:
    request = ProfileRequest(YUE, profile or Profile(), memories, language)
    return OfflineProvider().consolidate([request]).value[YUE.id]


def test_attributes_come_with_their_sources():
    memory = told(1, "孙悦在厦门做律师", ("location", "厦门"), ("job_title", "律师"))
    found = patch(memory)
    assert found.attributes["location"] == (AttributeValue("厦门", (memory.id,), memory.said_at),)
    assert found.replaces == {"location", "job_title"}


def test_the_latest_single_value_is_current_and_the_old_one_history():
    first = told(1, "孙悦在厦门工作", ("location", "厦门"))
    second = told(9, "孙悦搬到了昆明", ("location", "昆明"))
    found = patch(second, first)
    assert [value.value for value in found.attributes["location"]] == ["昆明"]
    assert [value.value for value in found.attributes["former_location"]] == ["厦门"]


def test_a_value_of_the_profile_that_is_replaced_becomes_history_too():
    source = uuid4()
    profile = Profile({"company": (AttributeValue("丰田", (source,), MARCH),)})
    found = patch(told(9, "孙悦去了本田", ("company", "本田")), profile=profile)
    assert "company" in found.replaces
    assert found.attributes["former_company"][0].sources == (source,)


def test_values_that_collect_are_added_and_do_not_replace():
    found = patch(
        told(1, "孙悦喜欢爬山", ("likes", "爬山")), told(2, "孙悦喜欢摄影", ("likes", "摄影"))
    )
    assert [value.value for value in found.attributes["likes"]] == ["爬山", "摄影"]
    assert "likes" not in found.replaces


def test_the_same_value_twice_has_both_sources():
    one, two = (
        told(1, "孙悦喜欢爬山", ("likes", "爬山")),
        told(2, "孙悦还是喜欢爬山", ("likes", "爬山")),
    )
    (value,) = patch(one, two).attributes["likes"]
    assert value.sources == (one.id, two.id)


def test_dated_events_are_in_order_and_as_precise_as_was_said():
    def event(content: str, at: datetime, until: datetime | None = None) -> StoredMemory:
        return replace(told(9, content), happens_at=at, happens_until=until)

    found = patch(
        event("她升职了", datetime(2025, 2, 1, tzinfo=UTC), datetime(2025, 2, 28, tzinfo=UTC)),
        event("她毕业了", datetime(2023, 1, 1, tzinfo=UTC), datetime(2023, 12, 31, tzinfo=UTC)),
        event("她搬到了昆明", datetime(2024, 5, 17, tzinfo=UTC)),
        told(9, "她说过要升职"),  # nobody said when
        event("她吃了面", datetime(2024, 5, 17, tzinfo=UTC)),  # of no weight
    )
    assert [event.at for event in found.timeline] == ["2023", "2024-05-17", "2025-02"]
    assert all(event.sources for event in found.timeline)


def test_no_personality_is_made_of_what_was_said():
    memory = told(1, "孙悦性格开朗，喜欢爬山", ("personality", "开朗"), ("likes", "爬山"))
    assert patch(memory).personality is None
    assert patch() == ProfilePatch()


def test_facts_about_others_do_not_enter_the_profile():
    stranger = StoredMemory(
        uuid4(),
        "孙悦的弟弟是医生",
        MemoryType.PERSONAL,
        MARCH,
        None,
        (StoredFact("job_title", "医生", uuid4()),),
    )
    assert patch(stranger).attributes == {}


TOMAS = Person(uuid4(), "Tomas", (), "friend", "male")
EARLY, LATE = datetime(2025, 5, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)


def stated(at: datetime, key: str, value: str, happens_at: datetime | None = None) -> StoredMemory:
    facts = (StoredFact(key, value, TOMAS.id),)
    return StoredMemory(uuid4(), f"Tomas {value}", MemoryType.PERSONAL, at, happens_at, facts=facts)


def known(key: str, value: str, since: datetime) -> Profile:
    return Profile({key: (AttributeValue(value, (uuid4(),), since),)})


def patched(profile: Profile, *memories: StoredMemory) -> ProfilePatch:
    request = ProfileRequest(TOMAS, profile, memories, "en")
    return OfflineProvider().consolidate([request]).value[TOMAS.id]


def values(found: ProfilePatch, key: str) -> list[str]:
    return [value.value for value in found.attributes.get(key, ())]


@pytest.mark.parametrize(
    ("key", "now", "before", "past"),
    [
        ("location", "Turin", "Genoa", "former_location"),
        ("company", "Olivetti", "Pirelli", "former_company"),
        ("age", "34", "33", None),
    ],
)
def test_an_older_message_that_arrives_later_is_history_at_most(key, now, before, past):
    found = patched(known(key, now, LATE), stated(EARLY, key, before))
    assert values(found, key) == [now]
    if past is not None:
        assert values(found, past) == [before]


def test_a_later_message_about_an_earlier_move_is_current():
    moved = stated(LATE, "location", "Turin", happens_at=datetime(2025, 4, 1, tzinfo=UTC))
    found = patched(known("location", "Genoa", EARLY), moved)
    assert values(found, "location") == ["Turin"]
    assert values(found, "former_location") == ["Genoa"]


def test_a_date_to_come_does_not_keep_later_news_out():
    visit = stated(EARLY, "location", "Genoa", happens_at=LATE)
    later = stated(datetime(2025, 6, 1, tzinfo=UTC), "location", "Turin")
    first = patched(Profile(), visit)
    assert values(patched(Profile(dict(first.attributes)), later), "location") == ["Turin"]


@pytest.mark.parametrize(
    ("past", "key", "value"),
    [("former_company", "company", "Pirelli"), ("former_location", "location", "Genoa")],
)
def test_what_somebody_has_left_is_current_no_more(past, key, value):
    found = patched(known(key, value, EARLY), stated(LATE, past, value))
    assert values(found, key) == []
    assert key in found.replaces
    assert values(found, past) == [value]


def test_what_somebody_had_left_before_taking_it_up_again_stays_current():
    found = patched(known("company", "Pirelli", LATE), stated(EARLY, "former_company", "Pirelli"))
    assert "company" not in found.replaces
