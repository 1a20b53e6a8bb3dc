"""An undone merge gives both people back, with all that came and went since."""

import pytest

from accounts.models import Change, EndUser
from accounts.rollback import CannotUndo, LaterChanges
from contacts import relations, store
from contacts.merge import not_the_same
from contacts.models import Relation
from memories.corrections import derived, edit_memories, merge_contacts, review_links
from memories.corrections.undo import undo_change
from memories.models import Link, Memory
from memories.pipeline import consolidate, sync_contacts
from memories.types import ExtractedPerson
from tests.factories import SOME_DAY, json_value, make_contact, make_end_user, make_memory
from tests.memories.corrections.liz_and_elizabeth import ANN, fresh, merged, values
from tests.memories.snapshots import absorbed, assert_same, assert_sound, knowledge

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(language="en")


def test_an_undo_gives_both_back_exactly(end_user, people):
    before = knowledge(end_user)
    change = merged(people)
    assert knowledge(end_user) != before
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before)
    assert_sound(end_user)
    with pytest.raises(CannotUndo):
        undo_change(change, actor=ANN)


def test_a_survivor_that_had_no_profile_has_none_after_the_undo(end_user):
    liz, beth = make_contact(end_user, "Liz"), make_contact(end_user, "Beth")
    absorbed(liz, make_memory(end_user, "Liz hikes.", liz), "interests", "hiking")
    before = knowledge(end_user)
    change = merge_contacts.merge(end_user, liz.id, beth.id, actor=ANN)
    assert "hiking" in Memory.objects.active().get(kind="profile").content
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_facts_name_the_survivor_and_undo_gives_them_back(end_user, people):
    liz, elizabeth = people
    memory = Memory.objects.get(content="Liz has a brother.")
    change = merged(people)
    memory.refresh_from_db()
    assert memory.facts[0]["person"] == str(elizabeth.id)
    undo_change(change, actor=ANN)
    memory.refresh_from_db()
    assert memory.facts[0]["person"] == str(liz.id)


def test_values_without_sources_are_united_and_given_back(end_user):
    anna = make_contact(end_user, "Anna", attributes={"company": [json_value("Fiat")]})
    bea = make_contact(end_user, "Bea", attributes={"company": [json_value("FIAT")]})
    memory = make_memory(end_user, "Bea works at Fiat.", bea)
    for contact in (anna, bea):
        derived.write_profile_memory(contact)
    before = knowledge(end_user)
    change = merge_contacts.merge(end_user, bea.id, anna.id, actor=ANN)
    assert values(anna, "company") == ["Fiat"]
    derived.unlearn(end_user, [memory.id])
    assert values(anna, "company") == ["Fiat"], "a person stated it"
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before, "contacts")


def test_the_name_of_a_merged_contact_may_be_learnt_of_another_meanwhile(end_user, people):
    liz, _ = people
    change = merged(people)
    another, _ = store.create(end_user, "Liz", namesake=True)
    store.save(another, [])
    undo_change(change, actor=ANN)
    assert fresh(liz).name == "Liz"
    assert fresh(liz).namesake == 1
    assert_sound(end_user)


def test_merges_chain_and_come_undone_from_the_last(end_user):
    anna, bea, cleo = (make_contact(end_user, name) for name in ("Anna", "Bea", "Cleo"))
    for contact, town in ((anna, "Rome"), (bea, "Bari"), (cleo, "Como")):
        memory = make_memory(end_user, f"{contact.name} is in {town}.", contact)
        absorbed(contact, memory, "location", town)
    before = knowledge(end_user)
    first = merge_contacts.merge(end_user, anna.id, bea.id, actor=ANN)
    middle = knowledge(end_user)
    second = merge_contacts.merge(end_user, bea.id, cleo.id, actor=ANN)
    assert store.survivor(end_user, anna.id) == cleo
    assert values(cleo, "location") == ["Como", "Bari", "Rome"]
    with pytest.raises(LaterChanges) as refused:
        undo_change(first, actor=ANN)
    assert refused.value.changes == [second]
    undo_change(second, actor=ANN)
    assert_same(knowledge(end_user), middle)
    merge_contacts.merge(end_user, bea.id, cleo.id, actor=ANN)
    undo_change(first, actor=ANN, with_later=True)
    assert_same(knowledge(end_user), before)


def test_what_came_after_a_merge_stays_with_the_survivor_whose_profile_reads_it_again(
    end_user, people
):
    liz, elizabeth = people
    change = merged(people)
    later = make_memory(end_user, "She bakes bread.", fresh(elizabeth))
    absorbed(fresh(elizabeth), later, "skill", "baking")
    sync_contacts.sync_contacts(
        end_user,
        [
            ExtractedPerson(
                "p", "Liz", contact_id=liz.id, aliases=("Bessie",), relationship="friend"
            )
        ],
        {"p": [SOME_DAY, SOME_DAY]},
        SOME_DAY,
    )
    undo_change(change, actor=ANN)
    liz, elizabeth = fresh(liz), fresh(elizabeth)
    assert later.id in elizabeth.memory_ids
    assert later.id not in liz.memory_ids
    assert values(elizabeth, "skill") == []
    unread = Link.objects.of(end_user).unconsolidated().filter(contact=elizabeth)
    assert later.id in unread.values_list("memory", flat=True)
    assert values(elizabeth, "location") == ["Genoa"]
    assert elizabeth.aliases == ["Beth", "Bessie"]
    assert elizabeth.relationship == "friend"
    assert (liz.mention_count, elizabeth.mention_count) == (3, 6)
    assert liz.aliases == ["Lizzie"]
    assert_sound(end_user)


def test_what_the_survivor_learnt_from_the_losers_memories_is_read_again_by_the_loser(end_user):
    liz, beth = make_contact(end_user, "Liz"), make_contact(end_user, "Beth")
    memory = make_memory(end_user, "Liz hikes.", liz)
    change = merge_contacts.merge(end_user, liz.id, beth.id, actor=ANN)
    absorbed(fresh(beth), memory, "interests", "hiking")
    undo_change(change, actor=ANN)
    assert values(beth, "interests") == []
    assert consolidate.contacts_due(end_user.pk) == [liz.id]
    memory.refresh_from_db()
    assert (memory.consolidated_into, memory.importance) == (None, 0.5)
    assert_sound(end_user)


def test_what_was_corrected_after_a_merge_is_undone_together_with_it(end_user, people):
    before = knowledge(end_user)
    change = merged(people)
    turin = Memory.objects.get(content="Liz lives in Turin.")
    hikes = Memory.objects.get(content="Liz hikes.")
    later = [
        edit_memories.outdate(end_user, [turin], actor=ANN),
        edit_memories.edit(end_user, hikes.id, {"content": "Liz skis."}, actor=ANN),
    ]
    assert undo_change(change, actor=ANN, with_later=True) == later[::-1]
    assert_same(knowledge(end_user), before)


def test_no_record_of_another_change_is_rewritten(end_user, people):
    liz, elizabeth = people
    both = Memory.objects.get(content="Liz and Elizabeth sing.")
    change = merged(people)
    unlinked = edit_memories.unlink(end_user, both.id, elizabeth.id, actor=ANN)
    rows = {one.pk: one.rows for one in (change, unlinked)}
    undo_change(change, actor=ANN, with_later=True)
    assert rows == dict(Change.objects.filter(pk__in=rows).values_list("pk", "rows"))
    assert both.id in fresh(elizabeth).memory_ids
    assert both.id in fresh(liz).memory_ids


def test_a_rejected_link_stays_rejected_unless_an_operator_linked_the_memory(end_user):
    liz, beth = make_contact(end_user, "Liz"), make_contact(end_user, "Beth")
    alone = make_memory(end_user, "One.", liz)
    guessed = make_memory(end_user, "Two.", liz, beth)
    told = make_memory(end_user, "Three.", liz)
    edit_memories.unlink(end_user, alone.id, liz.id, actor=ANN)
    edit_memories.unlink(end_user, guessed.id, liz.id, actor=ANN)
    edit_memories.move(end_user, told.id, liz.id, beth.id, actor=ANN)
    before = knowledge(end_user)
    change = merge_contacts.merge(end_user, liz.id, beth.id, actor=ANN)
    assert fresh(beth).memory_ids == [told.id]
    pairs = [(m, beth, 1.0) for m in (alone, guessed)]
    assert sync_contacts.link(end_user, pairs, Link.MadeBy.BACKFILL) == 0
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before)


@pytest.mark.parametrize("order", ["abcd", "dcba", "badc", "cadb"])
def test_people_told_apart_stay_so_through_merges_and_their_undo(end_user, order):
    people = sorted((make_contact(end_user, name) for name in "abcd"), key=lambda one: one.pk)
    a, b, c, d = (people[order.index(name)].pk for name in "abcd")
    not_the_same(end_user, a, b, actor=ANN)
    not_the_same(end_user, b, c, actor=ANN)
    before = knowledge(end_user)
    first = merge_contacts.merge(end_user, a, c, actor=ANN)
    second = merge_contacts.merge(end_user, b, d, actor=ANN)
    with pytest.raises(LaterChanges) as refused:
        undo_change(first, actor=ANN)
    assert refused.value.changes == [second]
    assert_sound(end_user)
    undo_change(first, actor=ANN, with_later=True)
    assert_same(knowledge(end_user), before)
    assert_sound(end_user)


# Whom what was learnt since the merge names, whose it is then, and whether that is sure.
SINCE = [
    ("en", "Liz bakes bread.", "", "liz", True),
    ("en", "She bakes bread.", "Lizzie bakes, you know", "liz", True),
    ("en", "Elizabeth bakes bread.", "", "elizabeth", True),
    ("en", "Beth bakes bread.", "", "elizabeth", True),
    ("en", "She bakes bread.", "", "elizabeth", False),
    ("en", "Liz and Beth bake bread.", "", "elizabeth", False),
    ("en", "Bob knows that Dr Stone bakes bread.", "", "elizabeth", False),
    ("zh", "小丽在学烘焙", "", "liz", True),
    ("zh", "她在学烘焙", "丽丽最近在学烘焙", "liz", True),
    ("zh", "伊丽莎白在学烘焙", "", "elizabeth", True),
    ("zh", "她在学烘焙", "", "elizabeth", False),
    ("zh", "小丽和伊丽莎白在学烘焙", "", "elizabeth", False),
]


@pytest.mark.parametrize(("language", "said", "quote", "whose", "sure"), SINCE)
def test_what_was_learnt_since_goes_to_whom_alone_it_names_and_else_to_review(
    end_user, language, said, quote, whose, sure
):
    zh = language == "zh"
    liz = make_contact(
        end_user, "小丽" if zh else "Liz", aliases=["丽丽" if zh else "Lizzie"], mention_count=2
    )
    elizabeth = make_contact(
        end_user, "伊丽莎白" if zh else "Elizabeth", aliases=[] if zh else ["Beth"], mention_count=2
    )
    bob = make_contact(end_user, "Bob")
    change = merge_contacts.merge(end_user, liz.id, elizabeth.id, actor=ANN)
    fact = {"key": "skill", "value": "baking", "person": str(elizabeth.id)}
    memory = make_memory(end_user, said, fresh(elizabeth), facts=[fact], quote=quote)
    absorbed(fresh(elizabeth), memory, "skill", "baking")
    relations.relate(end_user, bob, "teacher", fresh(elizabeth), [memory.id])
    undo_change(change, actor=ANN)
    owner, none = (liz, elizabeth) if whose == "liz" else (elizabeth, liz)
    assert (fresh(owner).memory_ids.count(memory.id), memory.id in fresh(none).memory_ids) == (
        1,
        False,
    )
    memory.refresh_from_db()
    assert [fact["person"] for fact in memory.facts] == [str(owner.id)]
    assert [row.object_id for row in Relation.objects.all()] == [owner.id]
    assert values(none, "skill") == []
    if whose == "liz":
        assert consolidate.contacts_due(end_user.pk) == []  # it is read again first
        assert memory.unread
        assert (fresh(liz).mention_count, fresh(elizabeth).mention_count) == (3, 1)
    else:
        assert values(elizabeth, "skill") == ["baking"]
    assert [link.memory_id for link in review_links.doubtful()] == [memory.id] * (not sure)
    assert_sound(end_user)


@pytest.mark.parametrize(("said", "sure"), [("Liz bakes.", True), ("She bakes.", False)])
def test_what_an_app_wrote_since_of_both_goes_the_same_way(end_user, people, said, sure):
    liz, elizabeth = people
    change = merged(people)
    memory, _ = edit_memories.add(end_user, said, actor="app:x", contacts=[fresh(elizabeth)])
    undo_change(change, actor=ANN)
    assert (memory.id in fresh(liz).memory_ids) == sure
    assert [link.memory_id for link in review_links.doubtful()] == [memory.id] * (not sure)
    assert_sound(end_user)
