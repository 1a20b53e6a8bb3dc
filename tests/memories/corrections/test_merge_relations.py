"""Relations and suggestions follow two people who become one."""

import pytest

from accounts.models import EndUser
from contacts import relations, store
from contacts.merge import InvalidMerge, not_the_same
from contacts.models import Relation, Suggestion
from memories.corrections import merge_contacts
from memories.corrections.undo import undo_change
from tests.factories import make_contact, make_end_user, make_memory, make_suggestion
from tests.memories.corrections.liz_and_elizabeth import ANN, fresh, merged
from tests.memories.snapshots import assert_same, assert_sound, knowledge

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(language="en")


def test_relations_follow_the_survivor_each_once_and_none_to_itself(end_user, people):
    liz, elizabeth = people
    tom, memory = make_contact(end_user, "Tom"), make_memory(end_user, "Tom is her partner.")
    relations.relate(end_user, tom, "partner", liz, [memory.id])
    relations.relate(end_user, tom, "partner", elizabeth)
    relations.relate(end_user, liz, "boss", tom, [memory.id])
    relations.relate(end_user, liz, "sister", elizabeth, [memory.id])
    for contact in (tom, liz, elizabeth):
        store.save(fresh(contact), [])
    before = knowledge(end_user)
    change = merged(people)
    held = Relation.objects.of(end_user).values_list("subject__name", "kind", "object__name")
    assert sorted(held) == [("Elizabeth", "boss", "Tom"), ("Tom", "partner", "Elizabeth")]
    assert "Elizabeth" in fresh(tom).card
    assert "Liz" not in fresh(tom).card.replace("Elizabeth", "")
    assert_sound(end_user)
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_a_relation_that_a_person_stated_outlives_every_memory(end_user, people):
    liz, elizabeth = people
    memory = make_memory(end_user, "Liz is her boss.")
    stated = relations.state(end_user, liz, "sister", elizabeth)
    read = relations.relate(end_user, liz, "boss", elizabeth, [memory.id])
    assert relations.without_sources([stated], [memory.id]) == set()
    assert relations.without_sources([stated, read], [memory.id]) == {liz.id, elizabeth.id}
    assert [row.kind for row in Relation.objects.of(end_user)] == ["sister"]


def test_suggestions_of_the_loser_become_the_survivors_and_different_outweighs_all(
    end_user, people
):
    liz, elizabeth = people
    tom, una, vic = (make_contact(end_user, name) for name in ("Tom", "Una", "Vic"))
    pair = make_suggestion(liz, elizabeth)
    make_suggestion(liz, tom)
    make_suggestion(liz, una, state="different")
    make_suggestion(elizabeth, una)
    make_suggestion(liz, vic, state="later")
    make_suggestion(elizabeth, vic, state="different")
    before = knowledge(end_user)
    change = merged(people)
    pair.refresh_from_db()
    assert (pair.state, pair.decided_by) == ("merged", ANN)
    left = {
        (set(row[:2]) - {elizabeth.id}).pop(): row[2]
        for row in Suggestion.objects.of(end_user)
        .exclude(pk=pair.pk)
        .values_list("first", "second", "state")
    }
    assert left == {tom.id: "open", una.id: "different", vic.id: "different"}
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_a_machine_never_unites_whom_somebody_told_apart(end_user, people):
    liz, _ = people
    change = merged(people, actor="suggestions")
    undo_change(change, actor=ANN)
    with pytest.raises(InvalidMerge, match="different people before"):
        merged(people, actor="suggestions")
    tom = make_contact(end_user, "Tom")
    apart = not_the_same(end_user, tom.id, liz.id, actor=ANN)
    with pytest.raises(InvalidMerge, match="different people before"):
        merge_contacts.merge(end_user, tom.id, liz.id, actor="suggestions")
    undo_change(apart, actor=ANN)
    assert not Suggestion.objects.exists()
    merge_contacts.merge(end_user, tom.id, liz.id, actor="suggestions")
