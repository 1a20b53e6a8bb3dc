"""What a model's answer becomes: nothing of it is lost or mixed up on the way into the store."""

from datetime import UTC, datetime

import pytest

from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Memory
from memories.pipeline import run
from tests.api import ApiClient
from tests.factories import SOME_DAY

pytestmark = pytest.mark.django_db


def say(client: ApiClient, zoe: EndUser, *texts: str, day: int = 0) -> None:
    said = SOME_DAY.replace(day=SOME_DAY.day + day).isoformat()
    turns = [{"role": "user", "content": text, "created_at": said} for text in texts]
    assert client.post("users/zoe/messages/", {"messages": turns})[0] == 202
    while run.extract_next(zoe.pk, everything=True):
        pass


def told(content: str, *people: str, turns: tuple[int, ...] = (1,), **fields: object) -> dict:
    return {"content": content, "people": list(people), "turns": list(turns), **fields}


def answer(*memories: dict, people: tuple[dict, ...] = (), **fields: object) -> dict:
    return {"people": list(people), "memories": list(memories), **fields}


def test_two_people_of_one_name_in_one_answer_are_two(client, zoe, server):
    server.reply_json(
        answer(
            told("张伟 found the user a flat", "n1"),
            told("张伟 brought cake to the office", "n2"),
            people=(
                {"id": "n1", "name": "张伟", "relationship": "agent"},
                {"id": "n2", "name": "张伟", "relationship": "colleague"},
            ),
        )
    )
    say(client, zoe, "the agent 张伟 found me a flat, and my colleague 张伟 brought cake")
    of = {
        contact.relationship: [
            memory.content for memory in Memory.objects.of(zoe).about(contact.pk)
        ]
        for contact in Contact.objects.of(zoe).standing()
    }
    assert of == {
        "agent": ["张伟 found the user a flat"],
        "colleague": ["张伟 brought cake to the office"],
    }


def test_a_plan_of_a_month_lies_ahead_until_the_month_is_over(client, zoe, server):
    server.reply_json(
        answer(
            told("Kim visits in August", "n1", type="plan", happens_at="2199-08"),
            people=({"id": "n1", "name": "Kim"},),
        )
    )
    say(client, zoe, "Kim visits in August")
    [memory] = Memory.objects.of(zoe)
    assert memory.happens_until == datetime(2199, 8, 31, tzinfo=UTC)
    assert list(Memory.objects.of(zoe).ahead(datetime(2199, 8, 30, tzinfo=UTC))) == [memory]
    assert not Memory.objects.of(zoe).ahead(datetime(2199, 9, 1, tzinfo=UTC)).exists()
    row = client.get(f"users/zoe/memories/{memory.pk}/")[1]
    assert row["happens_until"].startswith("2199-08-31")
    card = Contact.objects.get(name="Kim").card_today
    assert "2199-08: Kim visits in August" in card
