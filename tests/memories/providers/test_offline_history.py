"""Which value of a profile is current, whatever order its memories arrive in."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

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

TOMAS = Person(uuid4(), "Tomas", (), "friend", "male")
EARLY, LATE = datetime(2025, 5, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)


def told(at: datetime, key: str, value: str, happens_at: datetime | None = None) -> StoredMemory:
    facts = (StoredFact(key, value, TOMAS.id),)
    return StoredMemory(uuid4(), f"Tomas {value}", MemoryType.PERSONAL, at, happens_at, facts=facts)


def known(key: str, value: str, since: datetime) -> Profile:
    return Profile({key: (AttributeValue(value, (uuid4(),), since),)})


def patch(profile: Profile, *memories: StoredMemory) -> ProfilePatch:
    return OfflineProvider().consolidate(ProfileRequest(TOMAS, profile, memories, "en")).value


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
    found = patch(known(key, now, LATE), told(EARLY, key, before))
    assert values(found, key) == [now]
    if past is not None:
        assert values(found, past) == [before]


def test_a_later_message_about_an_earlier_move_is_current():
    moved = told(LATE, "location", "Turin", happens_at=datetime(2025, 4, 1, tzinfo=UTC))
    found = patch(known("location", "Genoa", EARLY), moved)
    assert values(found, "location") == ["Turin"]
    assert values(found, "former_location") == ["Genoa"]


def test_a_date_to_come_does_not_keep_later_news_out():
    visit = told(EARLY, "location", "Genoa", happens_at=LATE)
    later = told(datetime(2025, 6, 1, tzinfo=UTC), "location", "Turin")
    first = patch(Profile(), visit)
    assert values(patch(Profile(dict(first.attributes)), later), "location") == ["Turin"]


@pytest.mark.parametrize(
    ("past", "key", "value"),
    [("former_company", "company", "Pirelli"), ("former_location", "location", "Genoa")],
)
def test_what_somebody_has_left_is_current_no_more(past, key, value):
    found = patch(known(key, value, EARLY), told(LATE, past, value))
    assert values(found, key) == []
    assert key in found.replaces
    assert values(found, past) == [value]


def test_what_somebody_had_left_before_taking_it_up_again_stays_current():
    found = patch(known("company", "Pirelli", LATE), told(EARLY, "former_company", "Pirelli"))
    assert "company" not in found.replaces
