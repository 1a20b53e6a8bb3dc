"""A model server that fails in every way that one can, at random, a thousand times."""

import json
import random
import time
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from accounts.models import EndUser
from memories.models import Batch, Consolidation, Memory, Message
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from memories.providers import factory
from tests.chaos.chaos_workers import covered_once, time_passes, wrong
from tests.factories import SOME_DAY, make_app
from tests.servers import FakeOpenAI, Request, Step

pytestmark = pytest.mark.django_db(transaction=True)

FAULTS, MESSAGES = 1_000, 6
# What a server does, and a model: late, refused, broken off, no JSON, other JSON, ids of nobody.
WAYS: dict[str, Step] = {
    "429": Step(429, {"error": {"message": "Slow down."}}, {"Retry-After": "0"}),
    "500": Step(500, {"error": {"message": "It failed."}}),
    "503": Step(503, {"error": {"message": "Overloaded."}}),
    "401": Step(401, {"error": {"message": "No such key."}}),
    "page": Step(200, "<html>Sign in</html>"),
    "hang": Step(act="hang"),
    "trickle": Step(act="trickle"),
    "closed": Step(act="close"),
    "not a completion": Step(body={"object": "list", "data": []}),
    "no choices": Step(body={"object": "chat.completion", "choices": []}),
    "prose": Step(content="Sure! Here is what I found about your friends."),
    "half": Step(content='{"people": [{"id": "n1", "na', finish_reason="length"),
    "refusal": Step(refusal="I can't help with that.", finish_reason="content_filter"),
    "a list": Step(content="[1, 2, 3]"),
    "null": Step(content="null"),
    "others' ids": Step(
        content='{"people": [{"id": "99", "name": "?"}], "memories": [{"content": "x", "people": '
        '["nobody"], "turns": [-4, 7000]}], "resolutions": [{"case": "zz", "verdict": "supersedes",'
        ' "targets": ["a"]}]}'
    ),
}


def honest(request: Request) -> dict[str, Any]:
    """A memory for each turn of the user, in its words; nothing supersedes anything."""
    turns = request.data.get("turns", ()) if isinstance(request.data, dict) else ()
    memories = [
        {"content": turn["text"], "turns": [turn["n"]], "quote": turn["text"]}
        for turn in turns
        if turn["role"] == "user"
    ]
    return {"people": [], "memories": memories, "resolutions": []}


def said(talk: str) -> list[Incoming]:
    """What a user says, a minute between."""
    return [
        Incoming(
            "user",
            f"Thing {talk}.{n} happened.",
            id=f"{talk}.{n}",
            created_at=SOME_DAY + timedelta(minutes=n),
        )
        for n in range(MESSAGES)
    ]


def unfinished() -> list[Batch | Consolidation]:
    """Work that is not done."""
    return [
        work for model in (Batch, Consolidation) for work in model.objects.exclude(state="done")
    ]


def test_a_thousand_faults_of_models(
    settings: Any, monkeypatch: pytest.MonkeyPatch, figures: dict[str, Any]
) -> None:
    impatient = partial(factory.ModelServer, timeout_s=0.2, deadline_s=0.5, sleep=lambda _s: None)
    monkeypatch.setattr(factory, "_model_server", impatient)
    chance, left, began = random.Random(1000), FAULTS, time.monotonic()
    told: dict[str, int] = dict.fromkeys(WAYS, 0)
    with FakeOpenAI() as server:

        def answer(request: Request) -> Step:
            nonlocal left
            if left and chance.random() < 0.6:
                left -= 1
                way = chance.choice(list(WAYS))
                told[way] += 1
                return WAYS[way]
            return Step(content=json.dumps(honest(request)))

        server.answer_with = answer
        settings.MIO_LLM = "openai"
        settings.OPENAI_BASE_URL = server.base_url
        app, users, sent_again = make_app(), list[EndUser](), 0
        while left or unfinished():
            for work in unfinished():
                # What an operator does, on the page or by command.
                sent_again += work.state == "quarantined" and run.retry(work)
            if left:
                talk = str(len(users))
                users.append(receive(app, talk, said(talk)).end_user)
            time_passes()
            for end_user in {*users[-1:], *(work.end_user for work in unfinished())}:
                run.process(end_user.pk)
    for end_user in users:
        covered_once(end_user)
        kept = Memory.objects.of(end_user).active().values_list("content", flat=True)
        assert sorted(kept) == sorted(m.content for m in Message.objects.of(end_user))
    assert wrong() == []
    figures.update(
        faults=sum(told.values()), kinds=len(WAYS), messages=len(users) * MESSAGES, lost=0,
        doubled=0, sent_again_by_hand=sent_again, seconds=round(time.monotonic() - began),
    )  # fmt: skip
