"""New memories find their place in the graph: bounded, once, and without harm."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import EndUser
from memories.budget import Budget
from memories.corrections import edit_edges, edit_memories
from memories.corrections.undo import undo_change
from memories.models import Edge, Entity, Memory, ModelCall
from memories.pipeline import classify_edges
from memories.pipeline.store_memories import embed_missing
from memories.providers.errors import TransientError
from memories.providers.factory import embedder
from tests.factories import make_end_user, make_memory
from tests.memories.snapshots import assert_sound
from tests.servers import FakeOpenAI

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("model")]

INJURY = "The user had a knee injury in March."
STOPPED = "The user stopped running because of a knee injury."
CAT = "Marcus has a grey cat."


def plenty() -> Budget:
    return Budget(calls=100, rows=10_000)


@pytest.fixture
def model(server: FakeOpenAI) -> None:
    """A model that knows one cause."""
    server.answer_with = lambda sent: {"relations": list(causes(sent.data["cases"]))}


def causes(cases: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for case in cases:
        ids = {one["text"]: one["id"] for one in (case["memory"], *case["others"])}
        if {INJURY, STOPPED} <= ids.keys():
            yield {
                "case": case["case"], "kind": "causes", "source": ids[INJURY],
                "target": ids[STOPPED], "confidence": 0.9, "reason": "because",
            }  # fmt: skip


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user(language="en")


def remember(end_user: EndUser, *contents: str) -> list[Memory]:
    memories = [make_memory(end_user, content) for content in contents]
    embed_missing(end_user, embedder())
    return memories


def test_a_memory_that_cannot_be_looked_at_is_left_out_alone(zoe: EndUser) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memories_entity ADD CHECK (name <> 'Berlin')")
    remember(zoe, "Marcus lives in Berlin.", INJURY, STOPPED)
    assert classify_edges.relate(zoe.pk, plenty())["memories"] == 3
    assert Edge.objects.get().kind == "causes"
    assert not classify_edges.users_due()


def test_a_cause_is_joined_to_what_came_of_it(zoe: EndUser) -> None:
    injury, stopped, _ = remember(zoe, INJURY, STOPPED, CAT)
    assert classify_edges.users_due() == [zoe.pk]

    done = classify_edges.relate(zoe.pk, plenty())

    assert done == {"memories": 3, "entities": 0, "edges": 1, "calls": 1}
    edge = Edge.objects.get()
    assert (edge.source_id, edge.kind, edge.target_id) == (injury.pk, "causes", stopped.pk)
    assert edge.reason
    assert classify_edges.users_due() == []
    assert ModelCall.objects.filter(purpose="classify").count() == 1
    assert_sound(zoe)


def test_a_second_run_does_nothing(zoe: EndUser) -> None:
    remember(zoe, INJURY, STOPPED)
    classify_edges.relate(zoe.pk, plenty())
    rows = list(Edge.both_ways.values())
    assert classify_edges.relate(zoe.pk, plenty()) == dict.fromkeys(
        ("memories", "entities", "edges", "calls"), 0
    )
    assert ModelCall.objects.filter(purpose="classify").count() == 1
    assert list(Edge.both_ways.values()) == rows


def test_looking_again_finds_the_same_and_does_not_ask_about_what_is_settled(zoe: EndUser) -> None:
    remember(zoe, INJURY, STOPPED)
    classify_edges.relate(zoe.pk, plenty())
    Memory.objects.update(related_at=None)
    assert classify_edges.relate(zoe.pk, plenty())["calls"] == 0
    assert Edge.objects.count() == 1


def test_memories_with_nothing_in_common_cost_no_call(zoe: EndUser) -> None:
    remember(zoe, CAT)
    assert classify_edges.relate(zoe.pk, plenty()) == {
        "memories": 1, "entities": 0, "edges": 0, "calls": 0,
    }  # fmt: skip


def test_entities_are_tagged_on_the_way(zoe: EndUser) -> None:
    remember(zoe, "The user lives in Lisbon.", "Marcus flew to Lisbon.")
    assert classify_edges.relate(zoe.pk, plenty())["entities"] == 3  # two links and an edge
    assert Entity.objects.get().name == "Lisbon"
    assert Edge.objects.filter(kind="shares_entity:Lisbon").count() == 1


def test_a_memory_without_a_vector_waits_for_it(zoe: EndUser) -> None:
    make_memory(zoe, STOPPED)
    assert classify_edges.users_due() == []
    assert classify_edges.relate(zoe.pk, plenty())["memories"] == 0


def test_only_active_facts_are_looked_at(zoe: EndUser) -> None:
    remember(zoe, INJURY, STOPPED, CAT)
    Memory.objects.filter(content=INJURY).update(status="outdated")
    Memory.objects.filter(content=STOPPED).update(status="archived")
    Memory.objects.filter(content=CAT).update(kind="profile")
    assert classify_edges.users_due() == []


def test_a_spent_budget_leaves_the_rest_for_the_next_run(zoe: EndUser) -> None:
    contents = [
        f"The user paid bill number {n} for the flat." for n in range(classify_edges.BATCH + 3)
    ]
    remember(zoe, *contents)
    done = classify_edges.relate(zoe.pk, Budget(calls=1, rows=10_000))
    assert done["memories"] == classify_edges.BATCH
    assert done["calls"] == 1
    assert Memory.objects.filter(related_at=None).count() == 3
    assert classify_edges.relate(zoe.pk, Budget(calls=0, rows=10))["memories"] == 0
    assert classify_edges.relate(zoe.pk, plenty())["memories"] == 3


def test_without_a_model_entities_alone_are_tagged(zoe: EndUser, settings: Any) -> None:
    settings.MIO_LLM = "offline"
    remember(zoe, INJURY, STOPPED, "The user lives in Lisbon.")
    done = classify_edges.relate(zoe.pk, plenty())
    assert done == {"memories": 3, "entities": 1, "edges": 0, "calls": 0}


def test_conflicts_change_no_status(zoe: EndUser, server: FakeOpenAI) -> None:
    one, other = remember(zoe, "The user loves olives.", "The user hates olives.")
    server.reply_json({"relations": [relation("conflicts")]})
    classify_edges.relate(zoe.pk, plenty())
    edge = Edge.objects.get(kind="conflicts")
    assert {edge.source_id, edge.target_id} == {one.pk, other.pk}
    assert set(Memory.objects.values_list("status", flat=True)) == {"active"}


def relation(kind: str, confidence: float = 0.9, source: str = "m1", target: str = "m2") -> dict:
    return {
        "case": "c1", "source": source, "target": target, "kind": kind,
        "confidence": confidence, "reason": "because",
    }  # fmt: skip


def test_what_a_model_is_unsure_of_is_not_written(zoe: EndUser, server: FakeOpenAI) -> None:
    remember(zoe, INJURY, STOPPED)
    server.reply_json({"relations": [relation("causes", 0.4)]})
    assert classify_edges.relate(zoe.pk, plenty())["edges"] == 0
    assert not Edge.objects.exists()
    assert classify_edges.users_due() == []


def test_a_newer_memory_that_a_model_says_supersedes_outdates_undoably(
    zoe: EndUser, server: FakeOpenAI
) -> None:
    older, newer = remember(zoe, INJURY, STOPPED)
    Memory.objects.filter(pk=older.pk).update(said_at="2025-01-01T00:00Z")
    ids = sorted([older.pk, newer.pk])
    short = {pk: f"m{n}" for n, pk in enumerate(ids, 1)}
    server.reply_json(
        {"relations": [relation("supersedes", 0.9, short[newer.pk], short[older.pk])]}
    )
    classify_edges.relate(zoe.pk, plenty())
    older.refresh_from_db()
    assert (older.status, older.outdated_confidence) == ("outdated", 0.9)
    undo_change(zoe.changes.get(), actor="operator:x")
    older.refresh_from_db()
    assert older.status == "active"
    assert not Edge.both_ways.exists()


def test_a_model_that_is_away_loses_nothing(zoe: EndUser, server: FakeOpenAI) -> None:
    remember(zoe, INJURY, STOPPED)
    server.fail(503, times=None)
    with pytest.raises(TransientError):
        classify_edges.relate(zoe.pk, plenty())
    assert classify_edges.users_due() == [zoe.pk]


def test_an_answer_that_nobody_can_read_does_not_come_round_for_ever(
    zoe: EndUser, server: FakeOpenAI
) -> None:
    remember(zoe, INJURY, STOPPED)
    server.reply_text("I'd rather not.", times=None)
    done = classify_edges.relate(zoe.pk, plenty())
    assert (done["memories"], done["edges"], done["calls"]) == (2, 0, 1)
    assert classify_edges.users_due() == []


def test_a_memory_that_was_edited_meanwhile_waits_again(zoe: EndUser) -> None:
    injury, stopped = remember(zoe, INJURY, STOPPED)
    edit_memories.edit(zoe, injury.pk, {"content": "The user is well."}, actor="operator:x")
    classify_edges.mark(zoe, [injury, stopped])
    assert list(Memory.objects.filter(related_at=None)) == [injury]


def test_an_edge_that_somebody_took_away_is_not_asked_about_again(zoe: EndUser) -> None:
    remember(zoe, INJURY, STOPPED)
    classify_edges.relate(zoe.pk, plenty())
    edge = Edge.objects.get()
    edit_edges.disconnect(zoe, edge.source_id, edge.pk, actor="operator:x")
    Memory.objects.update(related_at=None)
    classify_edges.relate(zoe.pk, plenty())
    assert not Edge.objects.exists()


def test_another_users_memories_are_never_candidates(zoe: EndUser) -> None:
    remember(zoe, INJURY)
    yan = make_end_user()
    remember(yan, STOPPED)
    classify_edges.relate(yan.pk, plenty())
    classify_edges.relate(zoe.pk, plenty())
    assert not Edge.objects.exists()


def test_a_user_who_is_gone_has_nothing_to_relate() -> None:
    assert classify_edges.relate(0, plenty())["memories"] == 0


def test_finding_who_is_due_reads_the_partial_index(zoe: EndUser) -> None:
    remember(zoe, CAT)
    for n in range(200):
        make_memory(zoe, content=f"{CAT} {n}", related_at=timezone.now())
    with connection.cursor() as cursor:
        # With statistics of an empty table any index is as good as another.
        cursor.execute("ANALYZE memories_memory")
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "memory_unrelated" in classify_edges._due().values("end_user").explain()
