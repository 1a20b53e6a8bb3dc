"""What many tests of memories begin with: a client of the API, a model server that the settings
name, two people who are one, and a job."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import EndUser
from contacts.models import Contact
from tests.api import ApiClient
from tests.factories import make_end_user
from tests.memories.corrections.liz_and_elizabeth import liz_and_elizabeth
from tests.memories.jobs.sample_job import Visits, add_visits
from tests.servers import FakeOpenAI


@pytest.fixture
def client(db: None) -> ApiClient:
    return ApiClient()


@pytest.fixture
def zoe(client: ApiClient) -> EndUser:
    """The end user whom the addresses of the client's requests name."""
    return make_end_user(app=client.app, external_id="zoe", language="en")


@pytest.fixture
def server(settings: Any) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.MIO_LLM = "openai"
        settings.OPENAI_API_KEY = "sk-test"
        settings.OPENAI_BASE_URL = fake.base_url
        settings.MIO_LLM_MODEL = f"model of {fake.base_url}"
        yield fake


@pytest.fixture
def people(end_user: EndUser) -> tuple[Contact, Contact]:
    """Liz and Elizabeth, of the end user of whoever asks for them."""
    return liz_and_elizabeth(end_user)


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> Visits:
    """The table of jobs with one more, ``visit``."""
    return add_visits(monkeypatch)
