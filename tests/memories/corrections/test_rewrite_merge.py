"""Memories that say the same become one, lose nothing, and come apart again."""

from datetime import timedelta

import pytest

from accounts.models import Change
from accounts.rollback import LaterChanges
from contacts import edit, relations, store
from contacts.models import Contact, Relation
from memories.corrections import (
    edit_memories,
    erasure_requests,
    merge_contacts,
    review_links,
    rewrite,
)
from memories.corrections.edit_memories import InvalidCorrection
from memories.corrections.undo import undo_change
from memories.models import Edge, Entity, EntityLink, Link, Memory
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.corrections.nora_and_ivan import ANN, MACHINE, everything, fact, merge
from tests.memories.snapshots import absorbed, assert_same, assert_sound

pytestmark = pytest.mark.django_db
BOTH = "Nora works at Brightwater as a nurse on nights."


@pytest.fixture
def end_user():
    return make_end_user(language="en")


@pytest.fixture
def two(end_user):
    """Two memories of Nora with all that memories can have."""
    nora, ivan = make_contact(end_user, "Nora"), make_contact(end_user, "Ivan")
    one = make_memory(
        end_user,
        "Nora works at Brightwater on nights.",
        nora,
        facts=[fact("company", "Brightwater", nora)],
        source_message_ids=[1, 2],
        access_count=3,
        mention_count=1,
        learnt_day=2,
        valid_from=SOME_DAY,
    )
    other = make_memory(
        end_user,
        "Nora works at Brightwater as a nurse.",
        nora,
        ivan,
        facts=[fact("company", "Brightwater", nora), fact("job_title", "nurse", nora)],
        source_message_ids=[2, 5],
        access_count=4,
        learnt_day=6,
        said_at=SOME_DAY + timedelta(days=3),
        confidence=0.7,
    )
    absorbed(nora, one, "company", "Brightwater")
    absorbed(nora, other, "job_title", "nurse", event="Became a nurse")
    absorbed(ivan, other)
    relations.relate(end_user, nora, "sister", ivan, [other.id])
    for row in Contact.objects.filter(pk__in=[nora.pk, ivan.pk]):
        store.save(row, [])
    near, old = make_memory(end_user, "Nora bought a lamp."), make_memory(end_user, "Nora studies.")
    for source, kind, target in (
        (one, "complements", other),
        (one, "shares_entity:Brightwater", near),
        (near, "shares_entity:Brightwater", other),
        (near, "motivated_by", other),
        (other, "supersedes", old),
    ):
        Edge.objects.create(end_user=end_user, source=source, kind=kind, target=target)
    entity = Entity.objects.create(
        end_user=end_user, kind="organisation", name="Brightwater", key="brightwater"
    )
    for memory in (one, other, near):
        EntityLink.objects.create(end_user=end_user, entity=entity, memory=memory)
        memory.refresh_from_db()
    return one, other, near, old


def test_the_merged_memory_has_all_that_the_originals_had(end_user, two):
    one, other, near, old = two
    united, change = merge(end_user, BOTH, one, other)
    assert united.content == BOTH
    assert united.source_message_ids == [1, 2, 5]
    assert [(f["key"], f["value"]) for f in united.facts] == [
        ("company", "Brightwater"),
        ("job_title", "nurse"),
    ]
    assert (united.access_count, united.mention_count, united.learnt_day) == (7, 1, 2)
    assert united.said_at == other.said_at
    assert united.valid_from == SOME_DAY
    assert united.confidence == 1.0
    assert {link.contact.name for link in united.links.all()} == {"Nora", "Ivan"}
    assert EntityLink.objects.filter(memory=united).count() == 1
    stated = set(Edge.objects.values_list("source", "kind", "target"))
    assert stated == {
        (united.id, "shares_entity:Brightwater", near.id),
        (near.id, "motivated_by", united.id),
        (united.id, "supersedes", old.id),
    }
    for original in (one, other):
        original.refresh_from_db()
        assert (original.status, original.merged_into_id) == ("archived", united.id)
    assert change.subjects == [str(united.id), str(one.id), str(other.id)]
    assert_sound(end_user)


def test_an_edge_by_an_entity_that_one_speaks_of_no_more_does_not_come_back(end_user, two):
    one, other, near, _ = two
    _, change = merge(end_user, BOTH, one, other)
    EntityLink.objects.filter(memory=near).delete()  # told anew since, and looked at again
    Edge.objects.filter(kind__startswith=Edge.SHARES_ENTITY).delete()
    undo_change(change, actor=ANN)
    kinds = set(Edge.objects.values_list("kind", flat=True))
    assert kinds == {"complements", "motivated_by", "supersedes"}
    assert_sound(end_user)


def test_profiles_forget_nothing_and_read_nothing_twice_after_a_merge(end_user, two):
    one, other, *_ = two
    shown = dict(Contact.objects.values_list("name", "card"))
    united, _ = merge(end_user, BOTH, one, other)
    assert dict(Contact.objects.values_list("name", "card")) == shown
    nora = Contact.objects.get(name="Nora")
    values = [value for values in nora.attributes.values() for value in values]
    assert {tuple(value["sources"]) for value in [*values, *nora.timeline]} == {(str(united.id),)}
    assert united.consolidated_into is not None
    assert united.importance == 0.05
    assert not Link.objects.unconsolidated().filter(memory=united).exists()
    assert Relation.objects.get().sources == [united.id]


def test_a_memory_that_no_profile_has_read_yet_is_read_after_its_merge(end_user, two):
    one, *_ = two
    nora = Contact.objects.get(name="Nora")
    new = make_memory(end_user, "Nora works at Brightwater in Leeds.", nora)
    united, _ = merge(end_user, "Nora works nights at Brightwater in Leeds.", one, new)
    assert Link.objects.unconsolidated().filter(memory=united, contact=nora).exists()
    assert united.importance > 0.05
    assert_sound(end_user)


def test_a_merge_undone_leaves_exactly_what_was(end_user, two):
    before = everything(end_user)
    _, change = merge(end_user, BOTH, *two[:2])
    undo_change(change, actor=ANN)
    assert_same(everything(end_user), before)
    assert_sound(end_user)


def test_the_words_of_one_original_may_be_the_words_of_all(end_user):
    one, other = make_memory(end_user, "Nora sings."), make_memory(end_user, "Nora sings a lot.")
    _, change = merge(end_user, "Nora sings a lot.", one, other)
    assert [m.content for m in Memory.objects.active()] == ["Nora sings a lot."]
    undo_change(change, actor=ANN)
    assert set(Memory.objects.active()) == {one, other}


def test_a_merged_memory_cannot_be_brought_back_beside_the_one_that_speaks_for_it(end_user):
    one, other = make_memory(end_user, "Nora sings."), make_memory(end_user, "Nora sings well.")
    merge(end_user, "Nora sings well.", one, other)
    with pytest.raises(InvalidCorrection, match="undo that merge"):
        edit_memories.edit(end_user, one.id, {"status": "active"}, actor=ANN)
    nora = make_contact(end_user, "Nora")
    with pytest.raises(InvalidCorrection, match="undo that merge"):
        review_links.state(end_user, one.id, nora.id, actor=ANN)
    Memory.objects.filter(pk=one.pk).update(status="active")
    with pytest.raises(AssertionError, match="merged_memories_lead_on"):
        assert_sound(end_user)


def test_a_merge_of_what_cannot_be_merged_is_refused(end_user):
    one, other = make_memory(end_user, "Nora sings."), make_memory(end_user, "Nora sings well.")
    gone = make_memory(end_user, "Nora sang.", status="archived")
    make_memory(end_user, "Nora hums.")
    theirs = make_memory(make_end_user(), "Nora sings.")
    for ids, content in (
        ([one.id], "One."),
        ([one.id, one.id], "One."),
        ([one.id, gone.id], "Both."),
        ([one.id, theirs.id], "Both."),
        ([one.id, other.id], " "),
        ([one.id, other.id], "nora hums."),
    ):
        with pytest.raises(InvalidCorrection):
            rewrite.merge_memories(end_user, ids, content, actor=ANN)
    assert not Change.objects.exists()


def test_a_merge_is_not_undone_over_what_was_corrected_since(end_user):
    """Otherwise what the user asked to forget would be back."""
    one, other = make_memory(end_user, "Nora sings."), make_memory(end_user, "Nora sings well.")
    united, change = merge(end_user, "Nora sings well.", one, other, actor=MACHINE)
    hidden = erasure_requests.hide(end_user, [united], actor=ANN)
    with pytest.raises(LaterChanges) as refused:
        undo_change(change, actor=ANN)
    assert refused.value.changes == [hidden]
    undo_change(hidden, actor=ANN)
    undo_change(change, actor=ANN)
    assert set(Memory.objects.active()) == {one, other}


def test_what_the_machine_merged_comes_apart_with_an_earlier_change_that_is_undone(end_user):
    nora, norah = make_contact(end_user, "Nora"), make_contact(end_user, "Norah")
    one = make_memory(end_user, "Norah sings.", norah)
    other = make_memory(end_user, "Norah sings well.", nora)
    people = merge_contacts.merge(end_user, norah.id, nora.id, actor=ANN)
    _, change = merge(end_user, "Norah sings well.", one, other, actor=MACHINE)
    before = Change.objects.count()
    assert undo_change(people, actor=ANN, with_later=True) == [change]
    assert set(Memory.objects.active().filter(kind="fact")) == {one, other}
    assert Link.objects.get(memory=one).contact_id == norah.id
    change.refresh_from_db()
    assert change.undone_by == ANN
    assert Change.objects.count() == before
    assert_sound(end_user)


def test_a_value_whose_memory_was_merged_since_comes_back_with_that_memory(end_user):
    nora = make_contact(end_user, "Nora")
    one = make_memory(end_user, "Nora lives in Leeds.", nora)
    other = make_memory(end_user, "Nora lives in Leeds now.", nora)
    absorbed(nora, one, "location", "Leeds")
    edit.edit_contact(end_user, nora.id, {"attributes": {"location": ["York"]}}, actor=ANN)
    change = Change.objects.latest("created_at")
    _, merged = merge(end_user, "Nora lives in Leeds now.", one, other, actor=MACHINE)
    assert undo_change(change, actor=ANN, with_later=True) == [merged]
    nora.refresh_from_db()
    assert nora.attributes["location"][0]["value"] == "Leeds"
    assert nora.attributes["location"][0]["sources"] == [str(one.id)]
    assert_sound(end_user)
