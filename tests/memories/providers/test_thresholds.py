"""Thresholds on cosines are those of the model that made the vectors."""

from dataclasses import replace
from typing import Any

import pytest

from memories.budget import Budget
from memories.pipeline import candidates, classify_edges, refine
from memories.pipeline.store_memories import embed_missing
from memories.providers import thresholds
from memories.providers.factory import embedder
from memories.providers.thresholds import LOCAL_MODEL, UNCALIBRATED, calibration_of
from memories.types import Draft, ExtractedMemory, MemoryType
from tests.factories import SOME_DAY, make_end_user, make_memory
from tests.servers import FakeOpenAI

SAME = ("Nora likes playing chess with Ivan.", "Nora really likes playing chess with Ivan.")


def calibrate(monkeypatch: pytest.MonkeyPatch, **levels: Any) -> None:
    """Other levels for the local model."""
    row = replace(calibration_of(LOCAL_MODEL), **levels)
    monkeypatch.setattr(thresholds, "CALIBRATIONS", {LOCAL_MODEL: row})


def test_a_model_that_nobody_measured_goes_by_the_defaults() -> None:
    assert calibration_of("text-embedding-3-small") is UNCALIBRATED
    assert calibration_of(LOCAL_MODEL) is not UNCALIBRATED
    assert UNCALIBRATED.comparable < calibration_of(LOCAL_MODEL).comparable
    assert UNCALIBRATED.near_duplicate < calibration_of(LOCAL_MODEL).near_duplicate


@pytest.mark.django_db
@pytest.mark.parametrize(("level", "found"), [(0.8, 1), (1.1, 0)])
def test_what_a_new_memory_is_compared_with_follows_the_table(
    monkeypatch: pytest.MonkeyPatch, level: float, found: int
) -> None:
    calibrate(monkeypatch, comparable=level)
    end_user = make_end_user(language="en")
    make_memory(end_user, SAME[0])
    embed_missing(end_user, embedder())
    (vector,) = embedder().embed_passages([SAME[1]])
    extracted = ExtractedMemory(SAME[1], MemoryType.PERSONAL, "", ())
    draft = Draft("key", SAME[1], SOME_DAY, extracted, (), vector, ())
    assert len(candidates.conflict_cases(end_user, [draft], embedder())) == found


@pytest.mark.django_db
@pytest.mark.parametrize(("level", "found"), [(0.8, 1), (1.1, 0)])
def test_near_duplicates_follow_the_table(
    monkeypatch: pytest.MonkeyPatch, level: float, found: int
) -> None:
    calibrate(monkeypatch, near_duplicate=level)
    end_user = make_end_user(language="en")
    memories = [make_memory(end_user, content) for content in SAME]
    embed_missing(end_user, embedder())
    pairs = refine.near_pairs(end_user, [memory.pk for memory in memories])
    assert len(pairs) == found


@pytest.mark.django_db
@pytest.mark.parametrize(("level", "calls"), [(0.5, 1), (1.1, 0)])
def test_what_may_be_related_follows_the_table(
    monkeypatch: pytest.MonkeyPatch, settings: Any, level: float, calls: int
) -> None:
    calibrate(monkeypatch, related=level)
    end_user = make_end_user(language="en")
    for content in SAME:
        make_memory(end_user, content)
    embed_missing(end_user, embedder())
    with FakeOpenAI() as server:
        settings.MIO_LLM, settings.OPENAI_BASE_URL = "openai", server.base_url
        server.reply_json({"relations": []}, times=None)
        assert classify_edges.relate(end_user.pk, Budget(calls=10, rows=100))["calls"] == calls


def test_the_model_of_the_settings_is_asked_for(settings: Any) -> None:
    with FakeOpenAI(dimensions=8) as server:
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-x", server.base_url
        settings.MIO_EMBEDDINGS, settings.MIO_EMBEDDING_MODEL = "openai", "a-model-of-theirs"
        settings.MIO_EMBEDDING_DIMENSIONS = 8
        embedder().embed_query("tea")
        assert [sent.json["model"] for sent in server.requests] == ["a-model-of-theirs"]
