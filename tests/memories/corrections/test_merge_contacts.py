"""Two contacts become one, with everything that rests on them."""

import pytest
from django.utils import timezone

from accounts.models import Change, EndUser
from contacts import lookup, store
from contacts.merge import InvalidMerge, UnknownPerson
from contacts.models import Contact
from memories.corrections import erasure_requests, merge_contacts
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Consolidation, Link, Memory
from memories.pipeline import consolidate, sync_contacts
from memories.types import AttributeValue, ExtractedPerson, ProfilePatch
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.corrections.liz_and_elizabeth import ANN, fresh, merged, values
from tests.memories.snapshots import absorbed, assert_same, assert_sound, knowledge

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(language="en")


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
    assert store.survivor(end_user, liz.id) == survivor
    meant, *_ = lookup.look_up(end_user, "How is Lizzie?", lambda: ((), ()))
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


def test_resolving_keeps_the_chosen_value_and_can_be_undone(end_user, people):
    _, elizabeth = people
    merged(people)
    before = knowledge(end_user)
    change = merge_contacts.resolve_attribute(
        end_user, elizabeth.id, "location", "turin", actor=ANN
    )
    assert values(elizabeth, "location") == ["Turin"]
    assert "Genoa" not in fresh(elizabeth).card
    with pytest.raises(InvalidMerge):
        merge_contacts.resolve_attribute(end_user, elizabeth.id, "location", "Oslo", actor=ANN)
    undo_change(change, actor=ANN)
    assert_same(knowledge(end_user), before)


def test_what_makes_no_sense_is_refused_and_changes_nothing(end_user, people):
    liz, elizabeth = people
    tom, stranger = make_contact(end_user, "Tom"), make_contact(make_end_user(), "Tom")
    merge_contacts.merge(end_user, tom.id, liz.id, actor=ANN)
    before, changes = knowledge(end_user), Change.objects.count()
    for loser, survivor, error in (
        (liz.id, liz.id, InvalidMerge),
        (elizabeth.id, tom.id, InvalidMerge),
        (tom.id, elizabeth.id, InvalidMerge),
        (liz.id, stranger.id, UnknownPerson),
        (stranger.id, liz.id, UnknownPerson),
    ):
        with pytest.raises(error):
            merge_contacts.merge(end_user, loser, survivor, actor=ANN)
    assert_same(knowledge(end_user), before)
    assert Change.objects.count() == changes


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
    synced = sync_contacts.sync_contacts(
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
    erase.forget_memory(end_user, Memory.objects.get(content="Liz lives in Turin.").id)
    for model in (Contact, Memory, Change):
        assert "Turin" not in str(list(model.objects.of(end_user).values()))
    undo_change(change, actor=ANN)
    assert values(liz, "location") == []
    assert_sound(end_user)


def test_forgetting_a_contact_takes_all_that_was_ever_merged_into_it(end_user, people):
    _, elizabeth = people
    merged(people)
    lisbeth = make_contact(end_user, "Lisbeth")
    merge_contacts.merge(end_user, elizabeth.id, lisbeth.id, actor=ANN)
    erase.forget_contact(end_user, lisbeth.id)
    for model in (Contact, Memory, Change, Link):
        assert not model.objects.of(end_user).exists(), model


def test_what_an_emptied_profile_spoke_for_stands_for_itself_after_a_merge(
    end_user: EndUser,
) -> None:
    ada, bea = make_contact(end_user, "Ada"), make_contact(end_user, "Bea")
    told = make_memory(end_user, "Ada lives in Turin.", ada)
    absorbed(ada, told, "location", "Turin")
    told.refresh_from_db()
    erasure_requests.hide(end_user, [told], actor="extractor")
    merge_contacts.merge(end_user, ada.id, bea.id, actor=ANN)
    assert_sound(end_user)
    told.refresh_from_db()
    assert told.consolidated_into is None
