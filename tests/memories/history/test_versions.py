"""Versions of a memory, and what was believed at a moment."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.changes import recording
from accounts.models import Change
from contacts import store
from contacts.models import json_value
from memories.corrections import derived, edit_memories, merge_contacts
from memories.corrections.undo import undo_change
from memories.history.as_of import as_of, contact_as_of
from memories.history.versions import Version, versions
from memories.models import Edge
from memories.pipeline.forget_requests import forget_asked
from memories.types import ForgetRequest
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.snapshots import absorbed

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def end_user():
    return make_end_user()


def told(versions):
    return [(version.content, version.status) for version in versions]


def believed(end_user, moment, contact=None):
    found = as_of(end_user, moment, contact.id if contact else None)
    return {memory.content for memory in found}


def superseded(end_user, old, content, *about, at):
    new = make_memory(end_user, content, *about, said_at=at)
    edit_memories.outdate(
        end_user, [old], actor="extractor", why="moved", valid_to=at, by=new.id, certainty=0.8
    )
    return new


def test_a_memory_that_never_changed_has_one_version(end_user):
    memory = make_memory(end_user, "Bob sings", source_message_ids=[7], quote="bob sings")
    (version,) = versions(end_user, memory.id)
    assert version == Version(
        memory_id=memory.id,
        content="Bob sings",
        status="active",
        since=SOME_DAY,
        until=None,
        who="user",
        why="",
        change_id=None,
        source_message_ids=(7,),
        quote="bob sings",
    )


def test_the_chain_is_the_same_from_each_of_its_ends(end_user):
    first = make_memory(end_user, "Bob lives in Rome")
    second = superseded(end_user, first, "Bob lives in Oslo", at=SOME_DAY + DAY)
    third = superseded(end_user, second, "Bob lives in Bern", at=SOME_DAY + 2 * DAY)
    chains = {memory: versions(end_user, memory.id) for memory in (first, second, third)}
    for chain in chains.values():
        assert sorted(told(chain)) == sorted(
            [
                ("Bob lives in Rome", "active"),
                ("Bob lives in Rome", "outdated"),
                ("Bob lives in Oslo", "active"),
                ("Bob lives in Oslo", "outdated"),
                ("Bob lives in Bern", "active"),
            ]
        )
    rome = [version for version in chains[third] if version.memory_id == first.id]
    assert (rome[0].since, rome[0].until) == (SOME_DAY, SOME_DAY + DAY)
    assert (rome[1].since, rome[1].until) == (SOME_DAY + DAY, None)
    assert (rome[1].who, rome[1].why) == ("extractor", "moved")
    assert rome[1].change_id == Change.objects.earliest("created_at").id


def test_another_memory_that_was_superseded_by_the_same_one_is_no_version_of_it(end_user):
    one, other = make_memory(end_user, "Bob is in Rome"), make_memory(end_user, "Bob is in Pisa")
    new = superseded(end_user, one, "Bob is in Oslo", at=SOME_DAY + DAY)
    Edge.objects.create(end_user=end_user, source=new, target=other, kind="supersedes")
    ids = {version.memory_id for version in versions(end_user, one.id)}
    assert ids == {one.id, new.id}


def test_edits_tell_what_it_said_before_who_changed_it_and_why(end_user):
    memory = make_memory(end_user, "Bob sings")
    edit_memories.edit(
        end_user, memory.id, {"content": "Bob hums"}, actor="operator:eva", why="typo"
    )
    edit_memories.edit(end_user, memory.id, {"importance": 0.9}, actor="operator:eva")
    edit_memories.edit(end_user, memory.id, {"content": "Bob whistles"}, actor="app:chat")
    found = versions(end_user, memory.id)
    assert told(found) == [
        ("Bob sings", "active"), ("Bob hums", "active"), ("Bob whistles", "active"),
    ]  # fmt: skip
    assert [(v.who, v.why) for v in found] == [
        ("user", ""),
        ("operator:eva", "typo"),
        ("app:chat", ""),
    ]
    assert [v.until for v in found] == [found[1].since, found[2].since, None]
    assert found[1].change_id == Change.objects.earliest("created_at").id


def test_an_edit_that_was_undone_never_was(end_user):
    memory = make_memory(end_user, "Bob sings")
    change = edit_memories.edit(end_user, memory.id, {"content": "Bob hums"}, actor="operator:eva")
    undo_change(change, actor="operator:eva")
    assert told(versions(end_user, memory.id)) == [("Bob sings", "active")]


def test_what_was_stated_by_an_app_says_so(end_user):
    memory, change = edit_memories.add(
        end_user, "Bob sings", actor="app:chat", why="form", type="personal", subtype="friend"
    )
    (version,) = versions(end_user, memory.id)
    assert (version.who, version.why, version.change_id) == ("app:chat", "form", change.id)


def test_merged_and_split_memories_are_one_chain(end_user):
    united = make_memory(end_user, "Bob sings and paints")
    part = make_memory(end_user, "Bob sings", status="archived", merged_into=united)
    piece = make_memory(end_user, "Bob sings bass")
    Edge.objects.create(end_user=end_user, source=piece, target=part, kind="part_of")
    chains = {(united, part), (part, united, piece), (piece, part)}
    for memory, *others in chains:
        ids = {version.memory_id for version in versions(end_user, memory.id)}
        assert ids == {memory.id, *(other.id for other in others)}


def test_outdated_without_a_record_still_has_its_end(end_user):
    memory = make_memory(end_user, "Bob sings", status="outdated", outdated_at=SOME_DAY + DAY)
    found = versions(end_user, memory.id)
    assert told(found)[-1] == ("Bob sings", "outdated")
    assert found[-1].since == SOME_DAY + DAY


def test_nobody_sees_the_versions_of_anothers_memory(end_user):
    memory = make_memory(make_end_user(), "Bob sings")
    assert versions(end_user, memory.id) == []


def test_a_long_chain_takes_as_many_statements_as_a_short_one(end_user):
    memory = make_memory(end_user, "Bob is 1")
    counts = []
    for number in range(2, 9):
        memory = superseded(end_user, memory, f"Bob is {number}", at=SOME_DAY + number * DAY)
        with CaptureQueriesContext(connection) as queries:
            assert len(versions(end_user, memory.id)) == 2 * number - 1
        counts.append(len(queries))
    assert set(counts) == {3}


def test_a_memory_is_believed_from_when_it_was_said_until_it_was_superseded(end_user):
    rome = make_memory(end_user, "Bob lives in Rome")
    superseded(end_user, rome, "Bob lives in Oslo", at=SOME_DAY + 2 * DAY)
    assert believed(end_user, SOME_DAY - DAY) == set()
    assert believed(end_user, SOME_DAY + DAY) == {"Bob lives in Rome"}
    assert believed(end_user, SOME_DAY + 3 * DAY) == {"Bob lives in Oslo"}
    assert believed(end_user, timezone.now()) == {"Bob lives in Oslo"}


def test_later_edits_are_not_seen_and_undone_ones_never(end_user):
    memory = make_memory(end_user, "Bob sings")
    undone = edit_memories.edit(end_user, memory.id, {"content": "Bob hums"}, actor="operator:x")
    undo_change(undone, actor="operator:x")
    before = timezone.now()
    edit_memories.edit(end_user, memory.id, {"content": "Bob whistles"}, actor="operator:x")
    assert believed(end_user, before) == {"Bob sings"}
    assert believed(end_user, timezone.now()) == {"Bob whistles"}


def test_a_memory_that_was_outdated_by_hand_was_believed_before(end_user):
    memory = make_memory(end_user, "Bob sings")
    before = timezone.now()
    edit_memories.edit(end_user, memory.id, {"status": "outdated"}, actor="operator:x")
    assert believed(end_user, before) == {"Bob sings"}
    assert believed(end_user, timezone.now()) == set()
    again = timezone.now()
    edit_memories.edit(end_user, memory.id, {"status": "active"}, actor="operator:x")
    assert believed(end_user, timezone.now()) == {"Bob sings"}
    assert believed(end_user, again) == set()


def test_what_the_user_asked_to_forget_stays_forgotten_whatever_the_moment(end_user):
    bob = make_contact(end_user, "Bob")
    make_memory(end_user, "Bob sings", bob)
    before = timezone.now()
    forget_asked(end_user, [ForgetRequest(bob.id)])
    assert believed(end_user, before) == set()
    assert contact_as_of(end_user, bob.id, before) is None


def test_memories_were_about_whom_they_were_linked_to_then(end_user):
    bob, bea = make_contact(end_user, "Bob"), make_contact(end_user, "Bea")
    memory = make_memory(end_user, "Sings bass", bob)
    before = timezone.now()
    edit_memories.move(end_user, memory.id, bob.id, bea.id, actor="operator:x")
    assert believed(end_user, before, bob) == {"Sings bass"}
    assert believed(end_user, before, bea) == set()
    assert believed(end_user, timezone.now(), bea) == {"Sings bass"}
    (then,) = as_of(end_user, before)
    assert then.contacts == (bob.id,)


def test_before_a_merge_there_were_two_people(end_user):
    bob, rob = make_contact(end_user, "Bob"), make_contact(end_user, "Rob")
    make_memory(end_user, "Bob sings", bob)
    make_memory(end_user, "Rob paints", rob)
    before = timezone.now()
    merge_contacts.merge(end_user, rob.id, bob.id, actor="operator:x")
    assert believed(end_user, before, bob) == {"Bob sings"}
    assert believed(end_user, before, rob) == {"Rob paints"}
    assert believed(end_user, timezone.now(), rob) == {"Bob sings", "Rob paints"}
    assert contact_as_of(end_user, rob.id, before).name == "Rob"
    assert contact_as_of(end_user, rob.id, timezone.now()).name == "Bob"


def test_merged_memories_stood_for_themselves_before(end_user):
    sings = make_memory(end_user, "Bob sings")
    before = timezone.now()
    with recording(end_user, "unite", "refinement") as (recorder, _):
        recorder.watch([sings])
        united = make_memory(end_user, "Bob sings and paints")
        sings.status, sings.merged_into = "archived", united
        sings.save()
        recorder.watch([united], created=True)
    assert believed(end_user, before) == {"Bob sings"}
    assert believed(end_user, timezone.now()) == {"Bob sings and paints"}


def test_the_number_of_statements_does_not_grow(end_user):
    bob = make_contact(end_user, "Bob")
    before = timezone.now()
    counts = []
    for number in range(4):
        memory = make_memory(end_user, f"Bob is {number}", bob)
        edit_memories.edit(
            end_user, memory.id, {"content": f"Bob has {number}"}, actor="operator:x"
        )
        with CaptureQueriesContext(connection) as queries:
            assert len(as_of(end_user, before, bob.id)) == number + 1
        counts.append(len(queries))
    assert len(set(counts)) == 1
    assert counts[0] <= 7


def attributes(end_user, contact, moment):
    known = contact_as_of(end_user, contact.id, moment)
    return {key: [value.value for value in values] for key, values in known.attributes.items()}


def test_an_attribute_counts_if_one_of_its_sources_was_believed(end_user):
    bob = make_contact(end_user, "Bob", first_mentioned_at=SOME_DAY)
    lives = make_memory(end_user, "Bob lives in Rome", bob)
    sings = make_memory(end_user, "Bob sings", bob, said_at=SOME_DAY + 5 * DAY)
    absorbed(bob, lives, "location", "Rome", "Moved to Rome")
    absorbed(bob, sings, "interests", "singing", "First concert")
    assert attributes(end_user, bob, SOME_DAY + DAY) == {"location": ["Rome"]}
    assert attributes(end_user, bob, timezone.now()) == {
        "location": ["Rome"], "interests": ["singing"],
    }  # fmt: skip
    then = contact_as_of(end_user, bob.id, SOME_DAY + DAY)
    assert [event["text"] for event in then.timeline] == ["Moved to Rome"]
    assert then.attributes["location"][0].since == SOME_DAY
    assert then.memory_ids == (lives.id,)


def test_a_value_that_was_outdated_since_comes_back_in_the_view(end_user):
    bob = make_contact(end_user, "Bob", first_mentioned_at=SOME_DAY)
    rome = make_memory(end_user, "Bob lives in Rome", bob)
    absorbed(bob, rome, "location", "Rome")
    oslo = superseded(end_user, rome, "Bob lives in Oslo", bob, at=SOME_DAY + 4 * DAY)
    absorbed(bob, oslo, "location", "Oslo")
    assert attributes(end_user, bob, SOME_DAY + DAY) == {"location": ["Rome"]}
    assert attributes(end_user, bob, timezone.now()) == {"location": ["Oslo"]}


def test_a_value_that_consolidation_replaced_is_read_from_the_memories(end_user):
    bob = make_contact(end_user, "Bob", first_mentioned_at=SOME_DAY)
    fact = {"key": "location", "person": str(bob.id)}
    make_memory(end_user, "Bob lives in Rome", bob, facts=[{**fact, "value": "Rome"}])
    oslo = make_memory(
        end_user, "Bob lives in Oslo", bob, said_at=SOME_DAY + 4 * DAY,
        facts=[{**fact, "value": "Oslo"}],
    )  # fmt: skip
    absorbed(bob, oslo, "location", "Oslo")
    assert attributes(end_user, bob, SOME_DAY + DAY) == {"location": ["Rome"]}


def test_what_was_stated_counts_and_a_personality_only_when_all_of_it_was_known(end_user):
    bob = make_contact(end_user, "Bob", first_mentioned_at=SOME_DAY)
    late = make_memory(end_user, "Bob is shy", bob, said_at=SOME_DAY + 5 * DAY)
    bob.attributes = {"birthday": [json_value("May 1")]}
    bob.personality, bob.personality_sources = "Shy.", [str(late.id)]
    store.save(bob, derived.PROFILE_FIELDS)
    then = contact_as_of(end_user, bob.id, SOME_DAY + DAY)
    assert {key: v[0].value for key, v in then.attributes.items()} == {"birthday": "May 1"}
    assert then.personality == ""
    assert contact_as_of(end_user, bob.id, timezone.now()).personality == "Shy."


def test_who_was_not_met_yet_was_not_known(end_user):
    bob = make_contact(end_user, "Bob", first_mentioned_at=SOME_DAY)
    assert contact_as_of(end_user, bob.id, SOME_DAY - DAY) is None
    assert contact_as_of(make_end_user(), bob.id, timezone.now()) is None
