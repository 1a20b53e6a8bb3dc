"""Ids come back by content, never by position (the array index bug of Mio v2)."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.models import Change
from memories.models import Edge, Memory, Vector
from memories.models.memory import content_hash
from memories.pipeline.store_memories import retract, store
from memories.search.tokens import tokenise
from memories.types import (
    Draft,
    ExtractedMemory,
    MemoryType,
    Resolution,
    StoredFact,
    Subtype,
    Verdict,
)
from tests.factories import make_end_user, make_memory

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def draft(content, *turns, facts=()):
    extracted = ExtractedMemory(content, MemoryType.PERSONAL, Subtype.FRIEND, turns or (1,))
    return Draft(
        content_hash(content), content, NOON, extracted, facts, [1.0] * 384, tokenise(content)
    )


MIX = st.permutations(
    [f"new {n}" for n in range(4)] + [f"known {n}" for n in range(3)] + ["update 0", "update 1"]
)


class IdsFollowContent(TestCase):
    @given(MIX, st.lists(st.integers(0, 8), max_size=3))
    def test_whatever_the_mix_and_order_of_inserts_updates_and_repeats(self, order, repeated):
        end_user = make_end_user()
        known = {f"known {n}": make_memory(end_user, f"known {n}") for n in range(3)}
        old = {f"update {n}": make_memory(end_user, f"old {n}") for n in range(2)}
        contents = [*order, *(order[n] for n in repeated)]
        drafts = list({d.key: d for d in map(draft, contents)}.values())
        resolutions = {
            content_hash(text): [Resolution(Verdict.DUPLICATE, (memory.id,))]
            for text, memory in known.items()
        } | {
            content_hash(text): [Resolution(Verdict.SUPERSEDES, (memory.id,))]
            for text, memory in old.items()
        }
        stored = store(end_user, drafts, resolutions, "model")

        saying = {m.id: m.content for m in Memory.objects.of(end_user)}
        assert {saying[stored.ids[d.key]] for d in drafts} == {d.content for d in drafts}
        assert all(saying[stored.ids[d.key]] == d.content for d in drafts)
        assert {saying[pk] for pk in stored.added} == {t for t in order if "known" not in t}
        assert set(stored.outdated) == {memory.id for memory in old.values()}
        edges = Edge.objects.of(end_user).values_list("source__content", "target__content")
        assert set(edges) == {("update 0", "old 0"), ("update 1", "old 1")}


@pytest.fixture
def end_user(db):
    return make_end_user()


def test_what_another_writer_stored_meanwhile_is_taken_as_it_is(end_user):
    held = make_memory(end_user, "Anna lives in Rome")
    new = draft("anna lives in rome", 7)
    stored = store(end_user, [new], {}, "model")
    assert stored.ids == {new.key: held.id}
    assert stored.added == []
    held.refresh_from_db()
    assert held.source_message_ids == [7]


def test_storing_takes_as_many_statements_however_many_memories(end_user):
    def statements(count, said):
        drafts = [draft(f"Anna said {n} of {count}", n, said) for n in range(count)]
        with CaptureQueriesContext(connection) as queries:
            store(end_user, drafts, {}, "model/384")
        return len(queries)

    assert statements(2, 1) == statements(40, 1)
    assert statements(2, 2) == statements(40, 2)  # each was said before
    assert Memory.objects.of(end_user).filter(source_message_ids__contains=[2]).count() == 42
    assert Vector.objects.of(end_user).count() == 42


def test_a_superseded_memory_stays_as_history_with_who_and_why(end_user):
    old, new = make_memory(end_user, "Anna lives in Rome"), draft("Anna lives in Oslo")
    verdict = [Resolution(Verdict.SUPERSEDES, (old.id,), "she moved")]
    stored = store(end_user, [new], {new.key: verdict}, "model")
    old.refresh_from_db()
    assert (old.status, old.valid_to) == ("outdated", NOON)
    edge = Edge.objects.get()
    assert (edge.source_id, edge.target_id, edge.kind) == (
        stored.ids[new.key],
        old.id,
        "supersedes",
    )
    change = Change.objects.get()
    assert (change.verb, change.actor, change.why) == ("outdate", "extractor", "she moved")


def test_what_replaces_a_repeat_ends_only_what_it_denies_of_the_memory_repeated(end_user):
    rows = [
        {"key": "location", "value": "Rome", "person": None, "valid_from": NOON.isoformat()},
        {"key": "pet", "value": "dog", "person": None},
    ]
    old = make_memory(end_user, "I live in Rome with my dog", facts=rows)
    rome, dog = StoredFact("location", "Rome"), StoredFact("pet", "dog")
    repeat, new = draft(old.content, 2, facts=(rome, dog)), draft("Rome is behind me", 3)
    resolutions = {
        repeat.key: [Resolution(Verdict.DUPLICATE, (old.id,))],
        new.key: [Resolution(Verdict.SUPERSEDES, (repeat.id,), ended={repeat.id: (rome,)})],
    }
    store(end_user, [repeat, new], resolutions, "model")
    old.refresh_from_db()
    assert (old.status, [f.value for f in old.as_stored().current]) == ("active", ["dog"])

    last = draft("Neither Rome nor a dog", 4)
    ended = {repeat.id: (rome, dog)}
    resolutions[last.key] = [Resolution(Verdict.SUPERSEDES, (repeat.id,), ended=ended)]
    store(end_user, [repeat, last], resolutions, "model")
    old.refresh_from_db()
    assert old.status == "outdated"


def test_what_remains_true_of_a_repeat_remains_of_the_memory_repeated(end_user):
    old = make_memory(end_user, "Anna lives in Rome and has a dog")
    repeat, new = draft(old.content, 2), draft("Anna lives in Oslo", 3)
    remains = {repeat.id: "Anna has a dog"}
    resolutions = {
        repeat.key: [Resolution(Verdict.DUPLICATE, (old.id,))],
        new.key: [Resolution(Verdict.SUPERSEDES, (repeat.id,), remains=remains)],
    }
    store(end_user, [repeat, new], resolutions, "model")
    current = Memory.objects.of(end_user).active().values_list("content", flat=True)
    assert set(current) == {"Anna lives in Oslo", "Anna has a dog"}


def test_a_complement_leaves_both_active_and_joined(end_user):
    old, new = make_memory(end_user, "Anna has a cat"), draft("Anna's cat is called Pip")
    store(end_user, [new], {new.key: [Resolution(Verdict.COMPLEMENTS, (old.id,))]}, "model")
    assert Memory.objects.of(end_user).active().count() == 2
    assert Edge.objects.get().kind == "complements"


def test_what_cannot_both_be_stays_active_and_joined(end_user):
    old, new = make_memory(end_user, "Anna is 30"), draft("Anna is 35, says Bob")
    store(end_user, [new], {new.key: [Resolution(Verdict.CONFLICTS, (old.id,))]}, "model")
    assert Memory.objects.of(end_user).active().count() == 2
    assert Edge.objects.get().kind == "conflicts"


def test_a_verdict_on_another_users_memory_has_no_effect(end_user):
    other = make_memory(make_end_user(), "not yours")
    new = draft("mine")
    store(end_user, [new], {new.key: [Resolution(Verdict.SUPERSEDES, (other.id,))]}, "model")
    other.refresh_from_db()
    assert other.status == "active"
    assert not Edge.objects.exists()


def test_only_what_rests_on_retracted_turns_alone_is_taken_back(end_user):
    joke = make_memory(end_user, "a joke", source_message_ids=[3])
    both = make_memory(end_user, "said twice", source_message_ids=[3, 9])
    retract(end_user, [3])
    assert Memory.objects.get(pk=joke.pk).status == "outdated"
    assert Memory.objects.get(pk=both.pk).status == "active"
