"""Versions of a memory."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Change
from memories.corrections import edit_memories
from memories.corrections.undo import undo_change
from memories.history.versions import Version, versions
from memories.models import Edge
from tests.factories import SOME_DAY, make_end_user, make_memory

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def end_user():
    return make_end_user()


def told(versions):
    return [(version.content, version.status) for version in versions]


def superseded(end_user, old, content, *about, at):
    new = make_memory(end_user, content, *about, said_at=at)
    ending = edit_memories.Ending(at, certainty=0.8)
    edit_memories.outdate(end_user, [old], actor="extractor", why="moved", by=new.id, ending=ending)
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
