"""Finds work that nothing else triggers, and queues it."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import F, Q
from django.utils import timezone

from accounts import cells, placement
from accounts.fair_queue import users_waiting
from accounts.models import EndUser
from contacts.models import Contact
from memories import model_calls
from memories.context import pace
from memories.jobs import job_runs
from memories.models import Batch, Consolidation, Memory, Outage
from memories.pipeline import buffer
from memories.providers import factory
from memories.providers.errors import ProviderError, RefusedError, TransientError
from memories.providers.factory import embedder
from memories.queue import enqueue
from memories.search.vectors import waiting_users

log = logging.getLogger(__name__)

# Twice the interval of the job, so that a late run misses nothing; comparing again is harmless.
SUGGEST_BACK = timedelta(hours=2)
# End users for whom one sweep queues embedding: when the model server is down, so many calls fail.
EMBED_AT_ONCE = 100
# A user with so many waiting tasks gets no embedding task; fewer may wait for any busy user.
CROWDED = 5
# Unread memories whose users one sweep looks up.
SWEPT = 1000


def sweep() -> dict[str, int]:
    """Queues what no message will trigger: idle users, failed tries that are due, the work of dead
    workers, memories that wait for a vector, and jobs that stopped midway.

    Users with a waiting task are left to a later sweep, so that the queue does not grow while there
    are too few workers; embedding, which no other task may ever do, is queued behind up to four.
    Returns how many tasks of each kind it queued, and what it quarantined."""
    now = timezone.now()
    if cells.current() != cells.SHARED:
        placement.bring_copies(cells.current())
    buried = Batch.objects.bury(now) + Consolidation.objects.bury(now)
    _probe_refusing_models(now)
    pace.measure(now)
    ready = Q(last_message_at__lte=now - buffer.IDLE) | Q(due_seq__gt=F("extracted_seq"))
    idle = EndUser.objects.unextracted().filter(ready)
    left = Batch.objects.claimable(now)
    queued = users_waiting()
    users = {*idle.values_list("pk", flat=True), *left.values_list("end_user", flat=True)} - queued
    refused = model_calls.is_refused(embedder())
    unembedded = [] if refused else waiting_users(embedder().space)[:EMBED_AT_ONCE]
    crowded = users_waiting(CROWDED)
    unread = Memory.objects.filter(unread=True, status="active").values_list("end_user", flat=True)
    unconsolidated = Consolidation.objects.claimable(now).values_list("end_user", flat=True)
    due: dict[str, Sequence[int]] = {
        "extract": sorted(users),
        "embed": [pk for pk in unembedded if pk not in crowded],
        "consolidate": sorted(set(unconsolidated) - queued),
        "reread": sorted(set(unread[:SWEPT]) - queued),
    }
    for task, end_user_ids in due.items():
        for end_user_id in end_user_ids:
            enqueue(task, end_user_id)
    stopped = job_runs.left_lying(now)
    for job in stopped:
        enqueue("resume_job", job)
    counts = {task: len(end_user_ids) for task, end_user_ids in due.items()}
    return {**counts, "resume": len(stopped), "quarantined": buried}


def _probe_refusing_models(now: datetime) -> None:
    """Sends a probe to each model that refused all requests. If it accepts, or the settings do not
    name it any more, its outage is deleted and all work that was refused becomes due."""
    for outage in Outage.objects.all():
        probe = factory.probes().get((outage.provider, outage.model))
        try:
            if probe is not None:
                probe()
        except (RefusedError, TransientError):
            continue
        except ProviderError as error:
            log.info("%s refused the probe alone: %s", outage, error.reason)
        outage.delete()
        for model in (Batch, Consolidation):
            model.objects.refused().update(retry_at=now)


def suggest_merges() -> dict[str, int]:
    """Queues ``suggest`` for every end user with contacts that changed lately and after it ran, in
    case the change did not queue it; returns how many users."""
    changed = Contact.objects.standing().filter(updated_at__gte=timezone.now() - SUGGEST_BACK)
    left = Q(end_user__suggested_at=None) | Q(end_user__suggested_at__lt=F("updated_at"))
    changed = changed.filter(left)
    users = sorted(set(changed.values_list("end_user", flat=True)))
    for end_user_id in users:
        enqueue("suggest", end_user_id)
    return {"users": len(users)}
