"""Whom extraction understood a session to be about is found first by the pronouns after it."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import EndUser
from contacts.models import Contact
from memories.context import build
from memories.context.request import ContextRequest
from memories.erasure import erase
from memories.models import Message
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.api import ApiClient
from tests.factories import make_contact
from tests.servers import FakeOpenAI

SAID = "She finally signed the lease, the one near the harbour."
ASKED = "When does she move in?"


@pytest.fixture
def people(zoe: EndUser) -> dict[str, Contact]:
    return {name: make_contact(zoe, name, gender="female") for name in ("Maren", "Ottilie")}


def understood(client: ApiClient, server: FakeOpenAI, zoe: EndUser, name: str) -> None:
    """A message that a model read as about the person of this name."""
    receive(client.app, "zoe", [Incoming("user", SAID, session_id="s1")])

    def read(request: Any) -> Any:
        shown = {person["name"]: person["id"] for person in request.data["people"]}
        told = {"content": f"{name} signed a lease near the harbour.", "turns": [1]}
        return {"people": [], "memories": [{**told, "people": [shown[name]]}]}

    server.answer_with = read
    run.extract_next(zoe.pk, everything=True)


def meant(zoe: EndUser, message: str = ASKED) -> list[str]:
    traced = build.trace(
        zoe, ContextRequest(message, session_id="s1", include=["cards"], keep_cards=0)
    )
    return [one.name for one in traced.injection.contacts]


@pytest.mark.parametrize("name", ["Maren", "Ottilie"])
def test_a_pronoun_finds_whom_the_last_extraction_found(
    client: ApiClient, server: FakeOpenAI, zoe: EndUser, people: dict[str, Contact], name: str
) -> None:
    receive(client.app, "zoe", [Incoming("user", SAID, session_id="s1")])
    assert meant(zoe) == []  # nobody is named anywhere
    Message.objects.all().delete()
    understood(client, server, zoe, name)
    assert Message.objects.get().understood == [people[name].pk]
    assert meant(zoe) == [name]


def test_a_pronoun_finds_whom_the_last_extraction_met_for_the_first_time(
    client: ApiClient, server: FakeOpenAI, zoe: EndUser
) -> None:
    receive(client.app, "zoe", [Incoming("user", SAID, session_id="s1")])
    told = {
        "people": [{"id": "n1", "name": "Maren", "gender": "female"}],
        "memories": [{"content": "Maren signed a lease.", "people": ["n1"], "turns": [1]}],
    }
    server.answer_with = lambda _request: told
    run.extract_next(zoe.pk, everything=True)
    assert Message.objects.get().understood == [Contact.objects.get().pk]
    assert meant(zoe) == ["Maren"]


@pytest.mark.usefixtures("people")
def test_it_takes_no_statement_more(client: ApiClient, server: FakeOpenAI, zoe: EndUser) -> None:
    receive(client.app, "zoe", [Incoming("user", SAID, session_id="s1")])
    with CaptureQueriesContext(connection) as before:
        meant(zoe)
    Message.objects.all().delete()
    understood(client, server, zoe, "Maren")
    with CaptureQueriesContext(connection) as after:
        assert meant(zoe) == ["Maren"]
    assert len(after) == len(before)


@pytest.mark.usefixtures("people")
def test_who_is_named_since_is_meant_instead(
    client: ApiClient, server: FakeOpenAI, zoe: EndUser
) -> None:
    understood(client, server, zoe, "Maren")
    receive(client.app, "zoe", [Incoming("user", "Ottilie bought a flat.", session_id="s1")])
    assert meant(zoe)[0] == "Ottilie"


def test_nothing_is_left_of_who_is_forgotten(
    client: ApiClient, server: FakeOpenAI, zoe: EndUser, people: dict[str, Contact]
) -> None:
    understood(client, server, zoe, "Maren")
    erase.forget_contact(zoe, people["Maren"].pk)
    assert not Message.objects.exclude(understood=[]).exists()
    assert meant(zoe) == []
