"""A server of the OpenAI protocol that the settings name."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import FakeOpenAI


@pytest.fixture
def server(settings: Any) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.MIO_LLM = "openai"
        settings.OPENAI_API_KEY = "sk-test"
        settings.OPENAI_BASE_URL = fake.base_url
        settings.MIO_LLM_MODEL = f"model of {fake.base_url}"
        yield fake
