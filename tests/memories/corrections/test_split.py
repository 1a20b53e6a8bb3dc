"""A contact that is two people is split, with what rests on the chosen memories."""

import pytest

from accounts.models import EndUser
from contacts import relations, store
from contacts.merge import InvalidMerge
from contacts.models import Contact, Relation, Suggestion
from memories.corrections import merge_contacts
from memories.corrections.undo import undo_change
from memories.models import Link, Memory
from memories.pipeline import sync_contacts
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories.corrections.liz_and_elizabeth import ANN, fresh, merged, values
from tests.memories.snapshots import absorbed, assert_same, assert_sound, knowledge

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(language="en")


def test_a_split_takes_the_chosen_memories_and_what_rests_on_them(end_user, people):
    _, elizabeth = people
    merged(people)
    tom = make_contact(end_user, "Tom")
    ids = list(
        Memory.objects.filter(content__startswith="Liz ", kind="fact").values_list("pk", flat=True)
    )
    relations.relate(end_user, tom, "partner", fresh(elizabeth), ids[:1])
    store.save(fresh(elizabeth), [])
    store.save(fresh(tom), [])
    before = knowledge(end_user)
    new, change = merge_contacts.split(
        end_user, elizabeth.id, ids, name="Liz", relationship="neighbour", actor=ANN
    )
    assert set(ids) < set(fresh(new).memory_ids)
    assert not set(ids) & set(fresh(elizabeth).memory_ids)
    assert values(new, "location") == ["Turin"]
    assert values(elizabeth, "location") == ["Genoa"]
    assert (values(new, "interests"), values(elizabeth, "interests")) == (["Hiking"], ["Hiking"])
    assert [event["text"] for event in fresh(new).timeline] == ["married"]
    assert fresh(elizabeth).timeline == []
    assert "Liz" not in fresh(elizabeth).aliases
    assert Memory.objects.get(content="Liz has a brother.").facts[0]["person"] == str(new.id)
    assert Relation.objects.get().object_id == new.id
    assert Suggestion.objects.get().state == "different"
    pairs = [(pk, elizabeth, 1.0) for pk in ids]
    assert sync_contacts.link(end_user, pairs, Link.MadeBy.BACKFILL) == 0
    assert_sound(end_user)
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before)
    assert_sound(end_user)


def test_a_namesake_may_come_of_a_split(end_user):
    wang = make_contact(end_user, "王伟")
    memory = make_memory(end_user, "王伟是医生", wang)
    new, _ = merge_contacts.split(end_user, wang.id, [memory.id], name="王伟", actor=ANN)
    assert (new.name, new.namesake) == ("王伟", 1)
    assert (fresh(wang).memory_ids, fresh(new).memory_ids) == ([], [memory.id])
    assert_sound(end_user)


def test_undoing_a_split_loses_nothing_that_was_learnt_since(end_user, people):
    liz, _ = people
    ids = [Memory.objects.get(content="Liz hikes.").id]
    new, change = merge_contacts.split(end_user, liz.id, ids, name="Ursula", actor=ANN)
    later = make_memory(end_user, "Ursula skis.", new)
    absorbed(new, later, "skill", "skiing")
    undo_change(change, actor=ANN)
    assert not Contact.objects.filter(pk=new.pk).exists()
    assert {later.id, *ids} < set(fresh(liz).memory_ids)
    due = Link.objects.of(end_user).unconsolidated().filter(contact=liz)
    assert later.id in due.values_list("memory", flat=True)
    assert_sound(end_user)


def test_what_was_learnt_of_a_new_person_goes_back_with_them(end_user, people):
    liz, elizabeth = people
    ids = [Memory.objects.get(content="Liz hikes.").id]
    zoe, change = merge_contacts.split(end_user, liz.id, ids, name="Zoe", actor=ANN)
    told = {"key": "location", "value": "York", "person": str(zoe.id)}
    later = make_memory(end_user, "Zoe is Elizabeth's friend in York.", zoe, facts=[told])
    relations.relate(end_user, zoe, "friend", elizabeth, [later.id])
    zoe = fresh(zoe)
    store.add_aliases(zoe, ["Zozo"])
    zoe.mention_count += 2
    store.save(zoe, ["aliases", "mention_count"])
    count = fresh(liz).mention_count
    undo_change(change, actor=ANN)
    later.refresh_from_db()
    assert later.facts == [{**told, "person": str(liz.id)}]
    assert Relation.objects.get(kind="friend", sources=[later.id]).subject == liz
    assert "Zozo" in fresh(liz).aliases
    assert fresh(liz).mention_count == count + 2 + len(ids)
    assert_sound(end_user)


def test_a_split_needs_memories_that_are_about_the_contact(end_user, people):
    liz, _ = people
    other = make_memory(end_user, "It rains.")
    profile = Memory.objects.get(content_hash=f"profile:{liz.id}")
    before = knowledge(end_user)
    for ids in ([], [other.id], [profile.id]):
        with pytest.raises(InvalidMerge):
            merge_contacts.split(end_user, liz.id, ids, name="X", actor=ANN)
    with pytest.raises(store.InvalidContact):
        merge_contacts.split(end_user, liz.id, [liz.memory_ids[0]], name="…", actor=ANN)
    assert_same(knowledge(end_user), before)
