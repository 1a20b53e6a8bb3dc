"""What is outdated says since when and how certainly, and nothing of it is left once it holds again."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories.corrections import edit_memories
from memories.corrections.undo import undo_change
from memories.models import Memory
from memories.pipeline import store_memories
from tests.factories import SOME_DAY, make_end_user, make_memory

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def end_user():
    return make_end_user()


@pytest.mark.parametrize(
    ("actor", "certainty"), [("operator:eva", 1.0), ("app:chat", 1.0), ("extractor", 0.9)]
)
def test_it_is_as_certain_as_who_says_so(end_user, actor, certainty):
    memory = make_memory(end_user, "Bob sings")
    edit_memories.outdate(end_user, [memory], actor=actor)
    memory.refresh_from_db()
    assert memory.outdated_confidence == certainty
    assert timezone.now() - memory.outdated_at < timedelta(minutes=1)
    assert memory.valid_to == memory.outdated_at


@pytest.mark.parametrize("way", ["undo", "edit"])
def test_back_to_active_nothing_of_it_is_left(end_user, way):
    memory = make_memory(end_user, "Bob sings")
    ending = edit_memories.Ending(SOME_DAY + DAY)
    change = edit_memories.outdate(end_user, [memory], actor="extractor", ending=ending)
    memory.refresh_from_db()
    assert memory.outdated_at == memory.valid_to == SOME_DAY + DAY
    if way == "undo":
        undo_change(change, actor="operator:x")
    else:
        edit_memories.edit(end_user, memory.id, {"status": "active"}, actor="operator:x")
    memory.refresh_from_db()
    assert (memory.status, memory.outdated_at, memory.outdated_confidence, memory.valid_to) == (
        "active", None, 1.0, None,
    )  # fmt: skip


def test_what_the_user_took_back_is_outdated_when_they_said_so(end_user):
    memory = make_memory(end_user, "Bob sings", source_message_ids=[1])
    store_memories.retract(end_user, [1], SOME_DAY + DAY)
    memory.refresh_from_db()
    assert (memory.status, memory.outdated_confidence) == ("outdated", 0.95)
    assert memory.outdated_at == SOME_DAY + DAY
    assert Memory.objects.of(end_user).count() == 1
