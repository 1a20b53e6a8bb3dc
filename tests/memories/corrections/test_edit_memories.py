import pytest

from accounts.models import Change
from accounts.rollback import CannotUndo, LaterChanges, later_changes
from contacts import edit, store
from contacts.models import Contact
from memories.corrections import derived, edit_memories
from memories.corrections.undo import undo_change
from memories.models import Edge, Link, Memory
from memories.pipeline import sync_contacts
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories.snapshots import absorbed

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user():
    return make_end_user(language="zh")


def state(end_user):
    """All that a correction may touch, to compare before and after."""
    contacts = (
        Contact.objects.of(end_user)
        .order_by("pk")
        .values(
            "pk", "name", "aliases", "attributes", "timeline", "card", "memory_ids", "merged_into"
        )
    )
    memories = (
        Memory.objects.of(end_user)
        .filter(kind="fact")
        .order_by("pk")
        .values("pk", "content", "status", "facts", "valid_to", "tokens")
    )
    links = (
        Link.objects.of(end_user)
        .order_by("contact", "memory")
        .values("contact", "memory", "rejected")
    )
    for contact in (found := list(contacts)):
        contact["memory_ids"] = sorted(contact["memory_ids"])
    return found, list(memories), list(links)


def test_outdating_keeps_the_memory_as_history_and_the_profile_forgets_it(end_user):
    contact = make_contact(end_user, "小红")
    memory = make_memory(end_user, "小红在腾讯工作", contact)
    absorbed(contact, memory, "company", "腾讯")
    assert "公司：腾讯" in contact.card

    memory.refresh_from_db()
    edit_memories.outdate(end_user, [memory], actor="operator:ann", why="she left")

    memory.refresh_from_db()
    contact.refresh_from_db()
    assert memory.status == "outdated"
    assert memory.valid_to is not None
    assert "腾讯" not in contact.card
    assert contact.attributes == {}
    change = Change.objects.get()
    assert (change.verb, change.actor, change.why) == ("outdate", "operator:ann", "she left")


def test_outdating_by_a_newer_memory_records_that_it_supersedes(end_user):
    old, new = make_memory(end_user, "小红在腾讯"), make_memory(end_user, "小红在阿里")
    edit_memories.outdate(end_user, [old], actor="extractor", by=new.id)
    assert Edge.objects.filter(source=new, target=old, kind="supersedes").exists()


def test_moving_a_memory_changes_both_cards_and_no_machine_links_it_back(end_user):
    anna, bella = make_contact(end_user, "Anna"), make_contact(end_user, "Bella")
    memory = make_memory(end_user, "Her birthday is on May 5", anna)
    edit_memories.move(end_user, memory.id, anna.id, bella.id, actor="operator:ann")
    anna.refresh_from_db()
    bella.refresh_from_db()
    assert (anna.memory_ids, bella.memory_ids) == ([], [memory.id])
    assert "birthday" not in anna.card
    assert "birthday" in bella.card
    assert sync_contacts.link(end_user, [(memory, anna, 1.0)], Link.MadeBy.BACKFILL) == 0
    anna.refresh_from_db()
    assert anna.memory_ids == []


def test_moving_to_nobody_says_so_and_changes_nothing(end_user):
    contact = make_contact(end_user)
    memory = make_memory(end_user, "x", contact)
    other = make_contact(make_end_user())
    before = state(end_user)
    with pytest.raises(edit_memories.InvalidCorrection):
        edit_memories.move(end_user, memory.id, contact.id, other.id, actor="a")
    assert state(end_user) == before
    assert not Change.objects.exists()


def test_editing_lets_the_profile_read_the_new_words(end_user):
    contact = make_contact(end_user, "小红")
    memory = make_memory(end_user, "小红住在北京", contact)
    absorbed(contact, memory, "location", "北京")
    edit_memories.edit(end_user, memory.id, {"content": "小红住在成都"}, actor="operator:ann")
    memory.refresh_from_db()
    contact.refresh_from_db()
    assert "北京" not in contact.card
    assert "成都" in contact.card
    assert memory.consolidated_into_id is None
    assert Link.objects.of(end_user).filter(consolidated_at=None, memory=memory).exists()
    assert not memory.vectors.exists()
    assert "成都" in memory.tokens


def test_editing_into_what_another_memory_says_is_refused(end_user):
    make_memory(end_user, "a fact")
    memory = make_memory(end_user, "another fact")
    with pytest.raises(edit_memories.InvalidCorrection):
        edit_memories.edit(end_user, memory.id, {"content": "A fact"}, actor="a")
    memory.refresh_from_db()
    assert memory.content == "another fact"


def test_a_consolidated_memory_keeps_its_importance_and_says_why(end_user):
    contact = make_contact(end_user, "小红")
    memory = make_memory(end_user, "小红在腾讯工作", contact)
    absorbed(contact, memory, "company", "腾讯")
    with pytest.raises(edit_memories.InvalidCorrection, match="profile speaks"):
        edit_memories.edit(end_user, memory.id, {"importance": 0.9}, actor="a")


@pytest.mark.parametrize("verb", ["outdate", "edit", "move", "unlink", "add"])
def test_every_correction_can_be_undone(end_user, verb):
    anna, bella = make_contact(end_user, "Anna"), make_contact(end_user, "Bella")
    memory = make_memory(end_user, "Anna lives in Rome", anna)
    absorbed(anna, memory, "location", "Rome")
    edit_memories.derived.reopen(end_user, anna, [memory.id])
    anna.refresh_from_db()
    store.save(anna, [])
    before = state(end_user)
    memory.refresh_from_db()
    change = {
        "outdate": lambda: edit_memories.outdate(end_user, [memory], actor="a"),
        "edit": lambda: edit_memories.edit(
            end_user, memory.id, {"content": "Anna lives in Oslo"}, actor="a"
        ),
        "move": lambda: edit_memories.move(end_user, memory.id, anna.id, bella.id, actor="a"),
        "unlink": lambda: edit_memories.unlink(end_user, memory.id, anna.id, actor="a"),
        "add": lambda: edit_memories.add(
            end_user, "Anna sings", actor="a", contacts=[anna], type="personal", subtype="friend"
        )[1],
    }[verb]()
    assert state(end_user) != before
    undo_change(change, actor="operator:ann")
    assert state(end_user) == before
    with pytest.raises(CannotUndo):
        undo_change(change, actor="operator:ann")


def test_later_changes_of_the_same_are_named_and_undone_together_newest_first(end_user):
    memory, other = make_memory(end_user, "first"), make_memory(end_user, "another")
    first = edit_memories.edit(end_user, memory.id, {"content": "second"}, actor="a")
    later = [
        edit_memories.edit(end_user, memory.id, {"content": content}, actor="a")
        for content in ("third", "fourth")
    ]
    apart = edit_memories.edit(end_user, other.id, {"content": "something else"}, actor="a")
    with pytest.raises(LaterChanges) as refused:
        undo_change(first, actor="a")
    assert refused.value.changes == later[::-1]
    memory.refresh_from_db()
    assert memory.content == "fourth"
    assert undo_change(first, actor="b", with_later=True) == later[::-1]
    memory.refresh_from_db()
    assert memory.content == "first"
    undone = Change.objects.exclude(undone_at=None)
    assert set(undone) == {first, *later}
    assert set(undone.values_list("undone_by", flat=True)) == {"b"}
    apart.refresh_from_db()
    assert apart.undone_at is None


def test_none_is_undone_where_one_cannot_be(end_user):
    memory = make_memory(end_user, "first")
    first = edit_memories.edit(end_user, memory.id, {"content": "second"}, actor="a")
    second = edit_memories.edit(end_user, memory.id, {"content": "third"}, actor="a")
    make_memory(end_user, "first")
    with pytest.raises(CannotUndo):
        undo_change(first, actor="a", with_later=True)
    memory.refresh_from_db()
    assert memory.content == "third"
    assert not Change.objects.filter(pk__in=[first.pk, second.pk]).exclude(undone_at=None).exists()


def test_who_states_what_an_undo_would_state_again_stands_in_its_way(end_user):
    memory = make_memory(end_user, "Anna sings.")
    edited = edit_memories.edit(end_user, memory.id, {"content": "Anna sang."}, actor="a")
    _, added = edit_memories.add(
        end_user, "Anna sings.", actor="a", type="personal", subtype="friend"
    )
    assert later_changes(edited) == [added]


def test_who_names_what_a_change_made_stands_in_its_way(end_user):
    zoe, made = edit.create_contact(end_user, "Zoe", actor="a")
    anna = make_contact(end_user, "Anna")
    related = edit.add_relation(end_user, zoe.id, "friend", anna.id, actor="a")
    assert later_changes(made) == [related]


def test_an_undo_that_would_collide_says_so_and_changes_nothing(end_user):
    memory = make_memory(end_user, "first")
    change = edit_memories.edit(end_user, memory.id, {"content": "second"}, actor="a")
    make_memory(end_user, "first")
    with pytest.raises(CannotUndo):
        undo_change(change, actor="a")
    memory.refresh_from_db()
    change.refresh_from_db()
    assert memory.content == "second"
    assert change.undone_at is None


def test_a_profile_memory_speaks_for_its_sources_and_outranks_them(end_user):
    contact = make_contact(end_user, "小红")
    memory = make_memory(end_user, "小红在腾讯工作", contact)
    absorbed(contact, memory, "company", "腾讯")
    memory.refresh_from_db()
    profile = Memory.objects.get(kind="profile")
    assert memory.consolidated_into == profile
    assert memory.importance == 0.05 < profile.importance
    assert "腾讯" in profile.content
    assert profile.id in Contact.objects.get(pk=contact.pk).memory_ids
    assert derived.profile_text(contact, end_user.language) == profile.content


def test_a_new_contact_of_whom_more_was_learnt_is_not_undone_away(end_user):
    contact, change = edit.create_contact(end_user, "Zoe", actor="operator:ann")
    make_memory(end_user, "Zoe sings.", contact)
    with pytest.raises(CannotUndo):
        undo_change(change, actor="operator:ann")
    assert Contact.objects.filter(pk=contact.pk).exists()
