"""How the rules say that two memories stand to each other, on invented pairs."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import (
    FoundRelation,
    MemoryType,
    RelationCase,
    Relationship,
    StoredFact,
    StoredMemory,
)
from tests.memories.providers.offline.relations_gold import PAIRS

EARLIER = datetime(2026, 3, 2, tzinfo=UTC)
LATER = EARLIER + timedelta(days=3)


def memory(content: str, at: datetime = LATER, *facts: StoredFact) -> StoredMemory:
    return StoredMemory(uuid4(), content, MemoryType.ACTIVITY, at, facts=facts)


def related(one: StoredMemory, *others: StoredMemory) -> list[FoundRelation]:
    reply = OfflineProvider().classify([RelationCase(one, others)])
    assert reply.usage.tokens_in > 0
    return list(reply.value)


def kinds(one: StoredMemory, other: StoredMemory) -> set[str]:
    """The relations between two, with > where they run from the first."""
    return {
        found.kind.value
        + ("" if found.kind is Relationship.CONFLICTS else "><"[found.source != one.id])
        for found in related(one, other)
    }


def test_the_gold_pairs_are_told_with_a_precision_of_at_least_nine_in_ten() -> None:
    right = wrong = missed = 0
    for newer, older, wanted in PAIRS:
        got = kinds(memory(newer), memory(older, EARLIER))
        right += len(got & {wanted})
        wrong += len(got - {wanted})
        missed += bool(wanted) and wanted not in got
    assert len(PAIRS) >= 60
    assert right / (right + wrong) >= 0.95
    assert right / (right + missed) >= 0.85


@pytest.mark.parametrize("wanted", sorted({wanted for *_, wanted in PAIRS if wanted}))
def test_the_order_in_which_two_are_shown_does_not_matter(wanted: str) -> None:
    turned = wanted.translate(str.maketrans("<>", "><"))
    for newer, older, told in PAIRS:
        if told == wanted:
            one, other = memory(newer), memory(older, EARLIER)
            assert kinds(one, other) in ({wanted}, set())
            assert kinds(other, one) == {turned} & {*kinds(other, one)}


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


def test_only_the_later_of_two_can_supersede() -> None:
    stopped, habit = "用户不再喝咖啡了", "用户每天早上喝咖啡"
    assert kinds(memory(stopped, LATER), memory(habit, EARLIER)) == {"supersedes>"}
    assert kinds(memory(stopped, EARLIER), memory(habit, LATER)) == set()


def test_a_pair_has_one_relation_at_most_and_several_others_each_their_own() -> None:
    run = memory("用户因为膝盖受伤停止了长跑训练")
    injury = memory("用户三月份膝盖受伤了", EARLIER)
    cat = memory("用户养了一只猫", EARLIER)
    found = related(run, injury, cat)
    assert [(one.kind, one.source, one.target) for one in found] == [
        (Relationship.CAUSES, injury.id, run.id)
    ]


def test_nothing_to_look_at_is_nothing_found() -> None:
    assert list(OfflineProvider().classify([]).value) == []
