import pytest
from django.db import IntegrityError, connection, transaction

from memories.models import Batch, Edge, Link, Memory
from tests.factories import make_contact, make_end_user, make_memory, make_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def two():
    return make_end_user(), make_end_user()


def refused(*rows):
    with pytest.raises(IntegrityError), transaction.atomic():
        for row in rows:
            row.save(force_insert=True)
        connection.check_constraints()  # deferred ones speak at commit


def test_a_link_cannot_point_at_another_users_contact(two):
    mine, other = two
    memory, contact = make_memory(mine), make_contact(other)
    refused(Link(end_user=mine, memory=memory, contact=contact, made_by="operator"))
    refused(Link(end_user=other, memory=memory, contact=contact, made_by="operator"))


def test_an_edge_cannot_join_two_users_memories(two):
    mine, other = two
    refused(
        Edge(
            end_user=mine,
            source=make_memory(mine),
            target=make_memory(other),
            kind=Edge.Kind.SUPERSEDES,
        )
    )


def test_a_memory_cannot_be_consolidated_into_another_users_profile(two):
    mine, other = two
    memory, profile = make_memory(mine), make_memory(other)
    with pytest.raises(IntegrityError), transaction.atomic():
        Memory.objects.filter(pk=memory.pk).update(consolidated_into=profile, importance=0.05)
        connection.check_constraints()  # deferred ones speak at commit


def test_a_contact_cannot_be_merged_into_another_users(two):
    mine, other = two
    contact, target = make_contact(mine), make_contact(other)
    with pytest.raises(IntegrityError), transaction.atomic():
        type(contact).objects.filter(pk=contact.pk).update(merged_into=target)
        connection.check_constraints()  # deferred ones speak at commit


def test_the_same_active_content_is_stored_once_per_user(two):
    mine, other = two
    make_memory(mine, "小红在腾讯工作")
    make_memory(other, "小红在腾讯工作")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_memory(mine, "小红在腾讯工作")


def test_history_may_say_what_an_active_memory_says(two):
    mine, _ = two
    make_memory(mine, "小红在腾讯工作", status="outdated")
    make_memory(mine, "小红在腾讯工作")
    assert Memory.objects.filter(content="小红在腾讯工作").count() == 2


@pytest.mark.parametrize("importance", [-0.01, 1.01])
def test_importance_outside_0_to_1_is_refused(two, importance):
    with pytest.raises(IntegrityError), transaction.atomic():
        make_memory(two[0], importance=importance)


def test_a_consolidated_source_cannot_rise_above_the_floor(two):
    memory, profile = make_memory(two[0], "a"), make_memory(two[0], "b")
    with pytest.raises(IntegrityError), transaction.atomic():
        Memory.objects.filter(pk=memory.pk).update(consolidated_into=profile, importance=0.1)


def test_batches_of_a_user_never_overlap(two):
    mine, other = two
    Batch.objects.create(end_user=mine, first_seq=1, last_seq=10)
    Batch.objects.create(end_user=mine, first_seq=11, last_seq=20)
    Batch.objects.create(end_user=other, first_seq=5, last_seq=15)
    with pytest.raises(IntegrityError), transaction.atomic():
        Batch.objects.create(end_user=mine, first_seq=20, last_seq=21)


def test_a_client_id_is_stored_once_and_no_id_many_times(two):
    mine, _ = two
    make_message(mine, client_id="a")
    make_message(mine)
    make_message(mine)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_message(mine, client_id="a")
