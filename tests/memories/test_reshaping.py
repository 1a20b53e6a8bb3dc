"""Splitting, trimming and merging memories loses nothing, and each can be undone."""

from datetime import timedelta

import pytest

from accounts.changes import CannotUndo
from accounts.models import Change
from contacts import book, identity, relations
from contacts.models import Contact, Relation
from memories import corrections, hiding, merging, reshaping
from memories.corrections import InvalidCorrection
from memories.models import Edge, Entity, EntityLink, Link, Memory
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.knowledge import absorbed, assert_same, assert_sound, knowledge

pytestmark = pytest.mark.django_db

ANN, MACHINE = "operator:ann", "refiner"
LONG = "Nora works at Brightwater as a nurse, and her brother Ivan keeps bees near Ghent."


@pytest.fixture
def end_user():
    return make_end_user(language="en")


def fact(key, value, person=None):
    return {"key": key, "value": value, "person": str(person.id) if person else None}


def edges(end_user):
    rows = Edge.objects.of(end_user).values_list("source", "kind", "target", "confidence", "reason")
    return sorted(rows, key=str)


def everything(end_user):
    return {**knowledge(end_user), "edges": edges(end_user)}


def split(end_user, memory, *pieces, actor=ANN):
    return reshaping.split(end_user, memory.id, list(pieces), actor=actor)


def merge(end_user, content, *memories, actor=ANN):
    return reshaping.merge_memories(end_user, [m.id for m in memories], content, actor=actor)


def piece(end_user, content):
    return Memory.objects.of(end_user).get(content=content)


# Split -------------------------------------------------------------------------------------


def test_the_pieces_of_a_memory_stand_beside_it_with_its_sources_and_times(end_user):
    nora = make_contact(end_user, "Nora")
    whole = make_memory(
        end_user,
        LONG,
        nora,
        source_message_ids=[7, 9],
        learnt_day=4,
        valid_from=SOME_DAY,
        speaker="app:x",
        importance=0.4,
    )
    change = split(
        end_user, whole, "Nora works at Brightwater as a nurse.", "Ivan keeps bees near Ghent."
    )
    whole.refresh_from_db()
    assert whole.status == "active"
    made = list(Memory.objects.exclude(pk=whole.pk))
    assert len(made) == 2
    for one in made:
        for column in ("source_message_ids", "learnt_day", "said_at", "valid_from", "speaker"):
            assert getattr(one, column) == getattr(whole, column)
        assert (one.embedding_model, one.related_at, one.importance) == ("", None, 0.4)
        assert Edge.objects.get(source=one).target_id == whole.id
    assert {e.kind for e in Edge.objects.all()} == {"part_of"}
    assert set(change.subjects) == {str(m.id) for m in (whole, *made)}
    assert_sound(end_user)


def test_a_piece_is_about_those_whom_it_names_or_else_about_all(end_user):
    nora, ivan = make_contact(end_user, "Nora"), make_contact(end_user, "Ivan")
    whole = make_memory(end_user, LONG, nora, ivan)
    split(end_user, whole, "Nora is a nurse at Brightwater.", "Ivan keeps bees.", "Both like tea.")
    about = {m.content: {link.contact.name for link in m.links.all()} for m in Memory.objects.all()}
    assert about["Nora is a nurse at Brightwater."] == {"Nora"}
    assert about["Ivan keeps bees."] == {"Ivan"}
    assert about["Both like tea."] == {"Nora", "Ivan"}


def test_each_fact_goes_to_the_piece_that_holds_its_value(end_user):
    nora, ivan = make_contact(end_user, "Nora"), make_contact(end_user, "Ivan")
    facts = [fact("company", "Brightwater", nora), fact("interests", "bees", ivan)]
    whole = make_memory(end_user, LONG, nora, ivan, facts=facts)
    split(end_user, whole, "Nora works at Brightwater.", "Ivan keeps bees near Ghent.")
    assert piece(end_user, "Nora works at Brightwater.").facts == facts[:1]
    assert piece(end_user, "Ivan keeps bees near Ghent.").facts == facts[1:]


def test_a_piece_quotes_the_sentence_it_rests_on(end_user):
    quote = "Nora works at Brightwater now. Ivan keeps his bees near Ghent!"
    whole = make_memory(end_user, LONG, quote=quote)
    split(end_user, whole, "Nora works at Brightwater.", "Ivan keeps bees near Ghent.")
    assert piece(end_user, "Nora works at Brightwater.").quote == "Nora works at Brightwater now."
    assert piece(end_user, "Ivan keeps bees near Ghent.").quote == "Ivan keeps his bees near Ghent!"


def test_a_piece_that_is_known_already_is_linked_and_not_doubled(end_user):
    nora = make_contact(end_user, "Nora")
    known = make_memory(end_user, "Ivan keeps bees.")
    whole = make_memory(end_user, LONG, nora)
    split(end_user, whole, "Nora is a nurse.", "ivan keeps  bees.")
    assert Memory.objects.count() == 3
    assert Edge.objects.filter(source=known, target=whole, kind="part_of").exists()


def test_a_link_that_was_rejected_for_the_whole_is_rejected_for_its_pieces(end_user):
    nora, ivan = make_contact(end_user, "Nora"), make_contact(end_user, "Ivan")
    whole = make_memory(end_user, LONG, nora, ivan)
    corrections.unlink(end_user, whole.id, ivan.id, actor=ANN)
    split(end_user, whole, "Nora is a nurse.", "Ivan keeps bees.")
    links = Link.objects.filter(memory=piece(end_user, "Ivan keeps bees."))
    assert {(link.contact.name, link.rejected) for link in links} == {
        ("Nora", False),
        ("Ivan", True),
    }


def test_what_a_profile_learnt_is_read_again_from_the_pieces_when_the_whole_no_longer_holds(
    end_user,
):
    nora = make_contact(end_user, "Nora")
    company = fact("company", "Brightwater", nora)
    whole = make_memory(
        end_user, "Nora works at Brightwater. Nora has a cat.", nora, facts=[company]
    )
    absorbed(nora, whole, "company", "Brightwater")
    whole.refresh_from_db()
    split(end_user, whole, "Nora works at Brightwater.", "Nora has a cat.")
    job = piece(end_user, "Nora works at Brightwater.")
    assert job.consolidated_into is not None
    assert job.importance == 0.05
    assert not Link.objects.unconsolidated().exists()
    assert_sound(end_user)

    corrections.outdate(end_user, [whole], actor=ANN)
    assert Link.objects.unconsolidated().filter(memory=job).exists()
    assert_sound(end_user)


@pytest.mark.parametrize(
    "pieces",
    [[], ["Only one."], ["The same.", "the  same."], ["A piece.", LONG], ["x"] * 30, [" ", "One."]],
)
def test_a_split_that_is_none_is_refused_and_nothing_is_written(end_user, pieces):
    whole = make_memory(end_user, LONG)
    before = everything(end_user)
    with pytest.raises(InvalidCorrection):
        reshaping.split(end_user, whole.id, pieces, actor=ANN)
    assert everything(end_user) == before
    assert not Change.objects.exists()


def test_a_split_undone_leaves_what_was(end_user):
    nora, ivan = make_contact(end_user, "Nora"), make_contact(end_user, "Ivan")
    whole = make_memory(end_user, LONG, nora, ivan, facts=[fact("company", "Brightwater", nora)])
    absorbed(nora, whole, "company", "Brightwater")
    absorbed(ivan, whole)
    before = everything(end_user)
    change = split(end_user, whole, "Nora works at Brightwater.", "Ivan keeps bees.")
    corrections.undo(change, actor=ANN)
    assert_same(everything(end_user), before)
    assert_sound(end_user)


# Trim --------------------------------------------------------------------------------------


def test_a_trimmed_memory_stays_itself_and_its_old_words_stay_in_the_change(end_user):
    nora = make_contact(end_user, "Nora")
    company = fact("company", "Brightwater", nora)
    memory = make_memory(
        end_user, "Well, Nora, as I said, works at Brightwater.", nora, facts=[company]
    )
    absorbed(nora, memory, "company", "Brightwater")
    before = everything(end_user)
    change = reshaping.trim(end_user, memory.id, "Nora works at Brightwater.", actor=ANN)
    memory.refresh_from_db()
    nora.refresh_from_db()
    assert memory.content == "Nora works at Brightwater."
    assert memory.facts == [company]
    assert memory.embedding_model == ""
    assert nora.attributes["company"][0]["sources"] == [str(memory.id)]
    assert any(
        row["before"]["content"].startswith("Well")
        for row in change.rows
        if "content" in row["before"]
    )
    assert_sound(end_user)
    corrections.undo(change, actor=ANN)
    assert_same(everything(end_user), before)


@pytest.mark.parametrize("wording", ["", "  ", "Nora works at Brightwater, and nowhere else."])
def test_a_trim_that_is_not_shorter_is_refused(end_user, wording):
    memory = make_memory(end_user, "Nora works at Brightwater.")
    with pytest.raises(InvalidCorrection, match="shorter"):
        reshaping.trim(end_user, memory.id, wording, actor=ANN)


def test_a_trim_to_what_another_memory_says_is_refused(end_user):
    make_memory(end_user, "Nora sings.")
    memory = make_memory(end_user, "Nora really sings.")
    with pytest.raises(InvalidCorrection, match="exactly this"):
        reshaping.trim(end_user, memory.id, "Nora sings.", actor=ANN)
    assert not Change.objects.exists()


# Merge -------------------------------------------------------------------------------------

BOTH = "Nora works at Brightwater as a nurse on nights."


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
        identity.save(row, [])
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
    corrections.undo(change, actor=ANN)
    assert_same(everything(end_user), before)
    assert_sound(end_user)


def test_the_words_of_one_original_may_be_the_words_of_all(end_user):
    one, other = make_memory(end_user, "Nora sings."), make_memory(end_user, "Nora sings a lot.")
    _, change = merge(end_user, "Nora sings a lot.", one, other)
    assert [m.content for m in Memory.objects.active()] == ["Nora sings a lot."]
    corrections.undo(change, actor=ANN)
    assert set(Memory.objects.active()) == {one, other}


def test_a_merged_memory_cannot_be_brought_back_beside_the_one_that_speaks_for_it(end_user):
    one, other = make_memory(end_user, "Nora sings."), make_memory(end_user, "Nora sings well.")
    merge(end_user, "Nora sings well.", one, other)
    with pytest.raises(InvalidCorrection, match="undo that merge"):
        corrections.edit(end_user, one.id, {"status": "active"}, actor=ANN)
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
            reshaping.merge_memories(end_user, ids, content, actor=ANN)
    assert not Change.objects.exists()


def test_a_merge_is_not_undone_over_what_was_corrected_since(end_user):
    """Otherwise what the user asked to forget would be back."""
    one, other = make_memory(end_user, "Nora sings."), make_memory(end_user, "Nora sings well.")
    united, change = merge(end_user, "Nora sings well.", one, other, actor=MACHINE)
    hidden = hiding.hide(end_user, [united], actor=ANN)
    with pytest.raises(CannotUndo, match="corrected since"):
        corrections.undo(change, actor=ANN)
    corrections.undo(hidden, actor=ANN)
    corrections.undo(change, actor=ANN)
    assert set(Memory.objects.active()) == {one, other}


def test_what_the_machine_merged_comes_apart_with_an_earlier_change_that_is_undone(end_user):
    nora, norah = make_contact(end_user, "Nora"), make_contact(end_user, "Norah")
    one = make_memory(end_user, "Norah sings.", norah)
    other = make_memory(end_user, "Norah sings well.", nora)
    people = merging.merge(end_user, norah.id, nora.id, actor=ANN)
    _, change = merge(end_user, "Norah sings well.", one, other, actor=MACHINE)
    before = Change.objects.count()
    corrections.undo(people, actor=ANN)
    assert set(Memory.objects.active().filter(kind="fact")) == {one, other}
    assert Link.objects.get(memory=one).contact_id == norah.id
    change.refresh_from_db()
    assert change.undone_by == ANN
    assert Change.objects.count() == before
    assert_sound(end_user)


def test_what_a_person_merged_is_theirs_to_undo_first(end_user):
    one, other = make_memory(end_user, "Nora sings."), make_memory(end_user, "Nora sings well.")
    edited = corrections.edit(end_user, one.id, {"content": "Nora sang."}, actor=ANN)
    one.refresh_from_db()
    _, change = merge(end_user, "Nora sang well.", one, other)
    with pytest.raises(CannotUndo, match="merged or split since"):
        corrections.undo(edited, actor=ANN)
    corrections.undo(change, actor=ANN)
    corrections.undo(edited, actor=ANN)
    assert set(Memory.objects.active().values_list("content", flat=True)) == {
        "Nora sings.",
        "Nora sings well.",
    }


def test_a_profile_that_comes_back_rests_on_the_memory_that_speaks_now(end_user):
    nora = make_contact(end_user, "Nora")
    one = make_memory(end_user, "Nora lives in Leeds.", nora)
    other = make_memory(end_user, "Nora lives in Leeds now.", nora)
    absorbed(nora, one, "location", "Leeds")
    book.edit_contact(end_user, nora.id, {"attributes": {"location": ["York"]}}, actor=ANN)
    change = Change.objects.latest("created_at")
    united, _ = merge(end_user, "Nora lives in Leeds now.", one, other, actor=MACHINE)
    corrections.undo(change, actor=ANN)
    nora.refresh_from_db()
    assert nora.attributes["location"][0]["value"] == "Leeds"
    assert nora.attributes["location"][0]["sources"] == [str(united.id)]
    assert_sound(end_user)
