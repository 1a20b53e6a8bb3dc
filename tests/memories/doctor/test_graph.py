"""What the doctor finds wrong in the graph, and mends."""

import pgtrigger
import pytest
from django.db import connection

from memories.doctor.invariants import CHECKS
from memories.models import Edge, EntityLink
from memories.pipeline import classify_edges
from tests.factories import make_end_user, make_memory

pytestmark = pytest.mark.django_db

OF_GRAPH = {
    check.__name__: check
    for check in CHECKS
    if check.__name__ in ("edges_have_mirrors", "entity_links_fit", "shared_entities_are_shared")
}


@pytest.fixture
def edge() -> Edge:
    """An edge of each sort, and nothing wrong."""
    zoe = make_end_user()
    one = make_memory(zoe, "The user lives in Lisbon.")
    other = make_memory(zoe, "Marcus flew to Lisbon.")
    classify_edges.tag(zoe, [one, other])
    stated = Edge.objects.create(end_user=zoe, source=one, target=other, kind="causes", reason="so")
    assert [finding for check in OF_GRAPH.values() for finding in check()] == []
    return stated


def assert_found_and_mended(name: str) -> None:
    check = OF_GRAPH[name]
    assert list(check())
    fix = CHECKS[check]
    assert fix is not None
    fix(list(check()))
    assert [finding for other in OF_GRAPH.values() for finding in other()] == []


def test_a_lost_mirror_is_written_again(edge: Edge) -> None:
    mirrors = Edge.both_ways.filter(inverse=True, kind="causes")
    before = mirrors.values("source", "target", "reason", "confidence").get()
    mirrors.delete()
    assert_found_and_mended("edges_have_mirrors")
    assert mirrors.values("source", "target", "reason", "confidence").get() == before


def test_a_mirror_that_lies_alone_goes(edge: Edge) -> None:
    with pgtrigger.ignore("memories.Edge:mirror_removed"):
        edge.delete()
    assert Edge.both_ways.filter(kind="causes").count() == 1
    assert_found_and_mended("edges_have_mirrors")
    assert not Edge.both_ways.filter(kind="causes").exists()


def test_a_mirror_that_tells_otherwise_follows_the_edge(edge: Edge) -> None:
    Edge.objects.filter(pk=edge.pk).update(confidence=0.5)
    assert_found_and_mended("edges_have_mirrors")
    assert set(Edge.both_ways.filter(kind="causes").values_list("confidence", flat=True)) == {0.5}


def test_an_edge_whose_ends_were_moved_gets_its_mirror(edge: Edge) -> None:
    third = make_memory(edge.end_user, "third")
    Edge.objects.filter(pk=edge.pk).update(target=third)
    assert_found_and_mended("edges_have_mirrors")
    assert {(e.source_id, e.target_id) for e in Edge.both_ways.filter(kind="causes")} == {
        (edge.source_id, third.pk),
        (third.pk, edge.source_id),
    }


def test_an_edge_by_an_entity_that_one_side_does_not_speak_of_goes(edge: Edge) -> None:
    EntityLink.objects.filter(memory=edge.target).delete()
    assert_found_and_mended("shared_entities_are_shared")
    assert list(Edge.objects.all()) == [edge]


def test_an_entity_link_across_users_is_found(edge: Edge) -> None:
    stranger = make_memory(make_end_user(), "stranger")
    connection.check_constraints()
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE memories_entitylink "
            "DROP CONSTRAINT memories_entitylink_memory_id_same_user"
        )
    EntityLink.objects.filter(memory=edge.target).update(memory=stranger)
    assert list(OF_GRAPH["entity_links_fit"]())
