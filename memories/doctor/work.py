"""The doctor's checks of messages and of the work on them."""

from collections.abc import Iterator

from django.db.models import Q
from django.utils import timezone

from memories.doctor.findings import GRACE, Check, Finding, Fix, stated
from memories.jobs import job_runs, schedules, sweep
from memories.models import Batch, Consolidation, JobRun, Work

messages_have_no_gaps = stated(
    "messages_have_no_gaps", "messages are missing or numbered with gaps"
)


batches_have_no_gaps = stated("batches_have_no_gaps", "batches leave out messages")


def no_work_is_abandoned() -> Iterator[Finding]:
    """No batch or consolidation is held by a worker that is gone, or was left to lie."""
    now = timezone.now()
    left = Q(state=Work.State.RUNNING, leased_until__lte=now - GRACE) | Q(
        state=Work.State.FAILED, retry_at__lte=now - GRACE
    )
    for model in (Batch, Consolidation):
        for end_user, pk in model.objects.filter(left).values_list("end_user_id", "pk"):
            name = model._meta.model_name
            yield Finding(end_user, f"{name} {pk}", "was left by its worker")


def no_job_is_abandoned() -> Iterator[Finding]:
    """No maintenance job is held by a process that is gone: the sweep would have gone on."""
    held = JobRun.objects.filter(state=JobRun.State.RUNNING)
    for run in held.filter(leased_until__lte=timezone.now() - GRACE):
        yield Finding(None, f"job {run.job}", "was left by its process")


def schedules_are_installed() -> Iterator[Finding]:
    """The queue's periodic jobs are those of the table."""
    if schedules.installed() != schedules.SCHEDULES:
        yield Finding(None, None, "the installed schedules differ from the table")


CHECKS: dict[Check, Fix | None] = {
    messages_have_no_gaps: None,
    batches_have_no_gaps: None,
    no_work_is_abandoned: lambda _findings: sweep.sweep(),
    no_job_is_abandoned: lambda _findings: job_runs.end_dead(timezone.now()),
    schedules_are_installed: lambda _findings: schedules.install(),
}
