"""A second opinion on who is meant, by a real server of the OpenAI protocol."""

import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import EndUser
from contacts.models import Contact
from memories.context import build, who
from memories.context.request import ContextRequest
from memories.models import ModelCall, Outage
from tests.api import ApiClient, assert_error
from tests.factories import make_contact, make_memory, make_message
from tests.servers import FakeOpenAI
from understanding.types import Mention, Person

POINTS = "What does that grumpy man want now?"
TURNS = [
    {"role": "user", "content": "Olaf and Piet had a fight at our gate."},
    {"role": "assistant", "content": "Have you talked to him?"},
]


@pytest.fixture
def people(zoe: EndUser) -> dict[str, Contact]:
    return {
        "olaf": make_contact(zoe, "Olaf", relationship="neighbour", gender="male"),
        "piet": make_contact(zoe, "Piet", relationship="brother", gender="male"),
    }


def asked(client: ApiClient, message: str = POINTS, **more: Any) -> dict[str, Any]:
    body = {"message": message, "resolve": "model", "include": ["cards"], **more}
    status, answer = client.post("users/zoe/context/", body)
    assert status == 200, answer
    return answer


def fast(client: ApiClient, message: str = POINTS, **more: Any) -> dict[str, Any]:
    return asked(client, message, **{"resolve": "fast", **more})


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    keys = ("system_prompt", "contacts", "memories")
    return all(one[key] == other[key] for key in keys)


def meant(server: FakeOpenAI, name: str, words: str, confidence: float = 0.9) -> None:
    """The server answers with the id under which it is shown who is called so."""

    def answer(request: Any) -> Any:
        shown = {one["about"]: one["id"] for one in request.data["people"]}
        found = next(short for about, short in shown.items() if name in about)
        return {"meant": [{"words": words, "ids": [found], "confidence": confidence}]}

    server.answer_with = answer


@pytest.mark.usefixtures("people")
def test_the_model_says_who_is_meant_where_the_fast_path_is_unsure(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI, people: dict[str, Contact]
) -> None:
    meant(server, "Olaf", "that grumpy man")
    answer = asked(client, history=TURNS)
    assert answer["resolved"] == "model"
    assert answer["timing"]["model"] > 0
    one = next(c for c in answer["contacts"] if c["matched_by"] == "model")
    assert (one["id"], one["matched_text"]) == (str(people["olaf"].pk), "that grumpy man")
    assert "Olaf" in answer["system_prompt"]
    call = ModelCall.objects.get()
    assert (call.purpose, call.outcome, call.end_user_id) == ("who", "changed", zoe.pk)
    assert (call.tokens_in, call.tokens_out) == (11, 7)
    sent = server.requests[0].data
    assert [turn["text"] for turn in sent["turns"]] == [turn["content"] for turn in TURNS]
    assert sent["message"] == POINTS


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("message", "resolved"),
    [("Olaf came by today", "sure"), ("What is the capital of Peru?", "sure")],
)
def test_what_is_clear_or_about_nobody_is_not_asked(
    client: ApiClient, server: FakeOpenAI, message: str, resolved: str
) -> None:
    answer = asked(client, message)
    assert (answer["resolved"], server.requests) == (resolved, [])
    assert same(answer, fast(client, message))


@pytest.mark.usefixtures("people")
def test_a_model_that_hangs_costs_the_budget_and_changes_nothing(
    client: ApiClient, server: FakeOpenAI
) -> None:
    server.hang()
    started = time.monotonic()
    answer = asked(client, resolve_budget_ms=150, history=TURNS)
    assert time.monotonic() - started < 3
    assert answer["timing"]["model"] < 2000
    assert answer["resolved"] == "late"
    assert same(answer, fast(client, history=TURNS))
    call = ModelCall.objects.get()
    assert (call.outcome, call.latency_ms >= 150) == ("late", True)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    "play",
    [
        lambda server: server.fail(429, retry_after=30),
        lambda server: server.fail(500),
        lambda server: server.close_early(),
        lambda server: server.reply_text("It is surely Olaf."),
        lambda server: server.reply_text('{"meant": [[[['),
        lambda server: server.reply_text("[" * 5000 + "}"),
        lambda server: server.reply_json({"meant": [{"words": "him", "ids": ["p99"]}]}),
        lambda server: server.reply_json({"people": "all"}),
        lambda server: server.reply_body("<html>gone</html>"),
        lambda server: server.fail(401),
    ],
    ids=["429", "500", "cut", "prose", "open", "deep", "wrong id", "other", "page", "key"],
)
def test_whatever_goes_wrong_the_fast_answer_stands_after_one_request(
    client: ApiClient, server: FakeOpenAI, play: Any
) -> None:
    play(server)
    answer = asked(client, history=TURNS, resolve_budget_ms=5000)
    assert answer["resolved"] == "failed"
    assert len(server.requests) == 1
    assert same(answer, fast(client, history=TURNS))
    assert ModelCall.objects.get().outcome != "ok"


@pytest.mark.usefixtures("people")
def test_a_model_that_refuses_everything_is_not_asked_again(
    client: ApiClient, server: FakeOpenAI
) -> None:
    server.fail(401)
    asked(client, history=TURNS)
    assert Outage.objects.exists()
    assert asked(client, history=TURNS)["resolved"] == "failed"
    assert len(server.requests) == 1


def test_the_setting_asks_for_all_and_names_the_model(
    client: ApiClient, server: FakeOpenAI, people: dict[str, Contact], settings: Any
) -> None:
    settings.MIO_RESOLVE, settings.MIO_RESOLVE_MODEL = "model", "tiny"
    server.reply_json({"meant": []})
    _, answer = client.post("users/zoe/context/", {"message": POINTS, "history": TURNS})
    assert answer["resolved"] == "model"
    assert server.requests[0].json["model"] == "tiny"
    assert not [c for c in answer["contacts"] if c["matched_by"] == "pronoun"]


@pytest.mark.usefixtures("people")
def test_at_most_twelve_people_are_shown_and_six_turns(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI
) -> None:
    for number in range(20):
        make_contact(zoe, f"Friend{number} Ostrom", relationship="friend")
    server.reply_json({"meant": []})
    asked(client, history=[{"role": "user", "content": f"turn {n}"} for n in range(9)] + TURNS)
    sent = server.requests[0].data
    assert len(sent["people"]) == who.MOST_PEOPLE
    assert any("Olaf" in one["about"] for one in sent["people"])  # the last turns name him
    assert len(sent["turns"]) == who.MOST_TURNS


@pytest.mark.usefixtures("people")
def test_people_of_others_and_the_archived_are_not_shown(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI, people: dict[str, Contact]
) -> None:
    Contact.objects.filter(pk=people["olaf"].pk).update(archived_at=timezone.now())
    server.reply_json({"meant": []})
    asked(client, history=TURNS)
    assert "Olaf" not in str(server.requests[0].data["people"])


@pytest.mark.usefixtures("people")
def test_without_a_model_or_where_none_is_wanted_nothing_is_asked_and_no_statement_more(
    zoe: EndUser, server: FakeOpenAI, settings: Any
) -> None:
    history = [(turn["role"], turn["content"]) for turn in TURNS]

    def statements(**options: Any) -> int:
        with CaptureQueriesContext(connection) as queries:
            build.trace(zoe, ContextRequest(POINTS, history=history, include=["cards"], **options))
        return len(queries)

    settings.MIO_RESOLVE = "fast"
    unasked = statements()
    settings.MIO_LLM = "offline"
    assert statements(resolve="model") == unasked
    assert server.requests == []


@pytest.mark.usefixtures("people")
def test_it_is_asked_by_default_where_a_dropped_subject_may_be_somebody_of_the_talk(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI, people: dict[str, Contact]
) -> None:
    meant(server, "Piet", "")
    turns = [
        {"role": "user", "content": "Piet moved the boat again, to the other pier."},
        {"role": "assistant", "content": "Oh no."},
    ]
    body = {"message": "Says the water is too low here.", "history": turns}
    _, answer = client.post("users/zoe/context/", body)
    assert answer["resolved"] == "model"
    assert [c["matched_by"] for c in answer["contacts"]] == ["model"]


@pytest.mark.usefixtures("people")
def test_either_of_several_is_an_answer(
    client: ApiClient, server: FakeOpenAI, people: dict[str, Contact]
) -> None:
    def either(request: Any) -> Any:
        ids = [one["id"] for one in request.data["people"]]
        return {"meant": [{"words": "that grumpy man", "ids": ids, "confidence": 0.9}]}

    server.answer_with = either
    found = asked(client, history=TURNS)["contacts"]
    assert {(c["name"], c["confidence"]) for c in found} == {("Olaf", 0.5), ("Piet", 0.5)}


def test_the_same_words_mean_whom_the_model_says_and_nobody_stays_beside_them(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI, people: dict[str, Contact]
) -> None:
    make_contact(zoe, "Berta Falk", aliases=["Bertie"], gender="female")
    make_contact(zoe, "Berta Lund")

    def answer(request: Any) -> Any:
        shown = {one["about"]: one["id"] for one in request.data["people"]}
        ids = {n: next(i for about, i in shown.items() if n in about) for n in ("Lund", "Piet")}
        said = (("Bertie", "Lund"), ("he", "Piet"))
        return {"meant": [{"words": w, "ids": [ids[n]], "confidence": 0.9} for w, n in said]}

    server.answer_with = answer
    message = "Bertie asked what he wants"
    assert "Berta Falk" in {c["name"] for c in fast(client, message)["contacts"]}
    found = asked(client, message, history=TURNS)["contacts"]
    assert {c["name"] for c in found} == {"Berta Lund", "Piet"}


def test_memories_are_found_for_whom_the_model_says(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI, people: dict[str, Contact]
) -> None:
    make_memory(zoe, "Piet sold his tractor", people["piet"])
    make_memory(zoe, "Olaf keeps bees", people["olaf"])
    meant(server, "Piet", "that grumpy man")
    answer = asked(client, history=TURNS, include=["cards", "linked"])
    assert [one["content"] for one in answer["memories"]] == ["Piet sold his tractor"]


def test_a_pronoun_beside_the_users_own_phrase_for_somebody_else_is_doubted_with_it() -> None:
    olaf, rana = Person(uuid4(), "Olaf", gender="male"), Person(uuid4(), "Rana")
    he = Mention(olaf, 0, 2, "He", "pronoun", 0.99)
    phrase = Mention(rana, 17, 36, "the guy with the cables", "reference", 0.85)
    message = "He sounded odd, the guy with the cables."
    assert who.doubted(message, [he, phrase], {}) == {he, phrase}
    assert who.doubted(message, [he], {}) is None


def test_turns_are_shown_with_their_time_and_marked_where_they_are_of_another_conversation(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI, people: dict[str, Contact]
) -> None:
    zoe.time_zone = "Asia/Tokyo"
    zoe.save()
    said = datetime(2026, 3, 1, 20, 5, tzinfo=UTC)
    make_message(zoe, TURNS[0]["content"], session_id="old", created_at=said)
    server.reply_json({"meant": []}, times=2)
    asked(client, "Did he say sorry?", session_id="old")
    asked(client, "Did he say sorry?", session_id="new")
    (same,), (other,) = (request.data["turns"] for request in server.requests)
    shown = {"role": "user", "text": TURNS[0]["content"], "at": "2026-03-02 05:05"}
    assert same == shown
    assert other == {**shown, "another_conversation": True}


@pytest.mark.parametrize(
    "message", ["My mom is visiting on Friday", "我妈周末要来", "Olaf Brandt said he is late"]
)
def test_what_is_plain_is_not_asked(
    client: ApiClient, zoe: EndUser, server: FakeOpenAI, message: str
) -> None:
    for name, role, gender in [
        ("Greta", "mother", "female"),
        ("Olaf Brandt", "colleague", "male"),
        ("Ilse", "colleague", "female"),
    ]:
        make_contact(zoe, name, relationship=role, gender=gender)
    history = [{"role": "user", "content": "Greta and Ilse met Olaf Brandt."}]
    assert asked(client, message, history=history)["resolved"] == "sure"


@pytest.mark.parametrize(
    "bad", [{"resolve": "slow"}, {"resolve_budget_ms": 1}, {"resolve_budget_ms": "soon"}]
)
@pytest.mark.usefixtures("zoe")
def test_what_is_no_choice_is_refused(client: ApiClient, bad: dict[str, Any]) -> None:
    assert_error(client.post("users/zoe/context/", {"message": POINTS, **bad}), 400)
