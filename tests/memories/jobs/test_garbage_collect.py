"""What nothing points at any more is cleared away, bounded, and nothing else."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import EndUser
from memories.budget import Budget
from memories.jobs import garbage_collect, runner
from memories.models import Entity, EntityLink, Injected, ModelCall, ProcessJob
from tests.factories import make_end_user, make_memory

pytestmark = pytest.mark.django_db

OLD = timezone.now() - timedelta(days=31)


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user()


def entity(end_user: EndUser, name: str, **fields: object) -> Entity:
    row = Entity.objects.create(end_user=end_user, kind="place", name=name, key=name)
    Entity.objects.filter(pk=row.pk).update(**{"created_at": OLD, **fields})
    return row


def test_entities_that_no_memory_speaks_of_and_old_injections_go(end_user: EndUser) -> None:
    used, fresh = entity(end_user, "Oslo"), entity(end_user, "Rome", created_at=timezone.now())
    entity(end_user, "Nowhere")
    memory = make_memory(end_user)
    EntityLink.objects.create(end_user=end_user, entity=used, memory=memory)
    for at in (OLD, timezone.now() - timedelta(days=29)):
        Injected.objects.create(end_user=end_user, memory_ids=[memory.id], created_at=at)
        ProcessJob.objects.create(end_user=end_user, up_to_seq=0, created_at=at)
    for at in (OLD, timezone.now() - timedelta(days=13)):
        call = {"provider": "p", "model": "m", "purpose": "x", "outcome": "output"}
        row = ModelCall.objects.create(end_user=end_user, answer="?", **call)
        ModelCall.objects.filter(pk=row.pk).update(created_at=at)
    assert garbage_collect.users_due() == [end_user.pk]
    effect = garbage_collect.collect(end_user.pk, Budget(calls=1, rows=100))
    assert effect == {"entities": 1, "injections": 1, "jobs": 1}
    assert set(Entity.objects.values_list("pk", flat=True)) == {used.pk, fresh.pk}
    assert Injected.objects.count() == 1
    assert ModelCall.objects.exclude(answer="").count() == 1
    assert garbage_collect.users_due() == []


def test_another_users_leftovers_stay(end_user: EndUser) -> None:
    other = entity(make_end_user(), "Nowhere")
    garbage_collect.collect(end_user.pk, Budget(calls=1, rows=100))
    assert Entity.objects.get() == other


def test_a_spent_budget_leaves_the_rest_for_the_next_run(end_user: EndUser, monkeypatch) -> None:
    monkeypatch.setattr(garbage_collect, "CHUNK", 2)
    for n in range(5):
        entity(end_user, f"Nowhere {n}")
    assert garbage_collect.collect(end_user.pk, Budget(calls=1, rows=3))["entities"] == 4
    assert garbage_collect.collect(end_user.pk, Budget(calls=1, rows=3))["entities"] == 1


def test_as_a_job_it_visits_all_and_a_second_run_finds_nothing(end_user: EndUser) -> None:
    for user in (end_user, make_end_user()):
        entity(user, "Nowhere")
    assert runner.run("collect").effect == {"users": 2, "entities": 2}
    assert runner.run("collect").effect == {}


def test_a_user_who_is_gone_is_no_error() -> None:
    assert garbage_collect.collect(0, Budget(calls=1, rows=10)) == {
        "entities": 0,
        "injections": 0,
        "jobs": 0,
    }
