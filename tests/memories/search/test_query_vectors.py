"""The vectors of a query: made once, by so many threads as there are cores, and not too late."""

import os
import time
from threading import Event
from typing import Any

import pytest

from memories.providers.embeddings import LocalEmbedder
from memories.providers.factory import embedder
from memories.search.query_vectors import LateError, QueryVectors
from tests.servers import FakeOpenAI


class HeldEmbedder(LocalEmbedder):
    """The local one on cores that are busy until the event."""

    def __init__(self) -> None:
        self.free = Event()
        self.begun: list[str] = []

    def embed_query(self, text: str) -> list[float]:
        self.begun.append(text)
        assert self.free.wait(30)
        return super().embed_query(text)


@pytest.fixture
def big_model(settings: Any) -> Any:
    with FakeOpenAI() as server:
        settings.MIO_EMBEDDINGS, settings.MIO_EMBEDDING_MODEL = "openai", "big-model"
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-test", server.base_url
        yield server


def test_an_embedder_that_failed_is_asked_again(big_model: FakeOpenAI) -> None:
    big_model.fail(400, on="embeddings")
    failed = QueryVectors(embedder(), "Where is Anna?")
    assert (failed.wait(), failed.failed) == ([], True)
    assert len(QueryVectors(embedder(), "Where is Anna?").wait()) == 1


def test_what_waits_for_a_core_until_it_is_late_is_not_embedded() -> None:
    held, cores = HeldEmbedder(), os.cpu_count() or 1
    first = [QueryVectors(held, f"text {n}") for n in range(cores)]
    late = QueryVectors(held, "late", until=time.perf_counter() + 0.01)
    with pytest.raises(LateError):
        late.wait()
    in_time = QueryVectors(held, "in time")
    held.free.set()
    assert all(len(one.wait()) == 1 for one in (*first, in_time))
    assert "late" not in held.begun


def test_vectors_that_came_after_all_are_late_too() -> None:
    vectors = QueryVectors(embedder(), "Where is Anna?")
    assert vectors.wait()
    late = QueryVectors(embedder(), "Where is Anna?", until=time.perf_counter())
    with pytest.raises(LateError):
        late.wait()
