"""Walking the graph: how far, how heavy, at what cost, and what it mends."""

import threading
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import close_old_connections, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts import cells
from accounts.models import Change, EndUser
from accounts.scope import all_users
from memories import graph
from memories.corrections import edit_memories, erasure_requests
from memories.corrections.undo import undo_change
from memories.graph import neighbours
from memories.models import Edge, Memory
from tests.factories import SOME_DAY, make_end_user, make_memory
from tests.memories.snapshots import assert_sound

pytestmark = pytest.mark.django_db
Kind = Edge.Kind


def joined(
    source: Memory, target: Memory, kind: str = Kind.CAUSES, confidence: float = 1.0
) -> Edge:
    return Edge.objects.create(
        end_user=source.end_user, source=source, target=target, kind=kind, confidence=confidence
    )


def archive(memory: Memory) -> Change:
    change = erasure_requests.hide(memory.end_user, [memory], actor="operator:x")
    assert change is not None
    return change


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user()


@pytest.fixture
def five(zoe: EndUser) -> list[Memory]:
    return [make_memory(zoe, f"memory number {n}") for n in range(5)]


def test_a_hop_follows_edges_in_both_directions(zoe: EndUser, five: list[Memory]) -> None:
    a, b, c, *_ = five
    joined(a, b, Kind.CAUSES)
    joined(c, a, Kind.SUPERSEDES, 0.5)

    found = neighbours(zoe, [a.pk])

    assert list(found) == [b.pk, c.pk]
    assert found[b.pk].path == (("causes", a.pk),)
    assert found[b.pk].weight == pytest.approx(0.8)
    assert found[c.pk].weight == pytest.approx(0.9 * 0.5)  # back from the older to the newer
    assert found[c.pk].steps[0].inverse


def test_the_second_hop_tells_the_way_and_multiplies_the_weights(
    zoe: EndUser, five: list[Memory]
) -> None:
    a, b, c, d, _ = five
    joined(a, b, Kind.CAUSES)
    joined(b, c, Kind.CONFLICTS, 0.5)
    joined(c, d)

    assert set(neighbours(zoe, [a.pk])) == {b.pk}
    found = neighbours(zoe, [a.pk], hops=2)

    assert set(found) == {b.pk, c.pk}
    assert found[c.pk].hops == 2
    assert found[c.pk].path == (("causes", a.pk), ("conflicts", b.pk))
    assert found[c.pk].weight == pytest.approx(0.8 * 0.8 * 0.5)


def test_of_two_ways_of_the_same_length_the_heavier_counts(
    zoe: EndUser, five: list[Memory]
) -> None:
    a, b, c, d, _ = five
    joined(a, b, "shares_entity:Porto")
    joined(a, c)
    joined(b, d)
    joined(c, d)

    assert neighbours(zoe, [a.pk], hops=2)[d.pk].path == (("causes", a.pk), ("causes", c.pk))


def test_a_start_is_never_its_own_neighbour(zoe: EndUser, five: list[Memory]) -> None:
    a, b, *_ = five
    joined(a, b)
    assert set(neighbours(zoe, [a.pk, b.pk], hops=2)) == set()


def test_never_more_than_the_limit_and_the_heaviest_first(zoe: EndUser, five: list[Memory]) -> None:
    a, *others = five
    for n, other in enumerate(others):
        joined(a, other, confidence=0.2 * (n + 1))

    assert list(neighbours(zoe, [a.pk], limit=2)) == [others[3].pk, others[2].pk]
    assert neighbours(zoe, [a.pk], limit=0) == {}


def test_kinds_narrow_the_walk(zoe: EndUser, five: list[Memory]) -> None:
    a, b, c, *_ = five
    joined(a, b)
    joined(a, c, "shares_entity:Porto")

    assert set(neighbours(zoe, [a.pk], kinds=[Kind.CAUSES])) == {b.pk}
    assert set(neighbours(zoe, [a.pk], kinds=[Edge.SHARES_ENTITY])) == {c.pk}
    assert set(neighbours(zoe, [a.pk], kinds=["shares_entity:Rome"])) == set()


def test_another_users_edges_are_never_walked(five: list[Memory]) -> None:
    joined(five[0], five[1])
    assert neighbours(make_end_user(), [five[0].pk]) == {}


def test_a_walk_costs_one_statement_a_hop_however_many_edges(
    zoe: EndUser, five: list[Memory]
) -> None:
    a, b, *_ = five
    joined(a, b)
    for n in range(30):
        joined(b, make_memory(zoe, f"other {n}"))

    with CaptureQueriesContext(connection) as statements:
        assert len(neighbours(zoe, [a.pk], hops=2)) == 31
    assert len(statements) == 2


def test_outdated_memories_are_neighbours_and_their_edges_stay(
    zoe: EndUser, five: list[Memory]
) -> None:
    a, b, c, *_ = five
    joined(a, b)
    joined(b, c)
    edit_memories.outdate(zoe, [b], actor="operator:x")

    assert set(neighbours(zoe, [a.pk], hops=2)) == {b.pk, c.pk}
    assert Edge.both_ways.count() == 4


def test_an_edge_to_an_archived_memory_is_removed_when_met(
    zoe: EndUser, five: list[Memory]
) -> None:
    a, b, c, *_ = five
    joined(a, b)
    joined(c, a)
    joined(a, five[3])
    Memory.objects.filter(pk__in=[b.pk, c.pk]).update(status="archived")

    assert set(neighbours(zoe, [a.pk], heal=False)) == {five[3].pk}
    assert Edge.both_ways.count() == 6
    with CaptureQueriesContext(connection) as statements:
        assert set(neighbours(zoe, [a.pk])) == {five[3].pk}
    assert len([s for s in statements if "SAVEPOINT" not in s["sql"]]) == 2
    assert list(Edge.objects.values_list("target", flat=True)) == [five[3].pk]
    assert Edge.both_ways.count() == 2


def test_where_a_memory_comes_from_is_hidden_but_never_removed(
    zoe: EndUser, five: list[Memory]
) -> None:
    a, b, c, *_ = five
    joined(a, b, Kind.SUPERSEDES)
    joined(c, a, Kind.PART_OF)
    archive(b)
    archive(c)

    assert neighbours(zoe, [a.pk], hops=2) == {}
    assert Edge.objects.count() == 2


def test_archiving_takes_the_edges_and_its_undo_brings_them_back(
    zoe: EndUser, five: list[Memory]
) -> None:
    a, b, c, *_ = five
    edges = {joined(a, b).pk, joined(b, c, Kind.COMPLEMENTS).pk}
    hidden = archive(b)
    assert neighbours(zoe, [a.pk], hops=2) == {}
    assert not Edge.both_ways.exists()

    undo_change(hidden, actor="operator:x")

    assert set(neighbours(zoe, [a.pk], hops=2)) == {b.pk, c.pk}
    assert set(Edge.objects.values_list("pk", flat=True)) == edges
    assert_sound(zoe)


def test_an_edit_to_archived_takes_the_edges_too(zoe: EndUser, five: list[Memory]) -> None:
    a, b, *_ = five
    joined(a, b)
    change = edit_memories.edit(zoe, b.pk, {"status": "archived"}, actor="operator:x")
    assert not Edge.both_ways.exists()

    undo_change(change, actor="operator:x")
    assert set(neighbours(zoe, [a.pk])) == {b.pk}
    assert Edge.both_ways.count() == 2


def test_an_edge_that_was_found_again_meanwhile_is_no_obstacle_to_an_undo(
    zoe: EndUser, five: list[Memory]
) -> None:
    a, b, *_ = five
    edge = joined(a, b)
    hidden = archive(b)
    joined(a, b)

    undo_change(hidden, actor="operator:x")

    assert [each.pk for each in Edge.objects.all()] == [edge.pk]
    assert_sound(zoe)


def test_a_memory_that_comes_back_is_looked_at_again(zoe: EndUser, five: list[Memory]) -> None:
    a = five[0]
    Memory.objects.update(related_at=SOME_DAY)
    hidden = archive(a)
    undo_change(hidden, actor="operator:x")
    assert list(Memory.objects.filter(related_at=None)) == [a]


def test_superseding_shows_from_both_sides_and_its_undo_takes_both_rows(
    zoe: EndUser, five: list[Memory]
) -> None:
    newer, older, *_ = five
    change = edit_memories.outdate(zoe, [older], actor="extractor", by=newer.pk)
    assert set(neighbours(zoe, [older.pk])) == {newer.pk}
    assert set(neighbours(zoe, [newer.pk])) == {older.pk}
    assert change is not None
    undo_change(change, actor="operator:x")
    assert not Edge.both_ways.exists()


@pytest.mark.django_db(transaction=True)
def test_a_walk_never_waits_for_a_writer() -> None:
    zoe = make_end_user()
    a, b = make_memory(zoe, "one"), make_memory(zoe, "two")
    joined(a, b)
    Memory.objects.filter(pk=b.pk).update(status="archived")
    held, go_on = threading.Event(), threading.Event()

    @all_users()
    def write() -> None:
        with transaction.atomic():
            EndUser.objects.lock(zoe.pk)
            held.set()
            go_on.wait(20)
        close_old_connections()
        connection.close()

    busy = threading.Thread(target=write)
    busy.start()
    try:
        assert held.wait(20)
        assert neighbours(zoe, [a.pk]) == {}
        assert Edge.both_ways.count() == 2  # left to the next walk
    finally:
        go_on.set()
        busy.join()
    assert neighbours(zoe, [a.pk]) == {}
    assert not Edge.both_ways.exists()


def test_a_pair_that_somebody_took_apart_is_known(zoe: EndUser, five: list[Memory]) -> None:
    a, b, *_ = five
    assert graph.disconnected_pairs(zoe) == set()
    Change.objects.create(
        end_user=zoe, verb="disconnect", actor="operator:x", subjects=[str(a.pk), str(b.pk)]
    )
    assert graph.disconnected_pairs(zoe) == {frozenset((a.pk, b.pk))}
    Change.objects.update(undone_at=SOME_DAY + timedelta(days=1))
    assert graph.disconnected_pairs(zoe) == set()


def test_an_unknown_memory_has_no_neighbours(zoe: EndUser) -> None:
    assert neighbours(zoe, [UUID(int=1)], hops=2) == {}
    assert neighbours(zoe, []) == {}


def test_a_mirror_has_the_number_of_its_edge_in_the_other_half_of_the_cells_ids(
    zoe: EndUser,
) -> None:
    one, other = (make_memory(zoe, text) for text in ("Anna moved", "Anna is away"))
    edge = joined(one, other)
    [mirror] = Edge.both_ways.of(zoe).filter(inverse=True)
    assert mirror.pk == edge.pk + 2 ** (cells.COUNTED_BITS - 1)
