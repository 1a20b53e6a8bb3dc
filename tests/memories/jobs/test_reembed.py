"""Another model or dimension while the server answers with the old one."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.db import connection
from django_q.models import OrmQ

from accounts.models import EndUser
from memories.jobs import reembed, sweep
from memories.models import Memory, ModelCall, Vector
from memories.pipeline import store_memories
from memories.pipeline.store_memories import embed_missing
from memories.providers.factory import embedder, embedder_named
from memories.search import recall, vectors
from memories.search.recall import SearchRequest
from tests.commands import run_json
from tests.factories import make_end_user, make_memory
from tests.servers import FakeOpenAI

pytestmark = pytest.mark.django_db(transaction=True)

OLD = "multilingual-e5-small/384"
NEW = "big-model/8"
UNIT = [1.0] + [0.0] * 383


@pytest.fixture
def server(settings: Any) -> Iterator[FakeOpenAI]:
    with FakeOpenAI(dimensions=8) as fake:
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-x", fake.base_url
        yield fake
    vectors.drop_other_indexes(OLD)


@pytest.fixture
def end_user() -> EndUser:
    end_user = make_end_user()
    for n in range(5):
        make_memory(end_user, f"Anna ran {n} miles", embedding=UNIT)
    return end_user


def run(*arguments: Any) -> dict[str, Any]:
    return run_json("reembed", *arguments)


def to_new() -> dict[str, Any]:
    return run("--model", "big-model", "--dimensions", "8")


def switch(settings: Any) -> None:
    """As the operator does, and restarts."""
    settings.MIO_EMBEDDINGS, settings.MIO_EMBEDDING_MODEL = "openai", "big-model"
    settings.MIO_EMBEDDING_DIMENSIONS = 8


def spaces() -> dict[str, int]:
    held: dict[str, int] = {}
    for space in Vector.objects.values_list("space", flat=True):
        held[space] = held.get(space, 0) + 1
    return held


def test_new_vectors_stand_beside_the_old_which_still_answer(
    server: FakeOpenAI, end_user: EndUser
) -> None:
    assert to_new() == {"space": NEW, "embedded": 5, "missing": 0}
    assert spaces() == {OLD: 5, NEW: 5}
    hits = recall.search(end_user, SearchRequest("Anna"), embedder=embedder(), vector=UNIT)
    assert sorted(hit.vector_rank or 0 for hit in hits) == [1, 2, 3, 4, 5]
    assert not Memory.objects.exclude(embedding_model=OLD).exists()
    assert vectors.waiting_users(OLD) == []
    assert ModelCall.objects.get(purpose="embed").model == "big-model"


def test_a_second_run_embeds_nothing(server: FakeOpenAI, end_user: EndUser) -> None:
    to_new()
    asked = len(server.requests)
    assert to_new()["embedded"] == 0
    assert len(server.requests) == asked


def test_a_run_that_failed_goes_on_where_it_stopped(
    server: FakeOpenAI, end_user: EndUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_memories, "EMBEDDED_AT_ONCE", 2)
    chosen, told = embedder_named("big-model", 8), []

    def stop_after_two(written: int) -> None:
        told.append(written)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reembed.reembed(chosen, progress=stop_after_two)
    assert spaces() == {OLD: 5, NEW: 2}
    server.fail(401, on="embeddings")
    with pytest.raises(CommandError, match="run it again"):
        to_new()
    assert to_new()["embedded"] == 3
    assert sum(len(r.json["input"]) for r in server.requests_to("embeddings")) == 5 + 2


def test_after_the_switch_what_came_meanwhile_is_filled_in(
    server: FakeOpenAI, end_user: EndUser, settings: Any
) -> None:
    to_new()
    late = make_memory(end_user, "Ben swam", embedding=UNIT)
    switch(settings)
    sweep.sweep()
    assert f"embed {end_user.pk}" in [task.name() for task in OrmQ.objects.all()]
    asked = len(server.requests)
    assert embed_missing(end_user, embedder()) == 1
    assert server.requests[asked].json["input"] == [late.content]
    assert not Memory.objects.exclude(embedding_model=NEW).exists()
    assert vectors.waiting_users(NEW) == []


def test_prune_drops_the_old_vectors_and_their_index(
    server: FakeOpenAI, end_user: EndUser, settings: Any
) -> None:
    to_new()
    switch(settings)
    try:
        assert run("--prune") == {"dropped": 5, "spaces": [OLD]}
        assert spaces() == {NEW: 5}
        hits = recall.search(end_user, SearchRequest("Anna"), embedder=embedder())
        assert sorted(hit.vector_rank or 0 for hit in hits) == [1, 2, 3, 4, 5]
    finally:
        vectors.build_index(OLD)


def test_prune_leaves_no_memory_without_a_vector(
    server: FakeOpenAI, end_user: EndUser, settings: Any
) -> None:
    switch(settings)
    with pytest.raises(CommandError, match="run reembed first"):
        run("--prune")
    assert spaces() == {OLD: 5}


def test_only_the_user_that_is_named_is_embedded(server: FakeOpenAI, end_user: EndUser) -> None:
    other = make_end_user(app=end_user.app)
    make_memory(other, "Carl sings", embedding=UNIT)
    told = run("--model", "big-model", "--dimensions", "8", "--user", other.external_id,
               "--app", other.app.name)  # fmt: skip
    assert told["embedded"] == 1
    assert spaces() == {OLD: 6, NEW: 1}


def test_a_memory_that_is_corrected_meanwhile_is_left_to_the_next_run(
    server: FakeOpenAI, end_user: EndUser
) -> None:
    memory = Memory.objects.of(end_user).order_by("pk").first()
    assert memory is not None
    said = memory.content
    Memory.objects.filter(pk=memory.pk).update(content="Anna stopped")
    stale = [(memory.pk, said, [1.0] * 8)]
    assert vectors.put(end_user.pk, NEW, stale, current=False) == 0
    assert not memory.vectors.exists()
    assert to_new()["embedded"] == 5


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--dimensions", "512"], "has 384 dimensions"),
        (["--model", "other"], "needs OPENAI_API_KEY"),
        (["--prune", "--model", "other"], "keeps the model of the settings"),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[str], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        run(*arguments)


def test_users_that_wait_longest_come_first() -> None:
    first, second, third = make_end_user(), make_end_user(), make_end_user()
    make_memory(third, "c", embedding=UNIT)
    make_memory(second, "b", embedding=[1.0, 0.0], space="older/2")
    make_memory(first, "a", embedding=[1.0, 0.0], space="zzz/2")
    waiting = make_end_user()
    make_memory(waiting, "d")
    assert vectors.waiting_users(OLD) == [waiting.pk, second.pk, first.pk]


def test_an_index_is_built_for_every_partition_and_only_once() -> None:
    try:
        assert vectors.build_index("model-x/8") == 16
        assert vectors.build_index("model-x/8") == 0
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT bool_and(indisvalid) FROM pg_index WHERE indexrelid::regclass::text "
                "LIKE 'memories_vector_model_x_8%'"
            )
            assert cursor.fetchone() == (True,)
    finally:
        vectors.drop_other_indexes(OLD)


def test_an_index_that_was_stopped_half_way_is_finished() -> None:
    def stop(_partitions: int) -> None:
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            vectors.build_index("model-x/8", stop)
        assert vectors.build_index("model-x/8") == 15
    finally:
        vectors.drop_other_indexes(OLD)


def test_vectors_that_are_too_long_for_the_index_have_none() -> None:
    try:
        assert vectors.build_index("large/3072") == 0
        make_memory(make_end_user(), "full", embedding=[0.5] * 1280, space="full/1280")
        assert vectors.build_index("full/1280") == 16
    finally:
        vectors.drop_other_indexes(OLD)
