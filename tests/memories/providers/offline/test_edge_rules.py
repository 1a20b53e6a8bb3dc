"""The relations that facts prove between two memories, without a model."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import (
    FoundRelation,
    MemoryType,
    RelationCase,
    Relationship,
    StoredFact,
    StoredMemory,
)

EARLIER = datetime(2026, 3, 2, tzinfo=UTC)
LATER = EARLIER + timedelta(days=3)


def memory(content: str, at: datetime = LATER, *facts: StoredFact) -> StoredMemory:
    return StoredMemory(uuid4(), content, MemoryType.ACTIVITY, at, facts=facts)


def related(one: StoredMemory, *others: StoredMemory) -> list[FoundRelation]:
    reply = OfflineProvider().classify([RelationCase(one, others)])
    assert reply.usage.tokens_in > 0
    return list(reply.value)


def test_two_values_of_what_has_one_conflict_and_two_likes_do_not() -> None:
    anna = uuid4()
    berlin = StoredFact("location", "Berlin", anna)
    one = memory("Anna lives in Berlin", EARLIER, berlin)
    rome = memory("Anna lives in Rome", EARLIER, StoredFact("location", "Rome", anna))
    bea = memory("Bea lives in Rome", EARLIER, StoredFact("location", "Rome", uuid4()))
    assert [(found.kind, str(found.reason)) for found in related(one, rome)] == [
        (Relationship.CONFLICTS, "location: Berlin or Rome")
    ]
    assert related(one, bea) == []
    jazz = memory("Anna likes jazz", EARLIER, StoredFact("likes", "jazz", anna))
    rock = memory("Anna likes rock", EARLIER, StoredFact("likes", "rock", anna))
    assert related(jazz, rock) == []


def test_the_same_place_said_more_precisely_is_no_conflict() -> None:
    one = memory("He lives in Rome", EARLIER, StoredFact("location", "Rome", UUID(int=1)))
    more = memory("He lives in Rome", EARLIER, StoredFact("location", "Rome, Italy", UUID(int=1)))
    assert related(one, more) == []


def test_nothing_to_look_at_is_nothing_found() -> None:
    assert list(OfflineProvider().classify([]).value) == []
