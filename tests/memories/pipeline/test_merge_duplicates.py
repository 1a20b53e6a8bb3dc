"""Memories that overlap become one, once, and only where nothing speaks against it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Change
from memories.budget import Budget
from memories.corrections import edit_memories
from memories.corrections.undo import undo_change
from memories.models import Edge, Memory, ModelCall, Vector
from memories.pipeline import refine, store_memories
from memories.providers.factory import embedder
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.snapshots import assert_sound

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def model(server):
    """A model that joins memories whose words all stand in another, and accepts every merge."""
    server.answer_with = lambda sent: _answer(sent.data)


def _answer(asked):
    if "proposals" in asked:
        reviews = [{"proposal": one["proposal"], "accepted": True} for one in asked["proposals"]]
        return {"reviews": reviews}
    rewrites = []
    for group in asked["groups"]:
        words = {one["id"]: {*one["text"].rstrip(".").split()} for one in group}
        texts = {one["id"]: one["text"] for one in group}
        for full in sorted(texts, key=lambda pk: -len(texts[pk])):
            held = [pk for pk in words if pk != full and full in words and words[pk] <= words[full]]
            if held:
                rewrites.append({"ids": [full, *held], "texts": [texts[full]]})
                for pk in (full, *held):
                    del words[pk]
    return {"rewrites": rewrites}


@pytest.fixture
def end_user():
    return make_end_user(language="en")


@pytest.fixture
def nora(end_user):
    return make_contact(end_user, "Nora")


def merged(end_user, calls=100):
    store_memories.embed_missing(end_user, embedder())
    return refine.refine_user(end_user.pk, Budget(calls, 10_000))


def said(end_user):
    rows = Memory.objects.of(end_user).active().filter(kind="fact")
    return sorted(rows.values_list("content", flat=True))


def calls():
    return ModelCall.objects.filter(purpose__in=["refine", "review"]).count()


def test_what_was_looked_at_is_noted_by_whoever_holds_the_user(end_user, nora):
    make_memory(end_user, "Nora likes chess.", nora)
    with CaptureQueriesContext(connection) as queries:
        merged(end_user)
    holds, writes = False, 0
    for query in queries:
        statement = query["sql"]
        if "SAVEPOINT" in statement:
            holds = False
        elif "accounts_enduser" in statement and "FOR NO KEY UPDATE" in statement:
            holds = True
        elif statement.lstrip().startswith(("UPDATE memories_", "UPDATE contacts_", 'UPDATE "')):
            writes += 1
            assert holds, statement
    assert writes > 1


def test_memories_of_which_one_says_all_become_that_one(end_user, nora):
    whole = "Nora really likes chess with Ivan."
    for content in ("Nora likes chess.", "Nora likes chess with Ivan.", whole):
        make_memory(end_user, content, nora)
    done = merged(end_user)
    assert said(end_user) == [whole]
    assert (done["merged"], done["into"], calls()) == (3, 1, 2)
    assert Change.objects.get().actor == "refiner"
    assert_sound(end_user)


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "health"},
        {"speaker": "assistant"},
        {"confidence": 0.4},
        {"happens_at": SOME_DAY + timedelta(days=1)},
        {"valid_to": SOME_DAY},
        {"facts": [{"key": "location", "value": "York", "person": None}]},
    ],
)
def test_memories_of_another_kind_or_time_are_not_even_proposed(end_user, nora, fields):
    plain = {
        "happens_at": SOME_DAY,
        "facts": [{"key": "location", "value": "Leeds", "person": None}],
    }
    make_memory(end_user, "Nora likes chess.", nora, **plain)
    make_memory(end_user, "Nora really likes chess.", nora, **{**plain, **fields})
    merged(end_user)
    assert len(said(end_user)) == 2
    assert calls() == 0


def test_a_day_told_here_and_there_is_one_day(end_user, nora):
    for content, offset in (("Nora likes chess.", 480), ("Nora really likes chess.", -300)):
        at = SOME_DAY - timedelta(minutes=offset)
        make_memory(end_user, content, nora, happens_at=at, happens_offset=offset)
    assert merged(end_user)["into"] == 1


def test_memories_about_other_people_are_not_even_proposed(end_user, nora):
    make_memory(end_user, "Nora likes chess.", nora)
    make_memory(end_user, "Nora really likes chess.", nora, make_contact(end_user, "Ivan"))
    merged(end_user)
    assert calls() == 0


def test_users_do_not_meet(end_user, nora):
    other = make_end_user(language="en")
    make_memory(end_user, "The user likes chess.")
    make_memory(other, "The user really likes chess.")
    assert merged(end_user)["merged"] == merged(other)["merged"] == 0


def test_a_later_run_makes_no_call_and_writes_nothing(end_user, nora):
    for content in ("Nora likes opera.", "Nora likes tea.", "Nora likes tea with Ivan."):
        make_memory(end_user, content, nora)
    for _ in range(2):  # what was made in the first is compared in the second
        merged(end_user)
    before = list(Memory.objects.order_by("pk").values()), ModelCall.objects.count()
    assert refine.users_due() == []
    assert not any(merged(end_user).values())
    assert (list(Memory.objects.order_by("pk").values()), ModelCall.objects.count()) == before


def test_a_new_memory_is_compared_with_old_ones(end_user, nora):
    make_memory(end_user, "Nora likes chess.", nora)
    merged(end_user)
    make_memory(end_user, "Nora likes chess with Ivan.", nora)
    assert refine.users_due() == []  # not before it has a vector
    assert merged(end_user)["into"] == 1


def test_new_words_are_compared_anew(end_user, nora):
    memory = make_memory(end_user, "Nora plays golf.", nora)
    make_memory(end_user, "Nora likes chess with Ivan.", nora)
    merged(end_user)
    edit_memories.edit(end_user, memory.id, {"content": "Nora likes chess."}, actor="operator:ann")
    assert merged(end_user)["into"] == 1


def test_what_somebody_took_apart_stays_apart(end_user, nora):
    make_memory(end_user, "Nora likes chess.", nora)
    make_memory(end_user, "Nora likes chess with Ivan.", nora)
    merged(end_user)
    undo_change(Change.objects.get(), actor="operator:ann")
    make_memory(end_user, "Nora quite likes chess.", nora)
    merged(end_user)
    assert "Nora likes chess with Ivan." in said(end_user)
    assert len(said(end_user)) == 2


@pytest.mark.parametrize("kind", ["part_of", "conflicts", "invalidated_by"])
def test_a_piece_and_its_whole_stay_two_and_so_does_what_an_edge_tells_apart(end_user, nora, kind):
    one = make_memory(end_user, "Nora likes chess.", nora)
    other = make_memory(end_user, "Nora likes chess with Ivan.", nora)
    Edge.objects.create(end_user=end_user, source=one, target=other, kind=kind)
    merged(end_user)
    assert calls() == 0
    assert len(said(end_user)) == 2


def test_without_a_model_nothing_is_compared(end_user, nora, settings):
    for content in ("Nora likes chess.", "Nora likes chess with Ivan."):
        make_memory(end_user, content, nora)
    settings.MIO_LLM = "offline"
    assert not any(merged(end_user).values())
    assert refine.users_due() == []
    settings.MIO_LLM = "openai"
    assert refine.users_due() == [end_user.pk]


TOPICS = (
    "chess opera kayaking pottery jazz orchids knitting sailing baking fencing archery origami "
    "skiing poetry carpentry"
).split()


def test_the_budget_bounds_a_run_and_the_next_goes_on(end_user, nora):
    for topic in TOPICS:
        make_memory(end_user, f"Nora likes {topic}.", nora)
        make_memory(end_user, f"Nora likes {topic} with Ivan.", nora)
    first = merged(end_user, calls=1)
    assert 0 < first["into"] < len(TOPICS)
    assert ModelCall.objects.filter(purpose="refine").count() == 1
    rest = merged(end_user)
    assert first["into"] + rest["into"] == len(TOPICS)
    assert len(said(end_user)) == len(TOPICS)
    assert refine.users_due() == []


def test_a_cluster_is_never_larger_than_a_call_may_show(end_user, nora):
    for n in range(20):
        make_memory(end_user, f"Nora likes chess {'very ' * n}much.", nora)
    merged(end_user)
    assert calls() > 1
    assert not Memory.objects.filter(merged_into=None, status="archived").exists()


def test_memories_without_a_vector_wait(end_user, nora):
    for content in ("Nora likes chess.", "Nora likes chess with Ivan."):
        make_memory(end_user, content, nora)
    assert not Vector.objects.exists()
    assert not any(refine.refine_user(end_user.pk, Budget(10, 10)).values())


@pytest.mark.parametrize(
    ("content", "accepted", "into"),
    [
        ("Nora plays chess with Ivan.", True, 1),
        ("Nora plays chess with Ivan.", False, 0),
        ("Nora plays chess.", True, 0),  # loses a name
        ("Nora plays chess with Ivan in Ghent.", True, 0),  # adds one
        ("Nora never plays chess with Ivan.", True, 0),
    ],
)
def test_a_proposal_is_carried_out_if_reviewed_and_faithful(
    end_user, nora, server, content, accepted, into
):
    make_memory(end_user, "Nora plays chess.", nora)
    make_memory(end_user, "Nora and Ivan play chess together.", nora)
    server.reply_json({"rewrites": [{"ids": ["m1", "m2"], "texts": [content]}]})
    server.reply_json({"reviews": [{"proposal": "r1", "accepted": accepted}]})
    done = merged(end_user)
    assert (done["into"], done["discarded"]) == (into, 1 - into)
