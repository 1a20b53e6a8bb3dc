"""A model server with a batch API that the settings name, and an app."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import App
from tests.factories import make_app
from tests.memories.pipeline.remote.answers import KEY
from tests.servers import FakeOpenAI


@pytest.fixture
def server(settings: Any) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.MIO_LLM = "openai"
        settings.MIO_LLM_BATCH = True
        settings.OPENAI_API_KEY = KEY
        settings.OPENAI_BASE_URL = fake.base_url
        settings.MIO_LLM_MODEL = "any-model"
        settings.MIO_LLM_REVIEW_MODEL = "any-model"
        yield fake


@pytest.fixture
def app(db: None) -> App:
    return make_app()
