"""Corrections undone in another order than the last first: nothing comes back under a wrong
name, and nothing learnt or stated meanwhile is lost."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.changes import CannotUndo
from accounts.models import Change
from contacts import edit, relations, store
from contacts.models import Contact, Relation
from memories.corrections import edit_memories
from memories.corrections import hide as hiding
from memories.models import Link, Memory
from tests.factories import make_contact, make_memory
from tests.memories.corrections.four_friends import ANN, Friends, friend, undo
from tests.memories.corrections.test_merge_properties import NUMBER, World, steps
from tests.memories.snapshots import absorbed, assert_sound

TURIN = {"key": "location", "value": "Turin"}


@pytest.fixture
def friends(db: None) -> Friends:
    return Friends()


def hide(friends: Friends, *contacts: Contact, memories: Any = ()) -> Change:
    change = hiding.hide(friends.end_user, memories, actor="extractor", contacts=contacts)
    assert change is not None
    return change


# Hidden after a merge ----------------------------------------------------------------------


def test_what_a_hidden_person_had_with_one_of_the_two_is_that_ones_again(friends):
    friends.tell("One.", friends.ada, friends.cleo)
    friends.tell("Two.", friends.bea, friends.cleo)
    before = friends.told()
    merged = friends.merge(friends.ada, friends.bea)
    hidden = hide(friends, friends.cleo)
    undo(merged)
    undo(hidden)
    assert friends.told() == before


def test_the_relation_of_a_hidden_person_to_the_merged_one_is_not_the_survivors(friends):
    friends.tell("One.", friends.ada, friends.cleo)
    merged = friends.merge(friends.ada, friends.bea)
    hidden = hide(friends, friends.cleo)
    undo(merged)
    undo(hidden)
    assert friends.told() == {friend("Ada", "Cleo", "One.")}


def test_two_who_were_hidden_as_one_come_back_as_two_once_their_merge_is_undone(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    merged = friends.merge(friends.ada, friends.bea)
    hidden = hide(friends, Contact.objects.get(name="Bea"), memories=[one])
    undo(merged)
    assert not Contact.objects.filter(name__in=["Ada", "Bea"]).exists()
    undo(hidden)
    ada, bea = Contact.objects.get(name="Ada"), Contact.objects.get(name="Bea")
    assert ada.merged_into_id is None
    assert bea.aliases == []
    assert friends.told() == {friend("Ada", "Cleo", "One.")}
    assert {link.contact_id for link in Link.objects.filter(memory=one)} == {
        ada.id, friends.cleo.id}  # fmt: skip


def test_who_was_hidden_comes_back_though_another_bears_the_name_by_now(friends):
    hidden = hide(friends, friends.cleo)
    make_contact(friends.end_user, "Cleo")
    undo(hidden)
    assert Contact.objects.filter(name="Cleo").count() == 2


# Edited after a merge ----------------------------------------------------------------------


def test_facts_that_an_edit_took_come_back_of_whom_they_were(friends):
    one = make_memory(
        friends.end_user, "One.", friends.ada, facts=[{**TURIN, "person": str(friends.ada.id)}]
    )
    merged = friends.merge(friends.ada, friends.bea)
    edited = edit_memories.edit(friends.end_user, one.id, {"content": "Another."}, actor=ANN)
    undo(merged)
    undo(edited)
    one.refresh_from_db()
    assert one.facts == [{**TURIN, "person": str(friends.ada.id)}]


def test_a_value_changed_twice_is_as_it_was_in_whatever_order_it_is_undone(friends):
    def rename(value: str) -> Change:
        values = {"relationship": value}
        return edit.edit_contact(friends.end_user, friends.ada.id, values, actor=ANN)[1]

    first, second = rename("neighbour"), rename("friend")
    undo(first)
    assert Contact.objects.get(name="Ada").relationship == "friend"
    undo(second)
    assert Contact.objects.get(name="Ada").relationship == ""


def test_attributes_edited_after_a_merge_do_not_come_back_to_the_survivor(friends):
    def live(contact: Contact, *values: str) -> Change:
        stated = {"attributes": {"location": values}}
        return edit.edit_contact(friends.end_user, contact.id, stated, actor=ANN)[1]

    live(friends.ada, "Turin")
    merged = friends.merge(friends.ada, friends.bea)
    edited = live(friends.bea, "York")
    undo(merged)
    undo(edited)
    ada, bea = Contact.objects.get(name="Ada"), Contact.objects.get(name="Bea")
    assert [entry["value"] for entry in ada.attributes["location"]] == ["Turin"]
    assert bea.attributes == {}


# Learnt after a split ----------------------------------------------------------------------


def test_what_was_learnt_of_a_new_person_goes_back_with_them(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    split = friends.split(friends.ada, "Zoe", one)
    zoe = Contact.objects.get(name="Zoe")
    later = make_memory(friends.end_user, "Later.", zoe, facts=[{**TURIN, "person": str(zoe.id)}])
    relations.relate(friends.end_user, zoe, "sister", friends.dora, [later.id])
    relations.relate(friends.end_user, zoe, "friend", friends.cleo, [later.id])
    zoe.refresh_from_db()
    store.add_aliases(zoe, ["Zozo"])
    zoe.mention_count += 2
    store.save(zoe, ["aliases", "mention_count"])
    edit.add_relation(friends.end_user, zoe.id, "boss", friends.cleo.id, actor=ANN)
    values = {"attributes": {"location": ["York"]}, "gender": "female"}
    edit.edit_contact(friends.end_user, zoe.id, values, actor=ANN)
    count = Contact.objects.get(name="Ada").mention_count
    undo(split)
    ada = Contact.objects.get(name="Ada")
    assert set(Memory.objects.about(ada.id).filter(kind="fact")) == {one, later}
    later.refresh_from_db()
    assert later.facts == [{**TURIN, "person": str(ada.id)}]
    assert friends.told() == {
        friend("Ada", "Cleo", "One.", "Later."),
        ("Ada", "sister", "Dora", frozenset({"Later."})),
        ("Ada", "boss", "Cleo", frozenset()),
    }
    assert ada.aliases == ["Zozo"]
    assert [entry["value"] for entry in ada.attributes["location"]] == ["York"]
    assert ada.gender == "female"
    assert ada.mention_count == count + 2


def test_what_was_stated_of_a_new_person_is_taken_back_from_the_one_they_are_again(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    split = friends.split(friends.ada, "Zoe", one)
    zoe = Contact.objects.get(name="Zoe")
    values = {"attributes": {"location": ["York"]}, "relationship": "friend"}
    _, edited = edit.edit_contact(friends.end_user, zoe.id, values, actor=ANN)
    undo(split)
    ada = Contact.objects.get(name="Ada")
    assert (list(ada.attributes), ada.relationship) == (["location"], "friend")
    undo(edited)
    ada.refresh_from_db()
    assert (ada.attributes, ada.relationship) == ({}, "")


def test_nothing_of_the_split_itself_stays_when_it_is_undone(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    before = friends.told()
    ada = Contact.objects.get(name="Ada")
    split = friends.split(friends.ada, "Zoe", one)
    undo(split)
    now = Contact.objects.get(name="Ada")
    for column in ("aliases", "relationship", "attributes", "timeline", "mention_count", "card"):
        assert getattr(now, column) == getattr(ada, column)
    assert friends.told() == before


# Stated by an operator ---------------------------------------------------------------------


def test_what_an_operator_stated_stays_when_memories_that_say_so_too_are_gone(friends):
    edit.add_relation(friends.end_user, friends.ada.id, "friend", friends.cleo.id, actor=ANN)
    one = friends.tell("One.", friends.ada, friends.cleo)
    edit_memories.outdate(friends.end_user, [one], actor=ANN)
    assert friends.told() == {friend("Ada", "Cleo")}


def test_a_value_that_an_operator_stated_stays_when_memories_that_say_so_too_are_gone(friends):
    values = {"attributes": {"location": ["Turin"]}}
    edit.edit_contact(friends.end_user, friends.ada.id, values, actor=ANN)
    one = make_memory(friends.end_user, "One.", friends.ada)
    absorbed(friends.ada, one, "location", "Turin")
    edit_memories.outdate(friends.end_user, [one], actor=ANN)
    ada = Contact.objects.get(name="Ada")
    assert [entry["value"] for entry in ada.attributes["location"]] == ["Turin"]


def test_a_relation_that_is_told_again_does_not_stand_in_the_way_of_an_undo(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    outdated = edit_memories.outdate(friends.end_user, [one], actor=ANN)
    friends.tell("Two.", friends.ada, friends.cleo)
    assert outdated is not None
    undo(outdated)
    assert friends.told() == {friend("Ada", "Cleo", "One.", "Two.")}


def test_a_relation_that_somebody_stated_since_stays_theirs_through_an_undo(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    outdated = edit_memories.outdate(friends.end_user, [one], actor=ANN)
    edit.add_relation(friends.end_user, friends.ada.id, "friend", friends.cleo.id, actor=ANN)
    assert outdated is not None
    undo(outdated)
    assert friends.told() == {friend("Ada", "Cleo")}


# In any order ------------------------------------------------------------------------------

EITHER = ["edit", "outdate", "unlink", "describe", "hide", "tell_apart"]
# Not both: what a merge and then a split took over in turn is the survivor's when something
# before the merge is undone first.
MERGING, PARTING = [*EITHER, "merge"], [*EITHER, "move", "split"]


class People(World):
    def hide(self, a: int, b: int, c: int) -> None:
        memories = [self.memory(b)] if c % 2 else []
        hiding.hide(self.end_user, memories, actor="extractor", contacts=[self.at(a)])
        there = set(Contact.objects.values_list("pk", flat=True))
        self.people = [pk for pk in self.people if pk in there] or self.people

    def state(self) -> dict[str, Any]:
        """What is known, without the numbers of rows, the order of lists, and what a profile
        can read again from its memories."""
        name = dict(Contact.objects.of(self.end_user).values_list("pk", "name"))
        return {
            "contacts": {
                contact.pk: (
                    contact.merged_into_id,
                    contact.relationship,
                    sorted(contact.aliases),
                    {
                        (key, value["value"])
                        for key, values in contact.attributes.items()
                        for value in values
                        if not value["sources"]
                    },
                )
                for contact in Contact.objects.of(self.end_user)
            },
            "relations": {
                (name[row.subject_id], row.kind, name[row.object_id]): {*row.sources}
                for row in Relation.objects.of(self.end_user)
            },
            "links": {
                (link.contact_id, link.memory_id): link.rejected
                for link in Link.objects.of(self.end_user).filter(memory__kind="fact")
            },
            "memories": {
                memory.pk: (memory.content, memory.status, memory.facts)
                for memory in Memory.objects.of(self.end_user).filter(kind="fact")
            },
        }


class InAnyOrder(TestCase):
    @classmethod
    def setUpTestData(cls) -> None:
        cls.shared = (People(),)  # wrapped: Django would copy the world itself for each test

    @settings(
        max_examples=10,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(steps(MERGING, NUMBER, 6) | steps(PARTING, NUMBER, 6), st.randoms(use_true_random=False))
    def test_undone_in_any_order_it_is_as_if_nothing_had_been_done(
        self, done: Any, chance: Any
    ) -> None:
        world = self.shared[0].again()
        before = world.state()
        for step in done:
            with suppress(IndexError, AssertionError):  # nobody is left whom it could be done to
                world.do(step)
        left = list(Change.objects.of(world.end_user).order_by("created_at"))
        chance.shuffle(left)
        while left:
            refused = [change for change in left if not _undone(change)]
            assert len(refused) < len(left)
            left = refused
        assert_sound(world.end_user)
        now = world.state()
        for kind in before:
            assert now[kind] == before[kind]


def _undone(change: Change) -> bool:
    change.refresh_from_db()
    try:
        edit_memories.undo(change, actor=ANN)
    except CannotUndo as refusal:
        note(f"{change.verb}: {refusal}")
        return False
    note(f"undo {change.verb}")
    return True
