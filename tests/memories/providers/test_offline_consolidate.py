"""What new memories change in a profile, by rules."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from contacts.types import Person
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
    return OfflineProvider().consolidate(request).value


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


def test_dated_events_are_in_order_and_as_precise_as_known():
    found = patch(
        told(9, "孙悦2025年2月升职了"),
        told(1, "孙悦2023年毕业于厦门大学"),
        told(5, "孙悦2024-05-17搬到了昆明"),
    )
    assert [event.at for event in found.timeline] == ["2023", "2024-05-17", "2025-02"]
    assert all(event.sources for event in found.timeline)


def test_the_personality_is_written_in_the_requests_language():
    memory = told(1, "孙悦性格开朗，喜欢爬山", ("personality", "开朗"), ("likes", "爬山"))
    assert patch(memory).personality == "孙悦性格开朗，喜欢爬山。"
    assert patch(memory, language="en").personality == "孙悦 is 开朗; likes 爬山."
    assert patch(memory).personality_sources == (memory.id,)


def test_nothing_new_leaves_the_personality_alone():
    assert patch(told(1, "孙悦搬到了昆明", ("location", "昆明"))).personality is None
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
