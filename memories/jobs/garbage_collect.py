"""Deletes what nothing uses any more: entities without memories, old records of injected memories
and of jobs that apps asked for, and old model answers that were not usable."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from memories.budget import Budget
from memories.models import Entity, EntityLink, Injected, ModelCall, ProcessJob

# A new entity may still get its link.
ENTITY_AGE = timedelta(days=1)
# Older injections are not the context of anything learnt now.
INJECTED_AGE = timedelta(days=30)
# By then an operator has looked at an unusable answer, or nobody will.
ANSWER_AGE = timedelta(days=14)
CHUNK = 1000


def users_due() -> list[int]:
    """Returns the ids of end users with something to delete."""
    now = timezone.now()
    leftover = (*_deletable_rows(now).values(), _calls_with_old_answers(now))
    return sorted({pk for rows in leftover for pk in rows.values_list("end_user", flat=True)})


def collect(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Deletes a user's entities without links and old injections and jobs, in bounded transactions,
    until none is left or the budget is spent, and empties old answers; returns how many of each."""
    now = timezone.now()
    _calls_with_old_answers(now).filter(end_user=end_user_id).update(answer="")
    deleted = dict.fromkeys(_deletable_rows(now), 0)
    for name, rows in _deletable_rows(now).items():
        while budget.left:
            with atomic():
                if EndUser.objects.lock(end_user_id) is None:
                    return deleted
                ids = list(rows.filter(end_user=end_user_id).values_list("pk", flat=True)[:CHUNK])
                rows.model.objects.filter(pk__in=ids).delete()
            if not ids:
                break
            deleted[name] += len(ids)
            budget.spend(rows=len(ids))
    return deleted


def _deletable_rows(now: datetime) -> dict[str, QuerySet[Any]]:
    linked = EntityLink.objects.filter(entity=OuterRef("pk"))
    old = {"created_at__lt": now - INJECTED_AGE}
    return {
        "entities": Entity.objects.filter(~Exists(linked), created_at__lt=now - ENTITY_AGE),
        "injections": Injected.objects.filter(**old),
        "jobs": ProcessJob.objects.filter(**old),
    }


def _calls_with_old_answers(now: datetime) -> QuerySet[ModelCall]:
    rows = ModelCall.objects.filter(end_user__isnull=False, created_at__lt=now - ANSWER_AGE)
    return rows.exclude(answer="").order_by()
