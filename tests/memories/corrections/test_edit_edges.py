"""Edges that people state and take away, and that every way back is open."""

from uuid import uuid4

import pytest

from accounts.models import EndUser
from memories.corrections import edit_edges, edit_memories
from memories.corrections.edit_memories import InvalidCorrection
from memories.corrections.undo import undo_change
from memories.models import Edge, Memory
from tests.factories import make_end_user, make_memory

pytestmark = pytest.mark.django_db
ANN = "operator:ann"


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user()


@pytest.fixture
def two(zoe: EndUser) -> tuple[Memory, Memory]:
    return make_memory(zoe, "one"), make_memory(zoe, "two")


def test_an_edge_is_stated_with_its_reason_and_undone(
    zoe: EndUser, two: tuple[Memory, Memory]
) -> None:
    one, other = two
    edge, change = edit_edges.connect(zoe, one.pk, other.pk, "causes", actor=ANN, why="she said so")
    assert (edge.source_id, edge.target_id, edge.reason) == (one.pk, other.pk, "she said so")
    assert Edge.both_ways.count() == 2
    assert change is not None
    assert (change.verb, change.actor) == ("connect", ANN)
    undo_change(change, actor=ANN)
    assert not Edge.both_ways.exists()


def test_the_same_edge_is_stated_once(zoe: EndUser, two: tuple[Memory, Memory]) -> None:
    one, other = two
    edge, _ = edit_edges.connect(zoe, one.pk, other.pk, "conflicts", actor=ANN)
    for ends in ((one, other), (other, one)):
        ids = [memory.pk for memory in ends]
        assert edit_edges.connect(zoe, *ids, "conflicts", actor=ANN) == (edge, None)
    _, change = edit_edges.connect(zoe, other.pk, one.pk, "causes", actor=ANN)
    assert change is not None


def test_an_edge_is_taken_away_from_either_side_and_comes_back(
    zoe: EndUser, two: tuple[Memory, Memory]
) -> None:
    one, other = two
    for end in two:
        edge, _ = edit_edges.connect(zoe, one.pk, other.pk, "causes", actor=ANN, why="so")
        row = Edge.both_ways.get(source=end)
        change = edit_edges.disconnect(zoe, end.pk, row.pk, actor=ANN)
        assert not Edge.both_ways.exists()
        undo_change(change, actor=ANN)
        assert Edge.objects.get() == edge
        assert Edge.both_ways.count() == 2


def test_where_a_memory_comes_from_cannot_be_taken_away(
    zoe: EndUser, two: tuple[Memory, Memory]
) -> None:
    one, other = two
    edit_memories.outdate(zoe, [other], actor=ANN, by=one.pk)
    with pytest.raises(InvalidCorrection):
        edit_edges.disconnect(zoe, one.pk, Edge.objects.get().pk, actor=ANN)
    assert Edge.objects.exists()


@pytest.mark.parametrize(
    "kind", ["supersedes", "was_context_for", "part_of", "shares_entity:x", ""]
)
def test_what_a_machine_states_nobody_states_by_hand(
    zoe: EndUser, two: tuple[Memory, Memory], kind: str
) -> None:
    with pytest.raises(InvalidCorrection):
        edit_edges.connect(zoe, two[0].pk, two[1].pk, kind, actor=ANN)


def test_an_edge_needs_two_memories_of_the_user_that_are_not_archived(
    zoe: EndUser, two: tuple[Memory, Memory]
) -> None:
    one, _ = two
    hidden = make_memory(zoe, "hidden", status="archived")
    stranger = make_memory(make_end_user(), "stranger")
    for target in (one.pk, hidden.pk, stranger.pk, uuid4()):
        with pytest.raises(InvalidCorrection):
            edit_edges.connect(zoe, one.pk, target, "causes", actor=ANN)
    assert not Edge.objects.exists()


def test_another_users_edge_cannot_be_taken_away(zoe: EndUser, two: tuple[Memory, Memory]) -> None:
    one, other = two
    edge, _ = edit_edges.connect(zoe, one.pk, other.pk, "causes", actor=ANN)
    with pytest.raises(InvalidCorrection):
        edit_edges.disconnect(make_end_user(), one.pk, edge.pk, actor=ANN)
    with pytest.raises(InvalidCorrection):
        edit_edges.disconnect(zoe, make_memory(zoe, "three").pk, edge.pk, actor=ANN)
    assert Edge.both_ways.count() == 2
