"""A memory moves from one person to another, with what it states."""

import pytest

from accounts.models import EndUser
from contacts import relations, store
from contacts.models import Relation
from memories.corrections import edit_memories
from memories.corrections.undo import undo_change
from memories.models import Memory
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories.corrections.liz_and_elizabeth import ANN, fresh, merged, values
from tests.memories.snapshots import absorbed, assert_same, assert_sound, knowledge

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(language="en")


def test_moving_a_memory_takes_nothing_from_others_whom_it_is_about(end_user):
    anna, bea, cleo = (make_contact(end_user, name) for name in ("Anna", "Bea", "Cleo"))
    memory = make_memory(end_user, "They live in Rome.", anna, cleo)
    for contact in (anna, cleo):
        absorbed(contact, memory, "location", "Rome")
    before = {"anna": fresh(anna).memory_ids}
    change = edit_memories.move(end_user, memory.id, anna.id, bea.id, actor=ANN)
    assert values(anna, "location") == []
    assert values(cleo, "location") == ["Rome"]
    absorbed(fresh(bea), memory, "location", "Rome")
    undo_change(change, actor=ANN)
    assert values(bea, "location") == []
    assert fresh(anna).memory_ids == before["anna"]
    assert values(anna, "location") == ["Rome"]
    assert_sound(end_user)


def test_a_memory_moves_from_the_survivor_by_the_old_id_too(end_user, people):
    liz, elizabeth = people
    merged(people)
    tom = make_contact(end_user, "Tom")
    memory = Memory.objects.get(content="Liz hikes.")
    edit_memories.move(end_user, memory.id, liz.id, tom.id, actor=ANN)
    assert memory.id in fresh(tom).memory_ids
    assert memory.id not in fresh(elizabeth).memory_ids
    with pytest.raises(edit_memories.InvalidCorrection):
        edit_memories.move(end_user, memory.id, tom.id, tom.id, actor=ANN)
    assert_sound(end_user)


def test_a_relation_that_a_moved_memory_states_moves_with_it(end_user):
    anna, bea, tom = (make_contact(end_user, name) for name in ("Anna", "Bea", "Tom"))
    memory = make_memory(end_user, "Her brother is Tom.", anna)
    relations.relate(end_user, tom, "brother", anna, [memory.id])
    for contact in (anna, tom):
        store.save(fresh(contact), [])
    before = knowledge(end_user)
    change = edit_memories.move(end_user, memory.id, anna.id, bea.id, actor=ANN)
    assert Relation.objects.get().object == bea
    assert "Bea" in fresh(tom).card
    assert "Tom" in fresh(bea).card
    assert_sound(end_user)
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before, "relations")
    assert_sound(end_user)
