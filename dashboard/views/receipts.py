"""Receipts of erasures: proof of what was erased, without a word of it."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from accounts import cells, paging
from dashboard import access, cell_picker, pager
from dashboard.words import ASKERS
from memories.erasure.receipts import By, of_user
from memories.models import Erasure, Receipt

ORDER = ("-erased_at", "id")
MOST = 200  # characters of what is looked for


def by(request: HttpRequest) -> By:
    """Who erases, for whom: as the form that asks before it is done says."""
    asked = request.POST.get("asked_by", "")
    return By(access.actor(request), asked if asked in ASKERS else "")


def _visible(request: HttpRequest) -> QuerySet[Receipt]:
    """The receipts of the apps that this person may see."""
    rows = Receipt.objects.select_related("end_user", "app")
    if not hasattr(request.user, "operator"):
        return rows
    return rows.filter(app__in=list(access.apps_of(request).values_list("pk", flat=True)))


@access.page
def receipts(request: HttpRequest) -> HttpResponse:
    """The latest receipts, or those with this id or of whoever had this id in their app."""
    rows, wanted = _visible(request), request.GET.get("q", "").strip()[:MOST]
    if ids := access.valid_ids([wanted]):
        rows = rows.filter(pk__in=ids)
    elif wanted:
        rows = of_user(rows, wanted, access.apps_of(request).values_list("pk", flat=True))
    with cells.everywhere():
        page = pager.page_of(request, rows, ORDER)
    context = {"page": page, "q": wanted, "away": cell_picker.away()}
    return render(request, "receipts/list.html", context)


@access.page
def receipt(request: HttpRequest, receipt: UUID) -> HttpResponse:
    """One receipt, to print or to give to whoever asked."""
    with cells.everywhere():
        rows = paging.first_of_cells(_visible(request).filter(pk=receipt), ORDER, 1)
    if not rows:
        raise Http404
    row = rows[0]
    left = 0
    if row.end_user_id:
        with cells.entered(row._state.db or cells.SHARED):
            for report in Erasure.objects.of(row.end_user_id).filter(pk=row.pk):
                left = len(report.unsure_message_ids) + len(report.unsure_contact_ids)
    return render(request, "receipts/one.html", {"receipt": row, "left": left})


urls = [
    path("receipts/", receipts, name="receipts"),
    path("receipts/<uuid:receipt>/", receipt, name="receipt"),
]
