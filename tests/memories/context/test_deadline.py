"""A context past its deadline: it goes out without its search, and says so."""

from typing import Any

import pytest

from accounts.models import EndUser
from memories.context import build, clock, warm_up
from memories.context.request import ContextRequest
from tests.api import ApiClient
from tests.factories import make_contact, make_memory
from tests.servers import FakeOpenAI

QUESTION = "How is Greta doing, and what did she paint lately?"


@pytest.fixture(autouse=True)
def greta(zoe: EndUser) -> None:
    make_memory(zoe, "Greta paints horses", make_contact(zoe, "Greta", gender="female"))
    make_memory(zoe, "The bus to the lake leaves at nine")


@pytest.fixture
def embedding_server(server: FakeOpenAI, settings: Any) -> FakeOpenAI:
    settings.MIO_LLM, settings.MIO_EMBEDDINGS = "offline", "openai"
    settings.MIO_EMBEDDING_MODEL = "big-model"
    return server


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a web process is, for the time of the test."""
    monkeypatch.setattr(clock, "is_warm", False)
    warm_up.warm_up()


def searched(client: ApiClient, message: str = QUESTION, **more: Any) -> tuple[str, list[str]]:
    status, answer = client.post("users/zoe/context/", {"message": message, **more})
    assert status == 200, answer
    return answer["searched"], [one["content"] for one in answer["memories"]]


@pytest.mark.usefixtures("warm")
def test_a_hanging_server_holds_no_context_back_past_its_deadline(
    client: ApiClient, embedding_server: FakeOpenAI, settings: Any
) -> None:
    settings.MIO_CONTEXT_DEADLINE_MS = 50
    embedding_server.hang(on="embeddings")
    assert searched(client) == ("late", ["Greta paints horses"])


@pytest.mark.usefixtures("warm")
def test_without_a_deadline_the_search_is_waited_for(client: ApiClient, settings: Any) -> None:
    settings.MIO_CONTEXT_DEADLINE_MS = 0
    assert searched(client)[0] == "yes"


def test_a_process_that_is_still_loading_waits(client: ApiClient, settings: Any) -> None:
    settings.MIO_CONTEXT_DEADLINE_MS = 1
    assert not clock.is_warm
    assert searched(client)[0] == "yes"


def test_no_search_waits_for_what_a_model_is_asked(
    zoe: EndUser, server: FakeOpenAI, settings: Any
) -> None:
    make_contact(zoe, "Olaf", gender="male")
    make_contact(zoe, "Piet", gender="male")
    server.hang()
    traced = build.trace(zoe, ContextRequest("What does that grumpy man want now?", history=[("user", "Olaf and Piet had a fight.")], resolve="model", resolve_budget_ms=900, deadline_ms=800))  # fmt: skip
    assert (traced.injection.resolved, traced.injection.searched) == ("late", "yes")


def test_a_context_says_how_it_searched(client: ApiClient, embedding_server: FakeOpenAI) -> None:
    embedding_server.fail(400, on="embeddings")
    assert searched(client)[0] == "words"
    assert searched(client, "Hello!")[0] == "no"
    assert searched(client, include=["cards"])[0] == "no"
