"""The work of the pipeline as rows to look at."""

from django.db.models import Q, QuerySet

from accounts.models import EndUser
from dashboard.queries.home import cost_of
from memories.models import Batch, Consolidation, ModelCall, Work


def batches(users: QuerySet[EndUser], state: str) -> QuerySet[Batch]:
    """Extraction batches, in ``state`` where it is one."""
    rows = Batch.objects.filter(end_user__in=users).select_related("end_user__app")
    return rows.filter(state=state) if state in Work.State else rows


def consolidations(users: QuerySet[EndUser], state: str) -> QuerySet[Consolidation]:
    """Consolidations, in ``state`` where it is one."""
    rows = Consolidation.objects.filter(end_user__in=users)
    rows = rows.select_related("end_user__app", "contact")
    rows = rows.defer(
        "contact__memory_ids",
    )
    return rows.filter(state=state) if state in Work.State else rows


def calls(users: QuerySet[EndUser], kind: str, outcome: str) -> QuerySet[ModelCall]:
    """Calls of language models, or with ``kind`` "embed" of embedders; with ``outcome`` "failed"
    only those that did not succeed."""
    rows = ModelCall.objects.filter(end_user__in=users).select_related("end_user__app")
    embedding = Q(purpose="embed")
    rows = rows.filter(embedding if kind == "embed" else ~embedding)
    return rows.exclude(outcome__in=ModelCall.FINE) if outcome == "failed" else rows


def priced(rows: list[ModelCall]) -> list[tuple[ModelCall, float | None]]:
    """Model calls with what each cost in US dollars, None where the price is not known."""
    return [(row, cost_of(row.model, row.tokens_in, row.tokens_out)) for row in rows]
