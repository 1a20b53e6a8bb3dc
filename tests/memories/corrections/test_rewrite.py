"""Splitting and trimming memories loses nothing, and each can be undone."""

import pytest

from accounts.models import Change
from accounts.reasons import Reason
from memories.corrections import edit_memories, rewrite
from memories.corrections.edit_memories import InvalidCorrection
from memories.corrections.undo import undo_change
from memories.models import Edge, Link, Memory
from memories.types import Resolution, Verdict
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.corrections.nora_and_ivan import ANN, MACHINE, everything, fact, piece, split
from tests.memories.snapshots import absorbed, assert_same, assert_sound

pytestmark = pytest.mark.django_db
LONG = "Nora works at Brightwater as a nurse, and her brother Ivan keeps bees near Ghent."


@pytest.fixture
def end_user():
    return make_end_user(language="en")


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
    edit_memories.unlink(end_user, whole.id, ivan.id, actor=ANN)
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
    assert not Link.objects.filter(
        consolidated_at=None, memory__kind="fact", memory__status="active"
    ).exists()
    assert_sound(end_user)

    edit_memories.outdate(end_user, [whole], actor=ANN)
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
        rewrite.split(end_user, whole.id, pieces, actor=ANN)
    assert everything(end_user) == before
    assert not Change.objects.exists()


def test_a_split_undone_leaves_what_was(end_user):
    nora, ivan = make_contact(end_user, "Nora"), make_contact(end_user, "Ivan")
    whole = make_memory(end_user, LONG, nora, ivan, facts=[fact("company", "Brightwater", nora)])
    absorbed(nora, whole, "company", "Brightwater")
    absorbed(ivan, whole)
    before = everything(end_user)
    change = split(end_user, whole, "Nora works at Brightwater.", "Ivan keeps bees.")
    undo_change(change, actor=ANN)
    assert_same(everything(end_user), before)
    assert_sound(end_user)


def test_a_trimmed_memory_stays_itself_and_its_old_words_stay_in_the_change(end_user):
    nora = make_contact(end_user, "Nora")
    company = fact("company", "Brightwater", nora)
    memory = make_memory(
        end_user, "Well, Nora, as I said, works at Brightwater.", nora, facts=[company]
    )
    absorbed(nora, memory, "company", "Brightwater")
    before = everything(end_user)
    change = rewrite.trim(end_user, memory.id, "Nora works at Brightwater.", actor=ANN)
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
    undo_change(change, actor=ANN)
    assert_same(everything(end_user), before)


@pytest.mark.parametrize("wording", ["", "  ", "Nora works at Brightwater, and nowhere else."])
def test_a_trim_that_is_not_shorter_is_refused(end_user, wording):
    memory = make_memory(end_user, "Nora works at Brightwater.")
    with pytest.raises(InvalidCorrection, match="shorter"):
        rewrite.trim(end_user, memory.id, wording, actor=ANN)


def test_a_trim_to_what_another_memory_says_is_refused(end_user):
    make_memory(end_user, "Nora sings.")
    memory = make_memory(end_user, "Nora really sings.")
    with pytest.raises(InvalidCorrection, match="exactly this"):
        rewrite.trim(end_user, memory.id, "Nora sings.", actor=ANN)
    assert not Change.objects.exists()


def test_a_superseding_that_fails_leaves_no_piece(end_user, monkeypatch):
    nora = make_contact(end_user, "Nora")
    whole = make_memory(end_user, LONG, nora)
    newer = make_memory(end_user, "Nora left Brightwater.", nora)
    before, changes = everything(end_user), Change.objects.count()

    def fail(*args, **options):
        raise InvalidCorrection(Reason("no_such_memory"))

    monkeypatch.setattr(rewrite, "outdate", fail)
    remains = {whole.pk: "Ivan keeps bees near Ghent."}
    resolution = Resolution(Verdict.SUPERSEDES, (whole.pk,), remains=remains)
    with pytest.raises(InvalidCorrection):
        rewrite.supersede(end_user, [whole], newer, resolution, actor=MACHINE)
    assert_same(everything(end_user), before)
    assert Change.objects.count() == changes
