"""Pairs that may be one person, judged by a real server of the OpenAI protocol."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Change, EndUser
from contacts.models import Suggestion
from contacts.suggestions import suggest
from memories.corrections.auto_merge import newest_facts
from memories.corrections.undo import undo_change
from memories.jobs import runner
from memories.models import ModelCall
from memories.pipeline import judge_suggestions
from tests.api import ApiClient
from tests.factories import make_contact, make_memory, make_suggestion
from tests.servers import FakeOpenAI

State = Suggestion.State


@pytest.fixture
def pair(zoe: EndUser) -> Suggestion:
    liz = make_contact(zoe, "Liz", relationship="friend")
    elizabeth = make_contact(zoe, "Elizabeth Marsh", relationship="neighbour")
    make_memory(zoe, "Liz restores harpsichords.", liz)
    make_memory(zoe, "Elizabeth Marsh keeps bees.", elizabeth)
    return make_suggestion(liz, elizabeth)


def says(server: FakeOpenAI, verdict: str, reason: str = "She keeps bees in both.") -> None:
    """The server gives each pair that it is shown this verdict."""
    server.answer_with = lambda request: {
        "verdicts": [
            {"case": case["case"], "verdict": verdict, "reason": reason}
            for case in request.data["cases"]
        ]
    }


def judged(pair: Suggestion) -> Suggestion:
    run = runner.run("judge")
    assert run.state == "done", run.error
    pair.refresh_from_db()
    return pair


def test_the_model_sees_both_records_with_their_facts_and_same_waits_for_a_person(
    client: ApiClient, server: FakeOpenAI, pair: Suggestion
) -> None:
    says(server, "same")
    row = judged(pair)
    assert (row.state, row.judgement) == (State.OPEN, "same")
    assert (row.judged_reason, row.judged_by) == (
        "She keeps bees in both.",
        server.requests[0].json["model"],
    )
    (case,) = server.requests[0].data["cases"]
    shown = sorted((case["first"], case["second"]), key=lambda record: record["names"])
    assert [record["names"] for record in shown] == [["Elizabeth Marsh"], ["Liz"]]
    assert shown[1] == {
        "names": ["Liz"],
        "relationship": "friend",
        "facts": ["Liz restores harpsichords."],
    }
    assert ModelCall.objects.get().purpose == "judge"
    _, body = client.get("users/zoe/suggestions/")
    assert body["results"][0]["judgement"] == "same"
    assert body["results"][0]["judged_reason"] == "She keeps bees in both."


def test_different_is_decided_never_asked_again_and_can_be_undone(
    server: FakeOpenAI, zoe: EndUser, pair: Suggestion
) -> None:
    says(server, "different", "One is a friend, the other a neighbour of her parents.")
    row = judged(pair)
    assert (row.state, row.decided_by) == (State.DIFFERENT, "judge")
    change = Change.objects.get()
    assert (change.verb, change.actor, change.why) == (
        "not_the_same", "judge", row.judged_reason,
    )  # fmt: skip
    suggest(zoe, newest_facts)
    judged(pair)
    assert len(server.requests) == 1
    undo_change(change, actor="operator:ann")
    row = judged(pair)
    assert (row.state, row.judgement) == (State.OPEN, "different")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"verdicts": []},
        {"verdicts": [{"case": "c7", "verdict": "different"}]},
        {"verdicts": [{"case": "c1", "verdict": "merge them now!"}]},
    ],
)
def test_what_the_model_leaves_out_or_makes_up_leaves_the_pair_open(
    server: FakeOpenAI, pair: Suggestion, answer: Any
) -> None:
    server.reply_json(answer)
    row = judged(pair)
    assert (row.state, row.judgement) == (State.OPEN, "unsure")
    assert not Change.objects.exists()


@pytest.mark.parametrize("status", [429, 500])
def test_a_server_that_is_away_loses_nothing(
    server: FakeOpenAI, pair: Suggestion, status: int
) -> None:
    # Longer than a worker waits itself.
    server.fail(status, retry_after=600)
    assert runner.run("judge").state == "failed"
    pair.refresh_from_db()
    assert (pair.state, pair.judged_at) == (State.OPEN, None)
    says(server, "same")
    assert judged(pair).judgement == "same"


def test_many_pairs_a_call_and_so_many_calls_a_day(server: FakeOpenAI, zoe: EndUser) -> None:
    people = [make_contact(zoe, f"Person{n}") for n in range(16)]
    pairs = [
        make_suggestion(one, other)
        for place, one in enumerate(people)
        for other in people[place + 1 :]
    ]
    says(server, "unsure")
    runner.run("judge")
    per_day = judge_suggestions.PAIRS_PER_CALL * judge_suggestions.CALLS_A_DAY
    assert len(pairs) > per_day
    assert len(server.requests) == judge_suggestions.CALLS_A_DAY
    assert Suggestion.objects.exclude(judged_at=None).count() == per_day
    runner.run("judge")
    assert len(server.requests) == judge_suggestions.CALLS_A_DAY
    ModelCall.objects.update(created_at=timezone.now() - timedelta(days=1))
    runner.run("judge")
    assert not Suggestion.objects.filter(judged_at=None).exists()


def test_what_a_person_decided_and_what_is_certain_is_not_asked(
    server: FakeOpenAI, zoe: EndUser
) -> None:
    one, two, three = (make_contact(zoe, name) for name in ("Ada", "Bea", "Cleo"))
    make_suggestion(one, two, state=State.LATER)
    make_suggestion(two, three, verdict="certain")
    make_suggestion(one, three, state=State.DIFFERENT)
    runner.run("judge")
    assert server.requests == []


def test_a_person_who_decides_meanwhile_is_right(
    server: FakeOpenAI, zoe: EndUser, pair: Suggestion
) -> None:
    rows = [pair]
    verdicts = {pair.pk: (judge_suggestions.Sameness.DIFFERENT, "")}
    Suggestion.objects.update(state=State.LATER, decided_by="operator:ann")
    provider = judge_suggestions.factory.reviewing_provider()
    assert provider is not None
    assert judge_suggestions._write(zoe, provider, rows, verdicts) == 0
    pair.refresh_from_db()
    assert (pair.state, pair.judgement) == (State.LATER, "")


def test_without_a_model_nobody_is_due(pair: Suggestion) -> None:
    assert judge_suggestions.users_due() == []
