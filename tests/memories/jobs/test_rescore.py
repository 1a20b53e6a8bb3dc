"""The SQL of the formula equals the pure one, writes only what changes, and respects what
holds whatever it says."""

import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Change, EndUser
from accounts.scope import all_users
from memories.budget import Budget
from memories.corrections import derived, edit_memories
from memories.corrections.undo import undo_change
from memories.jobs import rescore
from memories.models import Edge, Entity, EntityLink, Link, Memory
from memories.pipeline import classify_edges, store_memories
from memories.providers.factory import embedder
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories import scoring_formula
from tests.memories.scoring_formula import Inputs
from tests.memories.snapshots import absorbed

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 20, 18, 30, tzinfo=UTC)
TODAY = datetime(2026, 3, 20, tzinfo=UTC)


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(activity_days=100)


def score(memory: Memory) -> float:
    memory.refresh_from_db()
    return memory.importance


def edges(end_user: EndUser, target: Memory, number: int, kind: str = "causes") -> None:
    Edge.objects.bulk_create(
        Edge(
            end_user=end_user,
            source=make_memory(end_user, f"The cause {kind} {n}", learnt_day=100),
            target=target,
            kind=kind,
        )
        for n in range(number)
    )


def mention(end_user: EndUser, name: str, *memories: Memory) -> None:
    entity, _ = Entity.objects.get_or_create(
        end_user=end_user, key=name, defaults={"name": name, "kind": "place"}
    )
    EntityLink.objects.bulk_create(
        EntityLink(end_user=end_user, entity=entity, memory=memory) for memory in memories
    )


ROWS = st.fixed_dictionaries({
    "access_count": st.integers(0, 5_000),
    "learnt_day": st.integers(0, 120),
    "last_accessed_day": st.none() | st.integers(0, 120),
    "mention_count": st.integers(0, 200),
    "inbound": st.integers(0, 14),
    "event_in_days": st.none() | st.integers(-20, 20),
    "expired_days": st.none() | st.floats(-10, 10),
    "entities": st.sets(st.sampled_from(["Oslo", "Rome", "成都", "Kyoto"])),
})  # fmt: skip


@settings(max_examples=settings().max_examples // 3,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(st.lists(ROWS, min_size=1, max_size=6), st.integers(0, 40_000))
def test_the_database_computes_what_the_formula_says(rows: list[dict], days: int) -> None:
    end_user = make_end_user(activity_days=days)
    said = [make_memory(end_user, f"Fact {n}", learnt_day=days) for n in range(15)]
    wanted: dict[UUID, Inputs] = {}
    speaking = {name: sum(name in row["entities"] for row in rows) for row in rows
                for name in row["entities"]}  # fmt: skip
    for n, row in enumerate(rows):
        event, gone = row["event_in_days"], row["expired_days"]
        memory = make_memory(
            end_user,
            f"Row {n}",
            access_count=row["access_count"],
            learnt_day=row["learnt_day"],
            last_accessed_day=row["last_accessed_day"],
            mention_count=row["mention_count"],
            happens_at=None if event is None else TODAY + timedelta(days=event, hours=1),
            expires_at=None if gone is None else NOW - timedelta(days=gone),
        )
        Edge.objects.bulk_create(
            Edge(end_user=end_user, source=source, target=memory, kind="causes")
            for source in said[: row["inbound"]]
        )
        for name in row["entities"]:
            mention(end_user, name, memory)
        last = row["last_accessed_day"]
        wanted[memory.id] = Inputs(
            access_count=row["access_count"],
            age_days=max(0, days - row["learnt_day"]),
            idle_days=max(0, days - (row["learnt_day"] if last is None else last)),
            inbound=row["inbound"],
            entities=[speaking[name] for name in row["entities"]],
            memories=len(rows) + len(said),
            mention_count=row["mention_count"],
            event_in_days=event,
            # PostgreSQL keeps microseconds.
            expired_days=None if gone is None else (NOW - memory.expires_at) / timedelta(days=1),
        )
    found = rescore.parts(end_user, list(wanted), now=NOW)
    rescore.rescore(end_user, now=NOW)
    for pk, inputs in wanted.items():
        parts = scoring_formula.importance(inputs)
        for component in scoring_formula.Parts.__slots__:
            same = pytest.approx(getattr(parts, component), abs=1e-9)
            assert getattr(found[pk], component) == same, component
        held = Memory.objects.get(pk=pk).importance
        assert abs(held - parts.importance) <= rescore.LEAST_CHANGE


def test_a_memory_learnt_today_keeps_its_importance(end_user: EndUser) -> None:
    memory = make_memory(end_user, learnt_day=100)
    assert rescore.rescore(end_user) == 0
    assert score(memory) == 0.5


def test_a_vacation_makes_nothing_old(end_user: EndUser) -> None:
    make_memory(end_user, "Greta hums.", learnt_day=60, access_count=7, last_accessed_day=80)
    make_memory(end_user, "Greta paints.", learnt_day=99)
    assert rescore.rescore(end_user, now=NOW) == 2
    assert rescore.rescore(end_user, now=NOW + timedelta(days=700)) == 0
    end_user.note_activity(NOW + timedelta(days=701))
    end_user.save()
    assert rescore.rescore(end_user, now=NOW + timedelta(days=701)) == 2


def test_an_event_and_an_expiry_are_counted_in_calendar_days(end_user: EndUser) -> None:
    party = make_memory(
        end_user, "The party", learnt_day=90, happens_at=datetime(2026, 3, 21, tzinfo=UTC)
    )
    offer = make_memory(end_user, "The offer", learnt_day=90, expires_at=NOW)
    rescore.rescore(end_user, now=NOW)
    before = score(party), score(offer)
    rescore.rescore(end_user, now=NOW + timedelta(days=3))
    assert score(party) < before[0]
    assert 0 < score(offer) < before[1]
    rescore.rescore(end_user, now=NOW + timedelta(days=5))
    assert score(offer) == 0


@pytest.mark.parametrize(("zone", "lift"), [("UTC", 1.0), ("America/New_York", 2.0)])
def test_today_is_that_of_the_users_time_zone(end_user: EndUser, zone: str, lift: float) -> None:
    end_user.settle(zone)
    # 03:00 UTC on the 21st is still the evening of the 20th in New York.
    now = datetime(2026, 3, 21, 3, 0, tzinfo=UTC)
    memory = make_memory(end_user, happens_at=datetime(2026, 3, 20, 20, 0, tzinfo=UTC))
    assert rescore.parts(end_user, [memory.id], now=now)[memory.id].temporal == lift


def test_only_inbound_edges_make_a_hub_and_being_replaced_does_not(end_user: EndUser) -> None:
    hub = make_memory(end_user, "The hub")
    edges(end_user, hub, 2, "causes")
    edges(end_user, hub, 3, "supersedes")
    edges(end_user, hub, 3, "conflicts")
    edges(end_user, hub, 3, "shares_entity:Oslo")
    cause = Edge.objects.filter(kind="causes").first().source
    found = rescore.parts(end_user, [hub.id, cause.id])
    assert found[hub.id].hub == pytest.approx(0.08)
    assert found[cause.id].hub == 0


def test_a_place_that_every_memory_names_connects_less_than_one_that_some_do(
    end_user: EndUser,
) -> None:
    rows = [make_memory(end_user, f"Memory {n}") for n in range(25)]
    mention(end_user, "home", *rows)
    mention(end_user, "Oslo", *rows[:5])
    mention(end_user, "Rome", rows[5])
    found = rescore.parts(end_user, [row.id for row in rows[4:7]])
    assert found[rows[4].id].entity_hub == pytest.approx(0.2)
    assert found[rows[5].id].entity_hub == found[rows[6].id].entity_hub == 0


def test_the_rows_of_another_user_neither_count_nor_change(end_user: EndUser) -> None:
    mine = make_memory(end_user, "Mine")
    other = make_end_user(activity_days=50)
    theirs = make_memory(other, "Theirs")
    rescore.rescore(end_user)
    assert score(theirs) == 0.5
    assert rescore.parts(end_user, [mine.id, theirs.id]).keys() == {mine.id}
    assert rescore.parts(end_user, []) == {}


def test_a_memory_that_a_profile_speaks_for_stays_at_the_floor_and_the_profile_above(
    end_user: EndUser,
) -> None:
    greta = make_contact(end_user, "Greta")
    source = make_memory(end_user, "Greta lives in Oslo.", greta, learnt_day=100)
    absorbed(greta, source, "location", "Oslo")
    profile = Memory.objects.get(kind="profile")
    Memory.objects.filter(pk=source.pk).update(importance=0.01)
    Memory.objects.filter(pk=profile.pk).update(importance=0.3)
    rescore.rescore(end_user)
    assert (score(source), score(profile)) == (0.05, 0.8)
    found = rescore.parts(end_user, [source.id, profile.id])
    assert found[source.id].by_formula == 0.5
    assert (found[source.id].fixed, found[profile.id].fixed) == (0.05, 0.8)


def test_what_a_person_has_set_stays_until_it_is_given_back_to_the_formula(
    end_user: EndUser,
) -> None:
    memory = make_memory(end_user, learnt_day=0)
    edit_memories.edit(end_user, memory.id, {"importance": 0.9}, actor="operator:ann")
    assert rescore.rescore(end_user) == 0
    assert score(memory) == 0.9
    edit_memories.edit(end_user, memory.id, {"importance": None}, actor="operator:ann")
    rescore.rescore(end_user)
    assert score(memory) < 0.2


def test_a_form_that_sends_the_importance_along_unchanged_sets_nothing(end_user: EndUser) -> None:
    memory = make_memory(end_user, learnt_day=0)
    edit_memories.edit(
        end_user, memory.id, {"importance": 0.5, "type": "health"}, actor="operator:ann"
    )
    rescore.rescore(end_user)
    assert score(memory) < 0.2


def test_a_memory_added_with_an_importance_keeps_it(end_user: EndUser) -> None:
    memory, _ = edit_memories.add(
        end_user, "Greta hums.", actor="app:x", type="personal", subtype="friend", importance=0.3
    )
    EndUser.objects.filter(pk=end_user.pk).update(activity_days=300)
    rescore.rescore(end_user)
    assert score(memory) == 0.3


def test_undoing_an_edit_gives_the_memory_back_to_the_formula(end_user: EndUser) -> None:
    memory = make_memory(end_user, learnt_day=0)
    change = edit_memories.edit(end_user, memory.id, {"importance": 0.9}, actor="operator:ann")
    rescore.rescore(end_user)
    undo_change(change, actor="operator:ann")
    assert score(memory) == 0.5
    rescore.rescore(end_user)
    assert score(memory) < 0.2


@pytest.mark.parametrize("junk", ["0.9", None, True, [0.9], {"a": 1}])
def test_metadata_of_another_kind_is_no_importance(end_user: EndUser, junk: object) -> None:
    memory = make_memory(end_user, learnt_day=0, metadata={"pinned_importance": junk})
    rescore.rescore(end_user)
    assert score(memory) < 0.2


def test_archived_memories_are_left_alone(end_user: EndUser) -> None:
    memory = make_memory(end_user, learnt_day=0, status="archived")
    assert rescore.rescore(end_user) == 0
    assert score(memory) == 0.5
    assert rescore.parts(end_user, [memory.id]) == {}


def test_a_correction_is_undone_after_a_rescoring_that_moved_the_importance(
    end_user: EndUser,
) -> None:
    greta = make_contact(end_user, "Greta")
    source = make_memory(end_user, "Greta lives in Oslo.", greta, learnt_day=0)
    absorbed(greta, source, "location", "Oslo")
    change = edit_memories.unlink(end_user, source.id, greta.id, actor="operator:ann")
    assert score(source) == 0.5
    rescore.rescore(end_user)
    assert score(source) not in (0.5, 0.05)
    undo_change(change, actor="operator:ann")
    assert not Link.objects.get(memory=source).rejected
    derived.point_at_profiles(end_user, [source.id])
    rescore.rescore(end_user)
    consolidated = Memory.objects.get(pk=source.pk).consolidated_into_id is not None
    assert (score(source) == 0.05) == consolidated
    assert Change.objects.get(pk=change.pk).undone_at is not None


def test_two_statements_whatever_the_number_of_memories(end_user: EndUser) -> None:
    counts = []
    for number in (1, 60):
        for n in range(number):
            make_memory(end_user, f"{number} {n}", learnt_day=10)
        with CaptureQueriesContext(connection) as queries:
            rescore.rescore(end_user)
        counts.append(len([q for q in queries if "SAVEPOINT" not in q["sql"]]))
    assert counts == [2, 2]


def test_a_second_run_writes_nothing(end_user: EndUser) -> None:
    for n in range(5):
        make_memory(end_user, f"Memory {n}", learnt_day=n * 20)
    assert rescore.rescore(end_user, now=NOW) == 5
    versions = list(Memory.objects.extra(select={"x": "xmin::text"}).values_list("pk", "x"))
    assert rescore.rescore(end_user, now=NOW + timedelta(hours=3)) == 0
    assert versions == list(Memory.objects.extra(select={"x": "xmin::text"}).values_list("pk", "x"))


def test_rescoring_is_no_news_about_a_memory(end_user: EndUser) -> None:
    memory = make_memory(end_user, learnt_day=0)
    before = Memory.objects.get(pk=memory.pk).updated_at
    rescore.rescore(end_user)
    assert Memory.objects.get(pk=memory.pk).updated_at == before


def test_an_end_user_who_is_gone_is_no_error() -> None:
    assert rescore.rescore(0) == 0


@pytest.mark.django_db(transaction=True)
def test_a_memory_that_another_statement_holds_is_left_for_the_next_run() -> None:
    end_user = make_end_user(activity_days=100)
    held, free = (make_memory(end_user, text, learnt_day=0) for text in ("Held", "Free"))
    took: list[int] = []

    @all_users()
    def nightly() -> None:
        took.append(rescore.rescore(end_user.pk))
        connection.close()

    with transaction.atomic():
        Memory.objects.filter(pk=held.pk).update(access_count=1)
        night = threading.Thread(target=nightly)
        night.start()
        night.join(timeout=60)
        assert not night.is_alive()
    assert took == [1]
    assert score(free) < 0.2
    assert score(held) == 0.5


def test_users_of_whom_a_memory_of_people_is_linked_to_nobody_are_known_by_the_jobs(
    end_user: EndUser,
) -> None:
    def has_unlinked() -> bool:
        end_user.refresh_from_db()
        return end_user.has_unlinked

    memory = make_memory(end_user, "A friend sails.", subtype="friend")
    store_memories.embed_missing(end_user, embedder())
    assert not has_unlinked()
    classify_edges.relate(end_user.pk, Budget(calls=9, rows=9))
    assert has_unlinked()
    Link.objects.create(
        end_user=end_user, memory=memory, contact=make_contact(end_user), made_by="operator"
    )
    rescore.rescore_user(end_user.pk, Budget(calls=9, rows=9))
    assert not has_unlinked()
