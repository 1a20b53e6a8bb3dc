"""Two contacts become one and two again, with everything that rests on them."""

import pytest
from django.utils import timezone

from accounts.changes import CannotUndo
from accounts.models import Change, EndUser
from contacts import book, identity, lookup, relations
from contacts.merge import InvalidMerge, UnknownPerson, not_the_same
from contacts.models import Contact, Relation, Suggestion, json_value
from memories import corrections, derived, forget, hiding, linking, merging
from memories.models import Consolidation, Link, Memory
from memories.pipeline import consolidate, sync
from memories.types import AttributeValue, ExtractedPerson, ProfilePatch
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.knowledge import absorbed, assert_same, assert_sound, knowledge

pytestmark = pytest.mark.django_db
ANN = "operator:ann"


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(language="en")


@pytest.fixture
def people(end_user: EndUser) -> tuple[Contact, Contact]:
    """Liz, who was told about twice, and Elizabeth, with some of everything."""
    liz = make_contact(end_user, "Liz", aliases=["Lizzie"], gender="female", mention_count=3)
    elizabeth = make_contact(
        end_user, "Elizabeth", aliases=["Beth"], relationship="colleague", mention_count=4
    )
    for contact in (liz, elizabeth):
        identity.save(contact, ["aliases"])
    absorbed(liz, make_memory(end_user, "Liz lives in Turin.", liz), "location", "Turin")
    absorbed(liz, make_memory(end_user, "Liz hikes.", liz), "interests", "hiking")
    absorbed(liz, make_memory(end_user, "Liz married.", liz), event="married")
    absorbed(
        elizabeth, make_memory(end_user, "Elizabeth is in Genoa.", elizabeth), "location", "Genoa"
    )
    absorbed(
        elizabeth, make_memory(end_user, "Elizabeth walks a lot.", elizabeth), "interests", "Hiking"
    )
    make_memory(end_user, "Liz and Elizabeth sing.", liz, elizabeth)
    make_memory(
        end_user,
        "Liz has a brother.",
        liz,
        facts=[{"key": "family", "value": "a brother", "person": str(liz.id)}],
    )
    return fresh(liz), fresh(elizabeth)


def fresh(contact: Contact) -> Contact:
    return Contact.objects.select_related("end_user").get(pk=contact.pk)


def values(contact: Contact, key: str) -> list[str]:
    return [entry["value"] for entry in fresh(contact).attributes.get(key, [])]


def merged(people: tuple[Contact, Contact], **options: str) -> Change:
    liz, elizabeth = people
    return merging.merge(liz.end_user, liz.id, elizabeth.id, **{"actor": ANN, **options})


def test_the_survivor_has_all_that_both_had(end_user, people):
    liz, elizabeth = people
    merged(people)
    survivor = fresh(elizabeth)
    assert survivor.aliases == ["Beth", "Liz", "Lizzie"]
    assert (survivor.relationship, survivor.gender) == ("colleague", "female")
    assert values(survivor, "location") == ["Genoa", "Turin"], "a conflict stays side by side"
    (hiking,) = survivor.attributes["interests"]
    assert (hiking["value"], len(hiking["sources"])) == ("Hiking", 2)
    assert [event["text"] for event in survivor.timeline] == ["married"]
    assert survivor.mention_count == 7
    facts = Memory.objects.of(end_user).filter(kind="fact").values_list("pk", flat=True)
    assert set(facts) < set(survivor.memory_ids)
    assert len(survivor.memory_ids) == len(facts) + 1, "each once, and the profile"
    assert identity.survivor(end_user, liz.id) == survivor
    meant, _ = lookup.who_is_meant(end_user, "How is Lizzie?", lambda: ((), ()))
    assert [mention.person.id for mention in meant] == [survivor.id]
    assert "Also called: Beth, Liz, Lizzie" in survivor.card
    assert_sound(end_user)


def test_search_finds_one_profile_and_it_speaks_for_the_sources_of_both(end_user, people):
    merged(people)
    profile = Memory.objects.of(end_user).active().get(kind="profile")
    assert "Turin" in profile.content
    assert "Genoa" in profile.content
    speaking = Memory.objects.of(end_user).exclude(consolidated_into=None)
    assert set(speaking.values_list("consolidated_into", flat=True)) == {profile.id}
    assert speaking.count() == 5


def test_facts_name_the_survivor_and_undo_gives_them_back(end_user, people):
    liz, elizabeth = people
    memory = Memory.objects.get(content="Liz has a brother.")
    change = merged(people)
    memory.refresh_from_db()
    assert memory.facts[0]["person"] == str(elizabeth.id)
    corrections.undo(change, actor=ANN)
    memory.refresh_from_db()
    assert memory.facts[0]["person"] == str(liz.id)


def test_an_undo_gives_both_back_exactly(end_user, people):
    before = knowledge(end_user)
    change = merged(people)
    assert knowledge(end_user) != before
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before)
    assert_sound(end_user)
    with pytest.raises(CannotUndo):
        corrections.undo(change, actor=ANN)


def test_a_survivor_that_had_no_profile_has_none_after_the_undo(end_user):
    liz, beth = make_contact(end_user, "Liz"), make_contact(end_user, "Beth")
    absorbed(liz, make_memory(end_user, "Liz hikes.", liz), "interests", "hiking")
    before = knowledge(end_user)
    change = merging.merge(end_user, liz.id, beth.id, actor=ANN)
    assert "hiking" in Memory.objects.active().get(kind="profile").content
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_what_came_after_a_merge_stays_with_the_survivor(end_user, people):
    liz, elizabeth = people
    change = merged(people)
    later = make_memory(end_user, "She bakes bread.", fresh(elizabeth))
    absorbed(fresh(elizabeth), later, "skill", "baking")
    book.edit_contact(end_user, elizabeth.id, {"relationship": "friend"}, actor=ANN)
    sync.sync_contacts(
        end_user,
        [ExtractedPerson("p", "Liz", contact_id=liz.id, aliases=("Bessie",))],
        {"p": [SOME_DAY, SOME_DAY]},
        SOME_DAY,
    )
    corrections.undo(change, actor=ANN)
    liz, elizabeth = fresh(liz), fresh(elizabeth)
    assert later.id in elizabeth.memory_ids
    assert later.id not in liz.memory_ids
    assert values(elizabeth, "skill") == ["baking"]
    assert values(elizabeth, "location") == ["Genoa"]
    assert elizabeth.aliases == ["Beth", "Bessie"]
    assert elizabeth.relationship == "friend"
    assert (liz.mention_count, elizabeth.mention_count) == (3, 6)
    assert liz.aliases == ["Lizzie"]
    assert_sound(end_user)


def test_a_value_that_a_later_message_confirmed_stays_with_that_source(end_user, people):
    _, elizabeth = people
    change = merged(people)
    later = make_memory(end_user, "She still lives in Turin.", fresh(elizabeth))
    absorbed(fresh(elizabeth), later, "location", "Turin")
    corrections.undo(change, actor=ANN)
    held = {e["value"]: e["sources"] for e in fresh(elizabeth).attributes["location"]}
    assert held["Turin"] == [str(later.id)]
    assert set(held) == {"Turin", "Genoa"}
    assert_sound(end_user)


def test_what_the_survivor_learnt_from_the_losers_memories_is_read_again_by_the_loser(end_user):
    liz, beth = make_contact(end_user, "Liz"), make_contact(end_user, "Beth")
    memory = make_memory(end_user, "Liz hikes.", liz)
    change = merging.merge(end_user, liz.id, beth.id, actor=ANN)
    absorbed(fresh(beth), memory, "interests", "hiking")
    corrections.undo(change, actor=ANN)
    assert values(beth, "interests") == []
    assert consolidate.contacts_due(end_user.pk) == [liz.id]
    memory.refresh_from_db()
    assert (memory.consolidated_into, memory.importance) == (None, 0.5)
    assert_sound(end_user)


def test_what_was_corrected_after_a_merge_does_not_come_back(end_user, people):
    liz, elizabeth = people
    change = merged(people)
    turin = Memory.objects.get(content="Liz lives in Turin.")
    hikes = Memory.objects.get(content="Liz hikes.")
    corrections.outdate(end_user, [turin], actor=ANN)
    corrections.edit(end_user, hikes.id, {"content": "Liz skis."}, actor=ANN)
    corrections.undo(change, actor=ANN)
    assert values(liz, "location") == []
    assert values(liz, "interests") == []
    assert consolidate.contacts_due(end_user.pk) == sorted([liz.id, elizabeth.id])
    assert "Liz skis." in fresh(liz).card
    assert_sound(end_user)


def test_what_was_said_not_to_be_about_the_one_is_about_neither_of_the_two(end_user, people):
    liz, elizabeth = people
    both = Memory.objects.get(content="Liz and Elizabeth sing.")
    change = merged(people)
    unlinked = corrections.unlink(end_user, both.id, elizabeth.id, actor=ANN)
    corrections.undo(change, actor=ANN)
    assert both.id not in [*fresh(liz).memory_ids, *fresh(elizabeth).memory_ids]
    assert linking.link(end_user, [(both, liz, 1.0)], Link.MadeBy.BACKFILL) == 0
    corrections.undo(unlinked, actor=ANN)
    assert both.id in fresh(elizabeth).memory_ids
    assert_sound(end_user)


def test_a_correction_made_before_a_merge_can_be_undone_after_it(end_user, people):
    liz, elizabeth = people
    turin = Memory.objects.get(content="Liz lives in Turin.")
    moved = corrections.move(end_user, turin.id, liz.id, elizabeth.id, actor=ANN)
    change = merged(people)
    corrections.undo(moved, actor=ANN)
    assert turin.id in fresh(elizabeth).memory_ids
    assert "Turin" in values(elizabeth, "location")
    corrections.undo(change, actor=ANN)
    assert turin.id in fresh(liz).memory_ids
    assert turin.id not in fresh(elizabeth).memory_ids
    assert values(liz, "location") == ["Turin"]
    assert_sound(end_user)


def test_a_rejected_link_stays_rejected_unless_an_operator_linked_the_memory(end_user):
    liz, beth = make_contact(end_user, "Liz"), make_contact(end_user, "Beth")
    alone = make_memory(end_user, "One.", liz)
    guessed = make_memory(end_user, "Two.", liz, beth)
    told = make_memory(end_user, "Three.", liz)
    corrections.unlink(end_user, alone.id, liz.id, actor=ANN)
    corrections.unlink(end_user, guessed.id, liz.id, actor=ANN)
    corrections.move(end_user, told.id, liz.id, beth.id, actor=ANN)
    before = knowledge(end_user)
    change = merging.merge(end_user, liz.id, beth.id, actor=ANN)
    assert fresh(beth).memory_ids == [told.id]
    pairs = [(m, beth, 1.0) for m in (alone, guessed)]
    assert linking.link(end_user, pairs, Link.MadeBy.BACKFILL) == 0
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_merges_chain_and_come_undone_in_any_order(end_user):
    anna, bea, cleo = (make_contact(end_user, name) for name in ("Anna", "Bea", "Cleo"))
    for contact, town in ((anna, "Rome"), (bea, "Bari"), (cleo, "Como")):
        memory = make_memory(end_user, f"{contact.name} is in {town}.", contact)
        absorbed(contact, memory, "location", town)
    before = knowledge(end_user)
    first = merging.merge(end_user, anna.id, bea.id, actor=ANN)
    middle = knowledge(end_user)
    second = merging.merge(end_user, bea.id, cleo.id, actor=ANN)
    assert identity.survivor(end_user, anna.id) == cleo
    assert values(cleo, "location") == ["Como", "Bari", "Rome"]
    corrections.undo(first, actor=ANN)
    assert values(cleo, "location") == ["Como", "Bari"]
    assert values(anna, "location") == ["Rome"]
    assert fresh(bea).merged_into_id == cleo.id
    assert_sound(end_user)
    second.refresh_from_db()
    corrections.undo(second, actor=ANN)
    assert_same(knowledge(end_user), before)
    first = merging.merge(end_user, anna.id, bea.id, actor=ANN)
    second = merging.merge(end_user, bea.id, cleo.id, actor=ANN)
    corrections.undo(second, actor=ANN)
    assert_same(knowledge(end_user), middle, "contacts")


def test_two_merged_into_one_share_what_both_brought_until_both_are_gone(end_user):
    anna, annie, ann = (make_contact(end_user, name) for name in ("Anna", "Annie", "Ann"))
    for contact in (anna, annie):
        identity.add_aliases(contact, ["Nan"])
        identity.save(contact, ["aliases"])
    memory = make_memory(end_user, "Nan sings.", anna, annie)
    before = knowledge(end_user)
    first = merging.merge(end_user, anna.id, ann.id, actor=ANN)
    second = merging.merge(end_user, annie.id, ann.id, actor=ANN)
    corrections.undo(first, actor=ANN)
    assert fresh(ann).aliases == ["Annie", "Nan"]
    assert fresh(ann).memory_ids == fresh(anna).memory_ids == [memory.id]
    second.refresh_from_db()
    corrections.undo(second, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_a_conflict_that_was_resolved_stays_so_when_another_merge_is_undone(end_user, people):
    _, elizabeth = people
    other = make_contact(end_user, "Bettina")
    change = merging.merge(end_user, other.id, elizabeth.id, actor=ANN)
    merged(people)
    merging.resolve_attribute(end_user, elizabeth.id, "location", "Genoa", actor=ANN)
    corrections.undo(change, actor=ANN)
    assert values(elizabeth, "location") == ["Genoa"]


def test_resolving_keeps_the_chosen_value_and_can_be_undone(end_user, people):
    _, elizabeth = people
    merged(people)
    before = knowledge(end_user)
    contact, change = merging.resolve_attribute(
        end_user, elizabeth.id, "location", "turin", actor=ANN
    )
    assert values(contact, "location") == ["Turin"]
    assert "Genoa" not in fresh(contact).card
    with pytest.raises(InvalidMerge):
        merging.resolve_attribute(end_user, elizabeth.id, "location", "Oslo", actor=ANN)
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_relations_follow_the_survivor_each_once_and_none_to_itself(end_user, people):
    liz, elizabeth = people
    tom, memory = make_contact(end_user, "Tom"), make_memory(end_user, "Tom is her partner.")
    relations.relate(end_user, tom, "partner", liz, [memory.id])
    relations.relate(end_user, tom, "partner", elizabeth)
    relations.relate(end_user, liz, "boss", tom, [memory.id])
    relations.relate(end_user, liz, "sister", elizabeth, [memory.id])
    for contact in (tom, liz, elizabeth):
        identity.save(fresh(contact), [])
    before = knowledge(end_user)
    change = merged(people)
    held = Relation.objects.of(end_user).values_list("subject__name", "kind", "object__name")
    assert sorted(held) == [("Elizabeth", "boss", "Tom"), ("Tom", "partner", "Elizabeth")]
    assert "Elizabeth" in fresh(tom).card
    assert "Liz" not in fresh(tom).card.replace("Elizabeth", "")
    assert_sound(end_user)
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def suggest(end_user, one, other, state="open"):
    first, second = sorted((one.id, other.id))
    return Suggestion.objects.create(
        end_user=end_user,
        first_id=first,
        second_id=second,
        verdict="likely",
        confidence=0.8,
        state=state,
    )


def test_suggestions_of_the_loser_become_the_survivors_and_different_outweighs_all(
    end_user, people
):
    liz, elizabeth = people
    tom, una, vic = (make_contact(end_user, name) for name in ("Tom", "Una", "Vic"))
    pair = suggest(end_user, liz, elizabeth)
    suggest(end_user, liz, tom)
    suggest(end_user, liz, una, "different")
    suggest(end_user, elizabeth, una)
    suggest(end_user, liz, vic, "later")
    suggest(end_user, elizabeth, vic, "different")
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
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_a_machine_never_unites_whom_somebody_told_apart(end_user, people):
    liz, _ = people
    change = merged(people, actor="suggestions")
    corrections.undo(change, actor=ANN)
    with pytest.raises(InvalidMerge, match="told apart"):
        merged(people, actor="suggestions")
    tom = make_contact(end_user, "Tom")
    apart = not_the_same(end_user, tom.id, liz.id, actor=ANN)
    with pytest.raises(InvalidMerge, match="told apart"):
        merging.merge(end_user, tom.id, liz.id, actor="suggestions")
    corrections.undo(apart, actor=ANN)
    assert not Suggestion.objects.exists()
    merging.merge(end_user, tom.id, liz.id, actor="suggestions")


def test_what_makes_no_sense_is_refused_and_changes_nothing(end_user, people):
    liz, elizabeth = people
    tom, stranger = make_contact(end_user, "Tom"), make_contact(make_end_user(), "Tom")
    merging.merge(end_user, tom.id, liz.id, actor=ANN)
    before, changes = knowledge(end_user), Change.objects.count()
    for loser, survivor, error in (
        (liz.id, liz.id, InvalidMerge),
        (elizabeth.id, tom.id, InvalidMerge),
        (tom.id, elizabeth.id, InvalidMerge),
        (liz.id, stranger.id, UnknownPerson),
        (stranger.id, liz.id, UnknownPerson),
    ):
        with pytest.raises(error):
            merging.merge(end_user, loser, survivor, actor=ANN)
    assert_same(knowledge(end_user), before)
    assert Change.objects.count() == changes


def test_the_name_of_a_merged_contact_may_be_taken_meanwhile(end_user, people):
    liz, elizabeth = people
    change = merged(people)
    book.edit_contact(end_user, elizabeth.id, {"name": "Liz"}, actor=ANN)
    corrections.undo(change, actor=ANN)
    assert fresh(liz).name == fresh(elizabeth).name == "Liz"
    assert {fresh(liz).namesake, fresh(elizabeth).namesake} == {0, 1}
    assert_sound(end_user)


def test_consolidations_under_way_stop_and_write_nothing(end_user, people):
    _, elizabeth = people
    work = [consolidate.claim(end_user.pk, c.id, timezone.now()) for c in people]
    merged(people)
    assert set(Consolidation.objects.values_list("state", flat=True)) == {"cancelled"}
    assert consolidate.contacts_due(end_user.pk) == [elizabeth.id]
    assert consolidate.claim(end_user.pk, elizabeth.id, timezone.now()) not in work


def test_a_consolidation_after_a_merge_reads_what_was_new_about_both(end_user, people):
    _, elizabeth = people
    merged(people)
    work = consolidate.claim(end_user.pk, elizabeth.id, timezone.now())
    request, links = consolidate.request_for(work)
    assert {m.content for m in request.memories} == {
        "Liz and Elizabeth sing.",
        "Liz has a brother.",
    }
    patch = ProfilePatch(
        attributes={"family": (AttributeValue("a brother", (request.memories[0].id,)),)}
    )
    consolidate.write(work, links, patch)
    Consolidation.objects.update(state="done")
    assert consolidate.contacts_due(end_user.pk) == []
    assert_sound(end_user)


def test_extraction_that_refers_to_a_merged_contact_reaches_the_survivor(end_user, people):
    liz, elizabeth = people
    merged(people)
    synced = sync.sync_contacts(
        end_user,
        [
            ExtractedPerson("a", "Liz", contact_id=liz.id, aliases=("Lizbet",)),
            ExtractedPerson("b", "Elizabeth", contact_id=elizabeth.id, aliases=("Eliza",)),
        ],
        {"a": [SOME_DAY], "b": [SOME_DAY]},
        SOME_DAY,
    )
    assert {contact.id for contact in synced.contacts.values()} == {elizabeth.id}
    assert fresh(elizabeth).mention_count == 9
    assert {"Lizbet", "Eliza"} < set(fresh(elizabeth).aliases)
    assert_sound(end_user)


def test_forgetting_a_memory_after_a_merge_leaves_nothing_of_it_anywhere(end_user, people):
    liz, _ = people
    change = merged(people)
    forget.forget_memory(end_user, Memory.objects.get(content="Liz lives in Turin.").id)
    for model in (Contact, Memory, Change):
        assert "Turin" not in str(list(model.objects.of(end_user).values()))
    corrections.undo(change, actor=ANN)
    assert values(liz, "location") == []
    assert_sound(end_user)


def test_forgetting_a_contact_takes_all_that_was_ever_merged_into_it(end_user, people):
    _, elizabeth = people
    merged(people)
    lisbeth = make_contact(end_user, "Lisbeth")
    merging.merge(end_user, elizabeth.id, lisbeth.id, actor=ANN)
    forget.forget_contact(end_user, lisbeth.id)
    for model in (Contact, Memory, Change, Link):
        assert not model.objects.of(end_user).exists(), model


# Split -------------------------------------------------------------------------------------


def test_a_split_takes_the_chosen_memories_and_what_rests_on_them(end_user, people):
    _, elizabeth = people
    merged(people)
    tom = make_contact(end_user, "Tom")
    ids = list(
        Memory.objects.filter(content__startswith="Liz ", kind="fact").values_list("pk", flat=True)
    )
    relations.relate(end_user, tom, "partner", fresh(elizabeth), ids[:1])
    identity.save(fresh(elizabeth), [])
    identity.save(fresh(tom), [])
    before = knowledge(end_user)
    new, change = merging.split(
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
    assert linking.link(end_user, pairs, Link.MadeBy.BACKFILL) == 0
    assert_sound(end_user)
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before)
    assert_sound(end_user)


def test_a_namesake_may_come_of_a_split(end_user):
    wang = make_contact(end_user, "王伟")
    memory = make_memory(end_user, "王伟是医生", wang)
    new, _ = merging.split(end_user, wang.id, [memory.id], name="王伟", actor=ANN)
    assert (new.name, new.namesake) == ("王伟", 1)
    assert (fresh(wang).memory_ids, fresh(new).memory_ids) == ([], [memory.id])
    assert_sound(end_user)


def test_undoing_a_split_loses_nothing_that_was_learnt_since(end_user, people):
    liz, _ = people
    ids = [Memory.objects.get(content="Liz hikes.").id]
    new, change = merging.split(end_user, liz.id, ids, name="Ursula", actor=ANN)
    later = make_memory(end_user, "Ursula skis.", new)
    absorbed(new, later, "skill", "skiing")
    corrections.undo(change, actor=ANN)
    assert not Contact.objects.filter(pk=new.pk).exists()
    assert {later.id, *ids} < set(fresh(liz).memory_ids)
    due = Link.objects.of(end_user).unconsolidated().filter(contact=liz)
    assert later.id in due.values_list("memory", flat=True)
    assert_sound(end_user)


def test_undoing_a_split_does_not_bring_back_what_was_edited_since(end_user, people):
    liz, _ = people
    turin = Memory.objects.get(content="Liz lives in Turin.")
    _, change = merging.split(end_user, liz.id, [turin.id], name="Ursula", actor=ANN)
    corrections.edit(end_user, turin.id, {"content": "She lives in Parma."}, actor=ANN)
    corrections.undo(change, actor=ANN)
    assert values(liz, "location") == []
    assert "Parma" in fresh(liz).card
    due = Link.objects.of(end_user).unconsolidated().filter(contact=liz)
    assert turin.id in due.values_list("memory", flat=True)
    assert_sound(end_user)


def test_a_split_needs_memories_that_are_about_the_contact(end_user, people):
    liz, _ = people
    other = make_memory(end_user, "It rains.")
    profile = Memory.objects.get(content_hash=f"profile:{liz.id}")
    before = knowledge(end_user)
    for ids in ([], [other.id], [profile.id]):
        with pytest.raises(InvalidMerge):
            merging.split(end_user, liz.id, ids, name="X", actor=ANN)
    with pytest.raises(identity.InvalidContact):
        merging.split(end_user, liz.id, [liz.memory_ids[0]], name="…", actor=ANN)
    assert_same(knowledge(end_user), before)


# Move --------------------------------------------------------------------------------------


def test_moving_a_memory_takes_nothing_from_others_whom_it_is_about(end_user):
    anna, bea, cleo = (make_contact(end_user, name) for name in ("Anna", "Bea", "Cleo"))
    memory = make_memory(end_user, "They live in Rome.", anna, cleo)
    for contact in (anna, cleo):
        absorbed(contact, memory, "location", "Rome")
    before = {"anna": fresh(anna).memory_ids}
    change = corrections.move(end_user, memory.id, anna.id, bea.id, actor=ANN)
    assert values(anna, "location") == []
    assert values(cleo, "location") == ["Rome"]
    absorbed(fresh(bea), memory, "location", "Rome")
    corrections.undo(change, actor=ANN)
    assert values(bea, "location") == []
    assert fresh(anna).memory_ids == before["anna"]
    assert values(anna, "location") == ["Rome"]
    assert_sound(end_user)


def test_a_memory_moves_from_the_survivor_by_the_old_id_too(end_user, people):
    liz, elizabeth = people
    merged(people)
    tom = make_contact(end_user, "Tom")
    memory = Memory.objects.get(content="Liz hikes.")
    corrections.move(end_user, memory.id, liz.id, tom.id, actor=ANN)
    assert memory.id in fresh(tom).memory_ids
    assert memory.id not in fresh(elizabeth).memory_ids
    with pytest.raises(corrections.InvalidCorrection):
        corrections.move(end_user, memory.id, tom.id, tom.id, actor=ANN)
    assert_sound(end_user)


def test_a_relation_that_a_moved_memory_states_moves_with_it(end_user):
    anna, bea, tom = (make_contact(end_user, name) for name in ("Anna", "Bea", "Tom"))
    memory = make_memory(end_user, "Her brother is Tom.", anna)
    relations.relate(end_user, tom, "brother", anna, [memory.id])
    for contact in (anna, tom):
        identity.save(fresh(contact), [])
    before = knowledge(end_user)
    change = corrections.move(end_user, memory.id, anna.id, bea.id, actor=ANN)
    assert Relation.objects.get().object == bea
    assert "Bea" in fresh(tom).card
    assert "Tom" in fresh(bea).card
    assert_sound(end_user)
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before, "relations")
    assert_sound(end_user)


def test_a_new_contact_of_whom_more_was_learnt_is_not_undone_away(end_user):
    contact, change = book.create_contact(end_user, "Zoe", actor=ANN)
    make_memory(end_user, "Zoe sings.", contact)
    with pytest.raises(CannotUndo):
        corrections.undo(change, actor=ANN)
    assert Contact.objects.filter(pk=contact.pk).exists()


def test_values_without_sources_are_united_and_given_back(end_user):
    anna = make_contact(end_user, "Anna", attributes={"company": [json_value("Fiat")]})
    bea = make_contact(end_user, "Bea", attributes={"company": [json_value("FIAT")]})
    memory = make_memory(end_user, "Bea works at Fiat.", bea)
    for contact in (anna, bea):
        derived.write_profile_memory(contact)
    before = knowledge(end_user)
    change = merging.merge(end_user, bea.id, anna.id, actor=ANN)
    assert values(anna, "company") == ["Fiat"]
    derived.unlearn(end_user, [memory.id])
    assert values(anna, "company") == ["Fiat"], "a person stated it"
    corrections.undo(change, actor=ANN)
    assert_same(knowledge(end_user), before, "contacts")


def test_what_an_emptied_profile_spoke_for_stands_for_itself_after_a_merge(
    end_user: EndUser,
) -> None:
    ada, bea = make_contact(end_user, "Ada"), make_contact(end_user, "Bea")
    told = make_memory(end_user, "Ada lives in Turin.", ada)
    absorbed(ada, told, "location", "Turin")
    told.refresh_from_db()
    hiding.hide(end_user, [told], actor="extractor")
    merging.merge(end_user, ada.id, bea.id, actor=ANN)
    assert_sound(end_user)
    told.refresh_from_db()
    assert told.consolidated_into is None


def test_facts_that_come_back_with_an_undo_are_about_the_survivor(end_user: EndUser) -> None:
    ada, bea = make_contact(end_user, "Ada"), make_contact(end_user, "Bea")
    fact = {"key": "location", "value": "Turin", "person": str(ada.id)}
    told = make_memory(end_user, "Ada lives in Turin.", facts=[fact])
    edited = corrections.edit(end_user, told.id, {"content": "Ada lives there."}, actor=ANN)
    merging.merge(end_user, ada.id, bea.id, actor=ANN)
    corrections.undo(edited, actor=ANN)
    told.refresh_from_db()
    assert told.facts == [{**fact, "person": str(bea.id)}]
    assert_sound(end_user)
