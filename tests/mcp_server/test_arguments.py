"""What models and frameworks really send to the tools."""

import asyncio
import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from mcp.server.mcpserver.exceptions import ToolError

from accounts.models import EndUser
from contacts.models import Contact
from mcp_server.caller import Caller, caller
from mcp_server.knowledge import server
from memories.models import Memory
from tests.deploy.test_files import ROOT
from tests.factories import make_app, make_contact, make_end_user, make_memory
from tests.processes import end_other_sessions

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def zoe() -> Iterator[EndUser]:
    user = make_end_user(app=make_app(), external_id="zoe", language="en")
    caller.set(Caller(user.app, "zoe", "http://127.0.0.1:8000"))
    yield user
    with connection.cursor() as cursor:
        end_other_sessions(cursor)


async def called(tool: str, given: dict[str, Any]) -> Any:
    return json.loads((await server.call_tool(tool, given)).content[0].text)


def call(tool: str, **given: Any) -> Any:
    return asyncio.run(called(tool, given))


def test_facts_that_are_told_at_once_of_somebody_new_are_all_kept(zoe: EndUser) -> None:
    facts = ["Ann lives in Oslo.", "Ann is a nurse.", "Ann sings."]

    async def together() -> list[Any]:
        return await asyncio.gather(
            *(called("remember", {"content": fact, "person": "Ann"}) for fact in facts)
        )

    assert len({told["people"][0] for told in asyncio.run(together())}) == 1
    ann = Contact.objects.of(zoe).get()
    assert Memory.objects.of(zoe).facts().about(ann.pk).count() == 3


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("remember", {"content": "Kim sings.", "person": None}),
        ("remember", {"content": ["Kim sings."], "person": ["Kim"]}),
        ("remember", {"content": "Kim sings.", "person": {"name": "Kim"}, "confidence": 0.9}),
        ("recall", {"query": "choir", "limit": "5"}),
        ("recall", {"query": "choir", "limit": 500}),
        ("recall", {"query": "choir", "limit": None}),
        ("upcoming_dates", {"days": 3650.0}),
        ("forget", {"person": "Kim", "memory": None, "confirmed": None}),
        ("forget", {"person": "Kim", "confirmed": "false"}),
        ("correct", {"memory": None, "person": "Kim", "attribute": "age", "value": 41}),
    ],
)  # fmt: skip
def test_arguments_are_taken_as_models_send_them(
    zoe: EndUser, tool: str, given: dict[str, Any]
) -> None:
    make_contact(zoe, "Kim", relationship="friend")
    assert call(tool, **given)


@pytest.mark.parametrize("person", ["Kim Novak", "kim", "Kimmy", "my sister", "Kim"])
def test_people_are_found_as_in_a_message(zoe: EndUser, person: str) -> None:
    kim = make_contact(zoe, "Kim Novak", relationship="sister", aliases=["Kimmy"])
    assert call("get_person", person=person)["id"] == str(kim.pk)
    call("remember", content="She sings.", person=person)
    assert Contact.objects.of(zoe).count() == 1


@pytest.mark.parametrize("person", ["the user", "Me", "zoe", "Zoë"])
def test_what_is_told_of_the_user_makes_nobody(zoe: EndUser, person: str) -> None:
    zoe.names = ["Zoë"]
    zoe.save()
    assert call("remember", content="The user is allergic to nuts.", person=person)["people"] == []
    assert not Contact.objects.of(zoe).exists()


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("recall", {}, "recall: query: Field required"),
        ("remember", {"content": ""}, "remember: content: String should have at least 1 character"),
        ("recall", {"query": "x", "limit": "many"}, "recall: limit: Input should be a valid integer"),
        ("who_is", {"text": ["a", "b"]}, "who_is: text: Input should be a valid string"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_words_alone(
    zoe: EndUser, tool: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ToolError) as error:
        call(tool, **given)
    assert str(error.value).startswith(said)
    assert "http" not in str(error.value)


def test_links_are_whole_and_the_server_says_its_version(zoe: EndUser) -> None:
    make_memory(zoe, "Kim sings in a choir")
    [hit] = call("search", query="choir")["results"]
    assert hit["url"].startswith("http://127.0.0.1:8000/")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert server.version == project["version"]
