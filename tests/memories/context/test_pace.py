"""A model that answers too late whom messages mean is left alone for a while."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import EndUser
from memories.context import build, pace
from memories.context.request import ContextRequest
from memories.jobs import sweep
from memories.models import ModelCall, SlowModel
from tests.factories import make_contact
from tests.servers import FakeOpenAI

TURNS = [("user", "Olaf and Piet had a fight at our gate.")]


@pytest.fixture(autouse=True)
def tiny(zoe: EndUser, server: FakeOpenAI, settings: Any) -> None:
    settings.MIO_RESOLVE_MODEL = "tiny"
    for name in ("Olaf", "Piet"):
        make_contact(zoe, name, gender="male")
    server.answer_with = lambda _request: {"meant": []}


def called(zoe: EndUser, outcomes: dict[str, int], at: datetime | None = None) -> None:
    rows = [
        ModelCall(end_user=zoe, provider="openai", model="tiny", purpose="who", outcome=outcome,
                  latency_ms=100)
        for outcome, times in outcomes.items()
        for _ in range(times)
    ]  # fmt: skip
    made = ModelCall.objects.bulk_create(rows)
    if at:
        ModelCall.objects.filter(pk__in=[row.pk for row in made]).update(created_at=at)


def resolved(zoe: EndUser, resolve: str = "auto") -> str:
    # More time than the product's default: a process that has loaded nothing yet is slow.
    request = ContextRequest(
        "Is he still angry?", history=TURNS, include=[], resolve=resolve, resolve_budget_ms=30_000
    )
    return build.trace(zoe, request).injection.resolved


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ({"ok": 45, "late": 5}, "model"),
        ({"ok": 44, "late": 6}, "fast"),
        ({"late": 6, "ok": 50}, "model"),  # of the last fifty, none
        ({"late": pace.LEAST - 1}, "model"),
        ({"transient": 50}, "model"),
    ],
)
def test_a_model_whose_p90_is_over_the_budget_is_left_alone(
    zoe: EndUser, outcomes: dict[str, int], expected: str
) -> None:
    assert resolved(zoe) == "model"
    ModelCall.objects.all().delete()
    for outcome, times in outcomes.items():
        called(zoe, {outcome: times}, timezone.now() - timedelta(minutes=len(outcome)))
    sweep.sweep()
    assert resolved(zoe) == expected
    assert resolved(zoe, "model") == "model"


def test_it_is_tried_again_after_a_while_and_judged_by_what_it_does_then(zoe: EndUser) -> None:
    called(zoe, {"late": 50}, timezone.now() - pace.ALONE - timedelta(hours=1))
    SlowModel.objects.create(model="tiny", since=timezone.now() - pace.ALONE - timedelta(minutes=1))
    sweep.sweep()
    assert resolved(zoe) == "model"
    called(zoe, {"ok": 50})
    sweep.sweep()
    assert not SlowModel.objects.exists()
    called(zoe, {"late": 50})
    sweep.sweep()
    assert resolved(zoe) == "fast"
