"""Entities as rows, and which memories they join."""

from datetime import timedelta

import pytest

from accounts.models import EndUser
from contacts.models import Contact
from memories.corrections import edit_edges
from memories.models import Edge, Entity, EntityLink, Memory
from memories.pipeline import classify_edges
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.snapshots import assert_sound

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user()


def remember(end_user: EndUser, content: str, *about: Contact, day: int = 0) -> Memory:
    return make_memory(end_user, content, *about, said_at=SOME_DAY + timedelta(days=day))


def joined(end_user: EndUser) -> set[tuple[str, frozenset[str]]]:
    edges = Edge.objects.of(end_user).select_related("source", "target")
    return {(e.kind, frozenset((e.source.content, e.target.content))) for e in edges}


def test_memories_of_one_place_are_joined_by_it(zoe: EndUser) -> None:
    one = remember(zoe, "用户住在成都")
    other = remember(zoe, "用户的姐姐在成都开了书店", day=1)
    third = remember(zoe, "用户对荞麦过敏")
    assert classify_edges.tag(zoe, [one, other, third]) == 3

    assert joined(zoe) == {("shares_entity:成都", frozenset((one.content, other.content)))}
    assert list(Entity.objects.of(zoe).values_list("kind", "name", "key")) == [
        ("place", "成都", "成都")
    ]
    assert_sound(zoe)


def test_tagging_again_changes_nothing(zoe: EndUser) -> None:
    memories = [remember(zoe, f"The user saw friend {n} in Lisbon.") for n in range(4)]
    classify_edges.tag(zoe, memories)
    rows = [list(model.objects.values().order_by("pk")) for model in (Entity, EntityLink, Edge)]

    assert classify_edges.tag(zoe, memories) == 0
    assert rows == [
        list(model.objects.values().order_by("pk")) for model in (Entity, EntityLink, Edge)
    ]


def test_people_whom_a_memory_is_linked_to_join_it_without_being_named(zoe: EndUser) -> None:
    ann = make_contact(zoe, "Ann", aliases=["Annie"])
    one = remember(zoe, "She sings in a choir.", ann)
    other = remember(zoe, "Annie has a cat.", ann)
    stranger = remember(zoe, "Her brother sings.")
    classify_edges.tag(zoe, [one, other, stranger])
    assert joined(zoe) == {("shares_entity:Ann", frozenset((one.content, other.content)))}
    assert list(Entity.objects.values_list("kind", "name")) == [("person", "Ann")]


def test_only_the_latest_few_are_joined(zoe: EndUser) -> None:
    old = [remember(zoe, f"The user ate dish {n} in Lisbon.", day=n) for n in range(9)]
    new = remember(zoe, "The user flew to Lisbon.", day=20)
    classify_edges.tag(zoe, old[:1])
    EntityLink.objects.bulk_create(
        EntityLink(end_user=zoe, memory=memory, entity=Entity.objects.get()) for memory in old[1:]
    )
    classify_edges.tag(zoe, [new])
    targets = set(Edge.objects.filter(source=new).values_list("target", flat=True))
    assert targets == {memory.pk for memory in old[-classify_edges.JOINED :]}


def test_an_entity_of_a_large_share_of_all_that_is_known_joins_nothing(zoe: EndUser) -> None:
    memories = [remember(zoe, f"The user met person {n} in Lisbon.") for n in range(11)]
    classify_edges.tag(zoe, memories)
    assert EntityLink.objects.count() == 11
    assert not Edge.objects.exists()

    for n in range(40):
        remember(zoe, f"Nothing much happened on day {n}.")
    classify_edges.tag(zoe, memories)
    assert Edge.objects.exists()


def test_an_entity_of_very_many_memories_joins_nothing(zoe: EndUser) -> None:
    place = Entity.objects.create(end_user=zoe, kind="place", name="Lisbon", key="lisbon")
    for n in range(classify_edges.COMMON):
        memory = remember(zoe, f"fact {n}")
        EntityLink.objects.create(end_user=zoe, memory=memory, entity=place)
    for n in range(4 * classify_edges.COMMON):
        remember(zoe, f"other {n}")
    new = remember(zoe, "The user flew to Lisbon.")
    classify_edges.tag(zoe, [new])
    assert not Edge.objects.exists()


def test_what_a_memory_no_longer_names_no_longer_joins_it(zoe: EndUser) -> None:
    one = remember(zoe, "The user lives in Lisbon.")
    other = remember(zoe, "Marcus flew to Lisbon.")
    classify_edges.tag(zoe, [one, other])
    assert joined(zoe)

    other.content = "Marcus flew to Porto."
    other.save()
    classify_edges.tag(zoe, [other])

    assert not Edge.both_ways.exists()
    assert sorted(other.entity_links.values_list("entity__name", flat=True)) == ["Porto"]
    assert sorted(one.entity_links.values_list("entity__name", flat=True)) == ["Lisbon"]


def test_archived_and_outdated_memories_are_not_joined(zoe: EndUser) -> None:
    old = [
        make_memory(zoe, f"The user flew to Lisbon in {status}.", status=status)
        for status in ("archived", "outdated")
    ]
    classify_edges.tag(zoe, old)
    classify_edges.tag(zoe, [remember(zoe, "The user lives in Lisbon.")])
    assert not Edge.objects.exists()


def test_entities_of_two_users_are_their_own(zoe: EndUser) -> None:
    yan = make_end_user()
    for end_user in (zoe, yan):
        classify_edges.tag(end_user, [remember(end_user, "The user lives in Lisbon.")])
    assert Entity.objects.count() == 2
    assert not Edge.objects.exists()


def test_an_edge_that_somebody_took_away_is_not_made_again(zoe: EndUser) -> None:
    one = remember(zoe, "The user lives in Lisbon.")
    other = remember(zoe, "Marcus flew to Lisbon.")
    classify_edges.tag(zoe, [one, other])
    edge = Edge.objects.get()
    edit_edges.disconnect(zoe, edge.source_id, edge.pk, actor="operator:x")
    classify_edges.tag(zoe, [one, other])
    assert not Edge.objects.exists()


def test_the_number_of_statements_does_not_grow_with_the_memories(
    zoe: EndUser, django_assert_max_num_queries
) -> None:
    memories = [remember(zoe, f"Person {n} went from Lisbon to Porto.") for n in range(20)]
    with django_assert_max_num_queries(14):
        classify_edges.tag(zoe, memories)
