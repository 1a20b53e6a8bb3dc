"""Finding work that nothing else triggers, and queueing it."""

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
# End users whose vectors a sweep asks for: when the model server is down, so many calls fail.
EMBED_AT_ONCE = 100
# So many tasks of one end user are not joined by another: they may be a busy user's at any moment.
CROWDED = 5
# Memories that wait to be read of which a sweep looks up the users.
SWEPT = 1000


def sweep() -> dict[str, int]:
    """Queues what no message will trigger: idle users, failed tries that are due, what a dead
    worker left behind, memories that wait for a vector, and jobs that stopped midway.

    A user of whom a task waits already has the rest queued by a later sweep, so that the queue
    does not grow while there are too few workers; vectors, which no other task may ever fill, wait
    behind a few. Returns how many tasks of each kind it queued.
    """
    now = timezone.now()
    if cells.current() != cells.SHARED:
        placement.bring_copies(cells.current())
    buried = Batch.objects.bury(now) + Consolidation.objects.bury(now)
    _probe(now)
    pace.measure(now)
    ready = buffer.idle_users(now) | Q(due_seq__gt=F("extracted_seq"))
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
    del due["reread"]
    counts = {task: len(end_user_ids) for task, end_user_ids in due.items()}
    return {**counts, "resume": len(stopped), "quarantined": buried}


def _probe(now: datetime) -> None:
    """Asks the models that refused everything whether they still do; where one takes a request,
    or is not named by the settings any more, all that waited for one is due."""
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
    """Queues ``suggest`` for every end user whose contacts changed lately and after it ran, where
    what changed them did not; returns how many."""
    changed = Contact.objects.standing().filter(updated_at__gte=timezone.now() - SUGGEST_BACK)
    left = Q(end_user__suggested_at=None) | Q(end_user__suggested_at__lt=F("updated_at"))
    changed = changed.filter(left)
    users = sorted(set(changed.values_list("end_user", flat=True)))
    for end_user_id in users:
        enqueue("suggest", end_user_id)
    return {"users": len(users)}
