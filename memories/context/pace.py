"""Measures whether the model that decides whom messages refer to answers in time on this
installation: one that is late too often is not asked for a while, and then tried again."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from memories.models import ModelCall, SlowModel

PURPOSE = "who"
# What people still perceive as an answer without delay.
BUDGET_MS = 800
# A model is too slow if the p90 of its last calls, if there are enough, is over the budget.
LAST, LEAST = 50, 10
SHARE = 0.1
ALONE = timedelta(minutes=30)
BACK = timedelta(days=1)  # older calls do not show its present speed


def is_left_alone(model: str) -> bool:
    """Whether the model was found too slow less than ``ALONE`` ago."""
    return SlowModel.objects.filter(model=model, since__gt=timezone.now() - ALONE).exists()


def measure(now: datetime) -> None:
    """Marks the model of MIO_RESOLVE_MODEL as too slow from ``now`` on if it is, for ``ALONE``;
    after that time only later calls count, and the mark is deleted if they are fast enough."""
    if settings.MIO_LLM != "openai" or settings.MIO_RESOLVE == "fast":
        return
    model = settings.MIO_RESOLVE_MODEL
    mark = SlowModel.objects.filter(model=model).first()
    ends = mark.since + ALONE if mark else None
    if ends and now < ends:
        return
    rows = ModelCall.objects.filter(purpose=PURPOSE, model=model, outcome__in=ModelCall.FINE)
    rows = rows.filter(created_at__gte=max(ends or now - BACK, now - BACK)).order_by("-created_at")
    calls = list(rows.values_list("outcome", "latency_ms")[:LAST])
    if len(calls) < LEAST:
        return
    late = ModelCall.Outcome.LATE
    over_budget = sum(outcome == late or ms > BUDGET_MS for outcome, ms in calls)
    if over_budget > SHARE * len(calls):
        SlowModel.objects.update_or_create(model=model, defaults={"since": now})
    elif mark:
        mark.delete()
