"""Another chance for work that died of what passes: an overload, a timeout, a server away."""

from django.db import IntegrityError
from django.db.models import QuerySet

from accounts.cells import atomic
from memories.models import Batch, Consolidation, Work
from memories.pipeline import consolidate
from memories.queue import enqueue

# Tries beyond those that the pipeline makes itself: with one every six hours a model server
# may be away for a week. Then the work waits for an operator, whose retry starts anew.
ROUNDS = 28
# Work handed on in one run; the rest follows with the next.
MOST = 500


def retry_failed() -> dict[str, int]:
    """Gives quarantined batches and consolidations that used up their tries one try more, and
    queues it; returns how many of each.

    What another try can't help (a wrong key, an answer out of form) was quarantined before
    its tries were used up, and is left to the operators. ``attempts`` goes on counting and
    the error stays on the row until the try succeeds, so that everybody sees what is tried.
    """
    return {
        "batches": _retry(_stuck(Batch), "extract"),
        "consolidations": _retry(_stuck(Consolidation), "consolidate"),
    }


def _stuck(model: type[Batch] | type[Consolidation]) -> QuerySet:
    return model.objects.filter(
        state=Work.State.QUARANTINED,
        attempts__range=(Work.MAX_ATTEMPTS, Work.MAX_ATTEMPTS + ROUNDS - 1),
    ).order_by("pk")


def _retry(stuck: QuerySet, task: str) -> int:
    users = set()
    count = 0
    for work in stuck[:MOST]:
        if _still_wanted(work) and _reopen(stuck, work):
            count += 1
            users.add(work.end_user_id)
    for end_user_id in sorted(users):
        enqueue(task, end_user_id)
    return count


def _still_wanted(work: Work) -> bool:
    """A contact may have been consolidated since, merged, or corrected."""
    if isinstance(work, Consolidation):
        return work.contact_id in consolidate.contacts_due(work.end_user_id)
    return True


def _reopen(stuck: QuerySet, work: Work) -> bool:
    """False when another was quicker, or other work for the same contact is open."""
    try:
        with atomic():
            return bool(stuck.filter(pk=work.pk).update(state=Work.State.PENDING, retry_at=None))
    except IntegrityError:
        return False
