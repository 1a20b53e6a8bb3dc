"""Whether the model that says whom messages mean answers in time on this installation: one that is
late too often is left alone for a while, and then tried again."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from memories.models import ModelCall, SlowModel

PURPOSE = "who"
# What people still take for an answer without delay.
BUDGET_MS = 800
# A model is too slow whose p90 of the last so many calls is over the budget, if it had so many.
LAST, LEAST = 50, 10
SHARE = 0.1
ALONE = timedelta(minutes=30)
BACK = timedelta(days=1)  # older calls say nothing of now


def is_left_alone(model: str) -> bool:
    """Whether the model was found too slow a short while ago."""
    return SlowModel.objects.filter(model=model, since__gt=timezone.now() - ALONE).exists()


def measure(now: datetime) -> None:
    """Has the model of MIO_RESOLVE_MODEL left alone from ``now`` on where it is too slow. Once its
    time is over, only calls made after that count."""
    if settings.MIO_LLM != "openai" or settings.MIO_RESOLVE == "fast":
        return
    model = settings.MIO_RESOLVE_MODEL
    known = SlowModel.objects.filter(model=model).first()
    over = known.since + ALONE if known else None
    if over and now < over:
        return
    rows = ModelCall.objects.filter(purpose=PURPOSE, model=model, outcome__in=ModelCall.FINE)
    rows = rows.filter(created_at__gte=max(over or now - BACK, now - BACK)).order_by("-created_at")
    calls = list(rows.values_list("outcome", "latency_ms")[:LAST])
    if len(calls) < LEAST:
        return
    late = ModelCall.Outcome.LATE
    over_budget = sum(outcome == late or ms > BUDGET_MS for outcome, ms in calls)
    if over_budget > SHARE * len(calls):
        SlowModel.objects.update_or_create(model=model, defaults={"since": now})
    elif known:
        known.delete()
