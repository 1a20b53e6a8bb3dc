"""Pages of the pipeline: batches, consolidations, jobs and model calls; retry, cancel, run now."""

from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _

from accounts.cells import atomic
from dashboard import access, feedback, pager
from dashboard.queries.contacts import tell_apart
from dashboard.queries.home import cost_of
from memories import queue
from memories.jobs import runner, schedules
from memories.models import Batch, Consolidation, ModelCall, Work
from memories.pipeline import run

KINDS: dict[str, tuple[type[Batch] | type[Consolidation], str]] = {
    "batch": (Batch, "extract"),
    "consolidation": (Consolidation, "consolidate"),
}


def _page(request: HttpRequest, name: str, **context: Any) -> HttpResponse:
    """Shows the whole page, or only its list for the poll that keeps it live."""
    live = access.wants_part(request)
    template = f"pipeline/_{name}.html" if live else f"pipeline/{name}.html"
    states = Work.State.choices
    return render(request, template, {"tab": name, "states": states, **context})


def _work_page(request: HttpRequest, name: str, model: Any, *related: str) -> HttpResponse:
    """Shows the work of the operator's end users, in the state of ``?state=`` if it is one."""
    rows = model.objects.filter(end_user__in=access.end_users_of(request))
    rows = rows.select_related("end_user__app", *related)
    state = request.GET.get("state", "")
    if state in Work.State:
        rows = rows.filter(state=state)
    if related:
        rows = rows.defer("contact__memory_ids")
    page = pager.page_of(request, rows, ["-id"])
    tell_apart(row.contact for row in page.rows if related)
    return _page(request, name, page=page, rows=page.rows, state=state)


@access.page
def pipeline(request: HttpRequest) -> HttpResponse:
    """Lists extraction batches, the latest first."""
    return _work_page(request, "batches", Batch)


@access.page
def consolidations(request: HttpRequest) -> HttpResponse:
    """Lists consolidations, the latest first."""
    return _work_page(request, "consolidations", Consolidation, "contact")


@access.page
def job_list(request: HttpRequest) -> HttpResponse:
    """Lists the maintenance jobs, failed ones first: last run, effect, next run."""
    jobs = sorted(runner.overview(), key=lambda job: job.state not in ("failed", "dead"))
    return _page(request, "jobs", jobs=jobs)


@access.page
def calls(request: HttpRequest) -> HttpResponse:
    """Lists calls of language models (``?kind=embed``: of embedders), all or only failed ones, the
    latest first, with tokens and US dollars (None without a price)."""
    rows = ModelCall.objects.filter(end_user__in=access.end_users_of(request))
    rows = rows.select_related("end_user__app")
    asked = {name: request.GET.get(name, "") for name in ("kind", "outcome")}
    embedding = Q(purpose="embed")
    rows = rows.filter(embedding if asked["kind"] == "embed" else ~embedding)
    if asked["outcome"] == "failed":
        rows = rows.exclude(outcome__in=ModelCall.FINE)
    page = pager.page_of(request, rows, ["-created_at", "-id"])
    priced = [(row, cost_of(row.model, row.tokens_in, row.tokens_out)) for row in page.rows]
    return _page(request, "calls", page=page, rows=priced, **asked)


def _work_or_404(request: HttpRequest, kind: str, pk: int) -> Work:
    if kind not in KINDS:
        raise Http404
    return get_object_or_404(KINDS[kind][0], end_user__in=access.end_users_of(request), pk=pk)


@access.action(token=False)
def retry(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """Starts failed work again from the beginning."""
    work: Any = _work_or_404(request, kind, pk)
    with atomic():
        if run.retry(work):
            queue.enqueue(KINDS[kind][1], work.end_user_id)
            feedback.done(request, _("Trying again now."))
        else:
            feedback.refused(request, _("It is not waiting for a retry any more."))
    return feedback.back(request, "dashboard:pipeline")


@access.action(token=False)
def cancel(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """Cancels work; a retry brings it back."""
    if run.cancel(_work_or_404(request, kind, pk)):
        feedback.done(request, _("Cancelled. Retry brings it back."))
    else:
        feedback.refused(request, _("It is running or finished, so it can't be cancelled."))
    return feedback.back(request, "dashboard:pipeline")


@access.admin_action(token=False)
def run_job(request: HttpRequest, job: str) -> HttpResponse:
    """Queues a job for the workers now."""
    if job not in schedules.JOBS:
        raise Http404
    queue.enqueue("run_job", job)
    feedback.done(request, _("“%(job)s” starts as soon as a worker is free.") % {"job": job})
    return feedback.back(request, "dashboard:jobs")


urls = [
    path("pipeline/", pipeline, name="pipeline"),
    path("pipeline/consolidations/", consolidations, name="consolidations"),
    path("pipeline/jobs/", job_list, name="jobs"),
    path("pipeline/calls/", calls, name="calls"),
    path("pipeline/<str:kind>/<int:pk>/retry/", retry, name="retry"),
    path("pipeline/<str:kind>/<int:pk>/cancel/", cancel, name="cancel"),
    path("pipeline/jobs/<str:job>/run/", run_job, name="run-job"),
]
