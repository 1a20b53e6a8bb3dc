"""What corrections said of relations holds through the undo of what came before them."""

from contextlib import suppress
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from contacts import edit, relations
from contacts.merge import InvalidMerge
from contacts.models import Contact, Relation
from memories.corrections import edit_memories
from memories.models import Memory
from tests.factories import make_contact
from tests.memories.corrections.four_friends import ANN, Friends, friend, undo


@pytest.fixture
def friends(db: None) -> Friends:
    return Friends()


def test_what_a_split_gave_to_a_new_person_goes_back_with_the_one_it_was_told_of(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    friends.tell("Two.", friends.ada, friends.cleo)
    merged = friends.merge(friends.ada, friends.bea)
    split = friends.split(friends.cleo, "Zoe", one)
    assert friends.told() == {friend("Bea", "Zoe", "One."), friend("Bea", "Cleo", "Two.")}
    undo(merged)
    assert friends.told() == {friend("Ada", "Zoe", "One."), friend("Ada", "Cleo", "Two.")}
    zoe = Contact.objects.get(name="Zoe")
    assert "Ada" in zoe.card
    undo(split)
    assert friends.told() == {friend("Ada", "Cleo", "One.", "Two.")}


def test_of_a_relation_that_both_had_each_gets_its_own_part_back_where_a_split_put_it(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    two = friends.tell("Two.", friends.bea, friends.cleo)
    merged = friends.merge(friends.ada, friends.bea)
    friends.split(friends.cleo, "Zoe", one, two)
    assert friends.told() == {friend("Bea", "Zoe", "One.", "Two.")}
    undo(merged)
    assert friends.told() == {friend("Ada", "Zoe", "One."), friend("Bea", "Zoe", "Two.")}


def test_what_was_moved_from_the_two_as_one_is_not_told_of_either(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    merged = friends.merge(friends.ada, friends.bea)
    edit_memories.move(friends.end_user, one.id, friends.bea.id, friends.dora.id, actor=ANN)
    undo(merged)
    assert friends.told() == {friend("Dora", "Cleo", "One.")}


def test_what_is_no_longer_true_comes_back_with_its_own_undo_to_its_own_person(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    friends.tell("Two.", friends.bea, friends.cleo)
    merged = friends.merge(friends.ada, friends.bea)
    outdated = edit_memories.outdate(friends.end_user, [one], actor=ANN)
    undo(merged)
    assert friends.told() == {friend("Bea", "Cleo", "Two.")}
    assert outdated is not None
    undo(outdated)
    assert friends.told() == {friend("Ada", "Cleo", "One."), friend("Bea", "Cleo", "Two.")}


def test_a_relation_that_was_denied_of_the_two_as_one_holds_for_neither(friends):
    friends.tell("One.", friends.ada, friends.cleo)
    friends.tell("Two.", friends.bea, friends.cleo)
    merged = friends.merge(friends.ada, friends.bea)
    row = Relation.objects.get()
    denied = edit.remove_relation(friends.end_user, row.pk, actor=ANN)
    undo(merged)
    assert friends.told() == set()
    undo(denied)
    assert friends.told() == {friend("Ada", "Cleo", "One."), friend("Bea", "Cleo", "Two.")}


def test_what_somebody_stated_since_outlives_the_undo_of_what_was_found_there(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    merged = friends.merge(friends.ada, friends.bea)
    friends.split(friends.cleo, "Zoe", one)
    zoe = Contact.objects.get(name="Zoe")
    edit.add_relation(friends.end_user, friends.bea.id, "friend", zoe.id, actor=ANN)
    undo(merged)
    assert friend("Bea", "Zoe") in friends.told()


def test_what_a_memory_says_no_more_does_not_come_back_with_whom_it_was_moved_from(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    moved = edit_memories.move(
        friends.end_user, one.id, friends.cleo.id, friends.dora.id, actor=ANN
    )
    outdated = edit_memories.outdate(friends.end_user, [one], actor=ANN)
    undo(moved)
    assert friends.told() == set()
    assert outdated is not None
    undo(outdated)
    assert friends.told() == {friend("Ada", "Cleo", "One.")}


def test_what_was_moved_on_from_a_new_person_stays_moved_when_that_person_is_undone(friends):
    one = friends.tell("One.", friends.ada, friends.cleo)
    split = friends.split(friends.cleo, "Zoe", one)
    zoe = Contact.objects.get(name="Zoe")
    edit_memories.move(friends.end_user, one.id, zoe.id, friends.dora.id, actor=ANN)
    undo(split)
    assert friends.told() == {friend("Ada", "Dora", "One.")}


def test_a_fact_is_again_of_whom_it_was_though_another_in_its_memory_was_moved(friends):
    said = {"key": "location", "value": "Turin"}
    facts = [{**said, "person": str(pk)} for pk in (friends.ada.id, friends.cleo.id)]
    one = friends.tell("One.", friends.ada, friends.cleo, facts=facts)
    merged = friends.merge(friends.ada, friends.bea)
    friends.split(friends.cleo, "Zoe", one)
    undo(merged)
    one.refresh_from_db()
    people = [friends.ada.id, Contact.objects.get(name="Zoe").id]
    assert one.facts == [{**said, "person": str(pk)} for pk in people]


VERBS = ["move", "unlink", "outdate", "split", "deny", "merge", "tell"]
NUMBER = st.integers(0, 5)


class ACorrectionOfOthers(TestCase):
    """Whatever is said of others comes to the same, whether two were one meanwhile or not."""

    world: Friends

    @classmethod
    def setUpTestData(cls) -> None:
        world = cls.world = Friends()
        cls.enid = make_contact(world.end_user, "Enid")
        for n, (subject, other) in enumerate(
            [("ada", "cleo"), ("bea", "cleo"), ("cleo", "ada"), ("dora", "bea"), ("ada", "dora")]
        ):
            memory = world.tell(f"{n}.", getattr(world, subject), getattr(world, other))
            if n < 2:
                relations.relate(world.end_user, world.ada, "friend", world.cleo, [memory.id])
                relations.relate(world.end_user, world.bea, "friend", world.dora, [memory.id])

    def act(self, steps: Any) -> None:
        """Does all of ``steps`` that is possible, with others than the two."""
        family = (self.world.ada.id, self.world.bea.id)
        for n, (verb, a, b, c) in enumerate(steps):
            rows = Contact.objects.of(self.world.end_user).standing().exclude(pk__in=family)
            strangers = list(rows.order_by("name"))
            one, other = strangers[a % len(strangers)], strangers[b % len(strangers)]
            facts = Memory.objects.about(one.id).filter(kind="fact").order_by("content")
            with suppress(InvalidMerge, edit_memories.InvalidCorrection):
                getattr(self, verb)(one, other, list(facts)[c % 3 :], f"New {n}")

    def tell(self, one: Contact, other: Contact, memories: list[Memory], new: str) -> None:
        if one != other:
            self.world.tell(new, one, other)

    def merge(self, one: Contact, other: Contact, memories: list[Memory], new: str) -> None:
        self.world.merge(one, other)

    def split(self, one: Contact, other: Contact, memories: list[Memory], new: str) -> None:
        self.world.split(one, new, *memories[::2])

    def move(self, one: Contact, other: Contact, memories: list[Memory], new: str) -> None:
        for memory in memories[:1]:
            edit_memories.move(self.world.end_user, memory.id, one.id, other.id, actor=ANN)

    def unlink(self, one: Contact, other: Contact, memories: list[Memory], new: str) -> None:
        for memory in memories[:1]:
            edit_memories.unlink(self.world.end_user, memory.id, one.id, actor=ANN)

    def outdate(self, one: Contact, other: Contact, memories: list[Memory], new: str) -> None:
        edit_memories.outdate(self.world.end_user, memories[:1], actor=ANN)

    def deny(self, one: Contact, other: Contact, memories: list[Memory], new: str) -> None:
        stated = Relation.objects.among([one.id]).among([other.id])
        for pk in stated.values_list("pk", flat=True):
            edit.remove_relation(self.world.end_user, pk, actor=ANN)

    @settings(
        max_examples=6,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @example([("split", 0, 0, 0)], False)
    @given(
        st.lists(st.tuples(st.sampled_from(VERBS), NUMBER, NUMBER, NUMBER), max_size=6),
        st.booleans(),
    )
    def test_is_told_of_relations_alike(self, steps: Any, turned: bool) -> None:
        with transaction.atomic():
            self.act(steps)
            wanted = self.world.told()
            transaction.set_rollback(True)
        pair = (self.world.ada, self.world.bea)
        merged = self.world.merge(*(pair[::-1] if turned else pair))
        self.act(steps)
        undo(merged)
        assert self.world.told() == wanted
