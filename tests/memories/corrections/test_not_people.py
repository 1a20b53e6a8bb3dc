"""A contact that is no person goes and does not come back, and what was said stays."""

import pytest

from contacts.models import Contact
from memories import own_card, tasks
from memories.corrections import edit_memories, not_people
from memories.corrections.undo import undo_change
from memories.models import Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_contact, make_life
from tests.memories.snapshots import assert_same, assert_sound, knowledge

pytestmark = pytest.mark.django_db

SAID = ("My friend Bram lives in Ghent.", "Bram's brother is Wout. Wout works at Agfa.")


@pytest.fixture
def ann():
    return make_life(said=SAID)


def tell(end_user, text):
    receive(end_user.app, end_user.external_id, [Incoming("user", text)])
    run.process(end_user.pk)
    end_user.refresh_from_db()
    return {contact.name for contact in end_user.contacts.all()}


def test_who_is_no_person_goes_and_no_text_brings_them_back(ann):
    bram = ann.contacts.get(name="Bram")
    contents = {memory.content for memory in Memory.objects.of(ann).facts()}
    not_people.not_a_person(ann, bram.pk, actor="user")
    assert {memory.content for memory in Memory.objects.of(ann).facts()} == contents
    assert not Memory.objects.of(ann).filter(facts__contains=[{"person": str(bram.pk)}])
    assert_sound(ann)
    assert tell(ann, "Bram is allergic to nuts, and my neighbour Eva plays golf.") == {
        "Wout",
        "Eva",
    }
    assert Memory.objects.of(ann).filter(content__contains="allergic to nuts").exists()
    assert_sound(ann)


def test_the_name_may_be_a_persons_again(ann):
    not_people.not_a_person(ann, ann.contacts.get(name="Bram").pk, actor="user")
    ann.refresh_from_db()
    [name] = ann.not_people
    change = not_people.may_be_a_person(ann, name, actor="user")
    assert change is not None
    assert not_people.may_be_a_person(ann, name, actor="user") is None
    assert "Bram" in tell(ann, "My colleague Bram plays the drums.")


@pytest.mark.parametrize(("name", "aliases"), [("Bram", []), ("Abraham", ["Bram"])])
def test_a_contact_that_somebody_adds_by_the_name_is_spoken_of_as_before(ann, name, aliases):
    not_people.not_a_person(ann, ann.contacts.get(name="Bram").pk, actor="user")
    added = make_contact(ann, name, aliases=aliases)
    tell(ann, "Bram is allergic to nuts.")
    memory = Memory.objects.of(ann).get(content__contains="allergic to nuts")
    assert memory.links.get().contact_id == added.pk


def test_an_undo_brings_the_contact_back_with_all_that_was_known(ann):
    before = knowledge(ann)
    bram = ann.contacts.get(name="Bram")
    change = not_people.not_a_person(ann, bram.pk, actor="user")
    assert not Contact.objects.of(ann).filter(pk=bram.pk).exists()
    undo_change(change, actor="user")
    ann.refresh_from_db()
    assert ann.not_people == []
    assert_same(knowledge(ann), before)
    assert_sound(ann)


def test_a_memory_of_the_user_that_was_put_down_to_somebody_is_the_users_again(ann):
    bram = ann.contacts.get(name="Bram")
    memory = Memory.objects.of(ann).facts().get(content__contains="Ghent")
    change = edit_memories.move_to_user(ann, memory.pk, bram.pk, actor="user")
    bram.refresh_from_db()
    ann.refresh_from_db()
    assert "location" not in bram.attributes
    assert [one["value"] for one in own_card.current_attributes(ann)["location"]] == ["Ghent"]
    tasks.reread(ann.pk)
    assert not memory.links.filter(rejected=False).exists()
    assert_sound(ann)
    undo_change(change, actor="user")
    bram.refresh_from_db()
    ann.refresh_from_db()
    assert bram.attributes["location"][0]["value"] == "Ghent"
    assert "location" not in own_card.current_attributes(ann)
