"""The database itself keeps words and vectors equal to the memories."""

from collections import Counter
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import EndUser
from memories.corrections import derived, edit_memories
from memories.models import AROUND_SHARE, Corpus, Memory, Posting, Vector
from memories.models.memory import content_hash
from memories.search import tokens
from memories.types import AROUND
from tests.factories import make_end_user, make_memory

pytestmark = pytest.mark.django_db

SPACE = "multilingual-e5-small/384"
UNIT = [1.0] + [0.0] * 383


def words(end_user: EndUser) -> dict[tuple[Any, str], tuple[float, int, str]]:
    rows = Posting.objects.of(end_user)
    return {
        (row.memory_id, row.token): (round(row.times, 3), row.length, row.status) for row in rows
    }


def meant(end_user: EndUser) -> dict[tuple[Any, str], tuple[float, int, str]]:
    """The postings as they follow from the memories, counted in Python."""
    expected = {}
    for memory in Memory.objects.of(end_user):
        times: Counter[str] = Counter()
        for token in memory.tokens:
            around = token.startswith(AROUND)
            times[token.removeprefix(AROUND)] += AROUND_SHARE if around else 1  # type: ignore[assignment]
        for token, count in times.items():
            expected[memory.pk, token] = (round(count, 3), len(memory.tokens), memory.status)
    return expected


def counted(end_user: EndUser) -> dict[str, tuple[int, int]]:
    return {row.status: (row.size, row.length) for row in Corpus.objects.of(end_user)}


def sizes(end_user: EndUser) -> dict[str, tuple[int, int]]:
    """How many memories there are by status, and how many tokens, counted in Python."""
    found: dict[str, tuple[int, int]] = {}
    for memory in Memory.objects.of(end_user):
        size, length = found.get(memory.status, (0, 0))
        found[memory.status] = (size + 1, length + len(memory.tokens))
    return found


TOKENS = st.lists(
    st.sampled_from(["tea", "run", "小红", AROUND + "tea", AROUND + "cat"]), max_size=6
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(TOKENS, min_size=1, max_size=4)),
        st.tuples(st.just("retoken"), TOKENS),
        st.tuples(st.just("status"), st.sampled_from(["active", "outdated", "archived"])),
        st.tuples(st.just("importance"), st.floats(0, 1)),
        st.tuples(st.just("delete"), st.none()),
        st.tuples(st.just("status of all"), st.sampled_from(["active", "outdated"])),
    ),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_whatever_is_written_words_follow(steps: list[tuple[str, Any]]) -> None:
    end_user = make_end_user()
    mine = Memory.objects.of(end_user)
    for number, (step, value) in enumerate(steps):
        one = mine.order_by("pk").first()
        if step == "add":
            Memory.objects.bulk_create(
                Memory(
                    end_user=end_user,
                    content=f"{number} {place}",
                    content_hash=content_hash(f"{number} {place}"),
                    type="personal",
                    subtype="self",
                    tokens=row,
                )
                for place, row in enumerate(value)
            )
        elif step == "status of all":
            mine.update(status=value)
        elif one is None:
            continue
        elif step == "retoken":
            mine.filter(pk=one.pk).update(tokens=value)
        elif step == "delete":
            one.delete()
        else:
            mine.filter(pk=one.pk).update(**{step: value})
        assert words(end_user) == meant(end_user)
        assert counted(end_user) == sizes(end_user)


def test_what_changes_no_word_writes_no_posting() -> None:
    memory = make_memory(make_end_user(), "Anna drinks tea")
    before = list(Posting.objects.filter(end_user=memory.end_user_id).extra(select={"at": "ctid"}))
    Memory.objects.filter(pk=memory.pk).update(importance=0.9)
    after = list(Posting.objects.filter(end_user=memory.end_user_id).extra(select={"at": "ctid"}))
    assert {row.at for row in before} == {row.at for row in after}


def test_words_leave_with_the_end_user() -> None:
    end_user = make_end_user()
    make_memory(end_user, "Anna drinks tea", embedding=UNIT)
    pk = end_user.pk
    end_user.delete()
    assert not Posting.objects.of(pk).exists()
    assert not Corpus.objects.of(pk).exists()
    assert not Vector.objects.of(pk).exists()


def test_other_words_drop_the_vectors_and_wait_for_new_ones() -> None:
    memory = make_memory(make_end_user(), "Anna drinks tea", embedding=UNIT)
    assert memory.embedding_model == SPACE
    Memory.objects.filter(pk=memory.pk).update(content="Anna drinks coffee")
    memory.refresh_from_db()
    assert memory.embedding_model == ""
    assert not memory.vectors.exists()


def test_the_index_follows_the_embedding_whoever_writes_it() -> None:
    memory = make_memory(make_end_user(), "Anna drinks tea", embedding=UNIT)
    turned = [*UNIT[1:], UNIT[0]]
    Memory.objects.filter(pk=memory.pk).update(embedding=turned)
    assert memory.vectors.get().embedding == turned
    with pytest.raises(IntegrityError, match="embedding_says_its_space"), transaction.atomic():
        Memory.objects.filter(pk=memory.pk).update(embedding=None)


def test_embeddings_lie_out_of_line_and_are_read_only_where_asked_for() -> None:
    end_user = make_end_user()
    noise = np.random.default_rng(1)
    for number in range(3):
        said = (
            f"Anna works at a tea house in Hangzhou, has done so for {number} years and likes it."
        )
        around = [AROUND + token for token in tokens.tokenise(said)]
        make_memory(
            end_user,
            said,
            embedding=list(noise.normal(size=384)),
            quote=said,
            tokens=tokens.tokenise(said) + around,
            facts=[{"key": "company", "value": "a tea house", "person": str(uuid4())}],
        )
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT pg_column_toast_chunk_id(embedding) IS NULL,
                      pg_column_toast_chunk_id(content) IS NULL,
                      pg_column_toast_chunk_id(tokens) IS NULL FROM memories_memory"""
        )
        assert set(cursor.fetchall()) == {(False, True, True)}
    rows = [*Memory.objects.all(), *end_user.memories.active().defer("tokens")]
    assert all("embedding" in row.get_deferred_fields() for row in rows)


def test_an_edit_of_anything_else_keeps_the_vectors() -> None:
    end_user = make_end_user()
    memory = make_memory(end_user, "Anna drinks tea", embedding=UNIT)
    edit_memories.edit(end_user, memory.pk, {"importance": 0.9}, actor="operator:ann")
    assert memory.vectors.count() == 1


def test_vectors_bear_the_status_of_their_memory() -> None:
    memory = make_memory(make_end_user(), "Anna drinks tea", embedding=UNIT)
    Memory.objects.filter(pk=memory.pk).update(status="archived")
    assert memory.vectors.get().status == "archived"


def test_a_vector_cannot_belong_to_another_users_memory() -> None:
    memory = make_memory(make_end_user(), "Anna drinks tea")
    stranger = make_end_user()
    with pytest.raises(IntegrityError), transaction.atomic():
        Vector.objects.create(
            end_user=stranger, memory=memory, space=SPACE, status="active", embedding=UNIT
        )
        connection.check_constraints()


def test_a_large_vector_stays_in_its_row() -> None:
    memory = make_memory(make_end_user(), "one", embedding=[0.5] * 3072, space="large/3072")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_column_toast_chunk_id(embedding) FROM memories_vector WHERE memory_id = %s",
            [memory.pk],
        )
        assert cursor.fetchone() == (None,)


def test_holding_finds_by_the_memorys_own_words_alone() -> None:
    end_user = make_end_user()
    tea = make_memory(end_user, "Anna drinks tea")
    make_memory(end_user, "Yes", tokens=["yes", *(f"{AROUND}{t}" for t in tea.tokens)])
    make_memory(make_end_user(), "Anna drinks tea")
    assert list(Memory.objects.holding(end_user, tea.tokens)) == [tea]
    assert not Memory.objects.holding(end_user, [*tea.tokens, "coffee"]).exists()


@pytest.mark.release
@pytest.mark.django_db(transaction=True)
def test_the_migration_back_and_forth_keeps_vectors_and_words() -> None:
    end_user = make_end_user()
    memory = make_memory(end_user, "Anna drinks tea", embedding=UNIT)
    waiting = make_memory(end_user, "Ben runs")
    before = words(end_user)
    call_command("migrate", "memories", "0004", verbosity=0)
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT embedding IS NULL, embedding_model FROM memories_memory ORDER BY content"
            )
            assert cursor.fetchall() == [(False, "multilingual-e5-small"), (True, "")]
    finally:
        call_command("migrate", verbosity=0)
    assert words(end_user) == before
    assert memory.vectors.get().embedding == UNIT
    assert Memory.objects.get(pk=memory.pk).embedding_model == SPACE
    assert Memory.objects.get(pk=waiting.pk).embedding_model == ""


def test_a_refreshed_memory_waits() -> None:
    memory = make_memory(make_end_user(), "Anna drinks tea", embedding=UNIT)
    derived.reindex(memory)
    assert memory.embedding_model == ""
