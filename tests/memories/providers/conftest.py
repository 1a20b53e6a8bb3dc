"""The provider under test, with a server to talk to and a record of its waits."""

from collections.abc import Iterator

import pytest

from memories.providers.openai.provider import OpenAIProvider
from memories.providers.openai.transport import ModelServer
from tests.memories.providers.openai.examples import KEY
from tests.servers import FakeOpenAI


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def provider(server: FakeOpenAI, slept: list[float]) -> OpenAIProvider:
    return OpenAIProvider(
        ModelServer(KEY, server.base_url, timeout_s=5, sleep=slept.append), "any-model"
    )
