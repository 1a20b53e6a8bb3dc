"""Activity: who did what, over all end users that an operator may see; and receipts of erasures,
which prove what was erased without a word of it."""

import csv
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render, resolve_url
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import cells, paging
from accounts.models import Change, EndUser
from dashboard import access, pager, words
from dashboard.queries import activity as queries
from dashboard.queries import changes
from memories.erasure.receipts import of_user
from memories.models import Erasure, Receipt

LATEST_ERASED = ("-erased_at", "id")
MOST_TYPED = 200  # characters of what is looked for
DAYS = 90  # shown where no day is chosen, so that a long history costs nothing
MOST_ROWS = 10_000  # of a file
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs a cell that begins so


class Filter(forms.Form):
    """Which changes are shown."""

    by = forms.ChoiceField(label=gettext_lazy("By"), required=False)
    verb = forms.ChoiceField(label=gettext_lazy("Kind"), required=False)
    whose = forms.CharField(label=gettext_lazy("End user"), required=False, max_length=200)
    person = forms.CharField(
        label=gettext_lazy("Person"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"data-key": "/"}),
    )
    since = forms.DateField(
        label=gettext_lazy("From"), required=False, widget=forms.DateInput({"type": "date"})
    )
    until = forms.DateField(
        label=gettext_lazy("Until"), required=False, widget=forms.DateInput({"type": "date"})
    )


def _filter(request: HttpRequest) -> Filter:
    """The filter of the address; without days, the last DAYS."""
    sent = request.GET.copy()
    if not sent.get("since") and not sent.get("until"):
        sent["since"] = (timezone.localdate() - timedelta(days=DAYS)).isoformat()
    form: Any = Filter(sent)
    apps = list(access.apps_of(request))
    people = queries.operators(apps, limited=hasattr(request.user, "operator"))
    form.fields["by"].choices = [
        ("", _("Anybody")),
        (_("Groups"), [
            (queries.OPERATORS, _("All operators")), (queries.APPS, _("All apps")),
            (queries.USERS, _("The end users themselves")), (queries.JOBS, _("Jobs of Mio")),
        ]),
        (_("Operators"), [(words.OPERATOR + name, name) for name in people]),
        (_("Apps"), [(words.APP + app.name, app.name) for app in apps]),
    ]  # fmt: skip
    kinds = [(verb, words.in_words(words.VERBS, verb)) for verb in words.VERBS]
    form.fields["verb"].choices = [("", _("Anything")), *sorted(kinds, key=lambda kind: kind[1])]
    return form


def _rows(request: HttpRequest, form: Filter) -> QuerySet[Change]:
    return queries.matching(access.end_users_of(request), **form.cleaned_data)


@access.page
def activity(request: HttpRequest) -> HttpResponse:
    """The latest changes that the filter lets through."""
    form = _filter(request)
    context: dict[str, Any] = {"form": form, "away": access.cells_away(), "days": DAYS}
    if not form.is_valid():
        return render(request, "activity/list.html", context, status=422)
    with cells.everywhere():
        page = pager.page_of(request, _rows(request, form), queries.ORDER)
    about = changes.about(page.rows, words.language_of())
    context |= {"page": page, "about": about, "most_rows": MOST_ROWS}
    return render(request, "activity/list.html", context)


@access.page
def as_csv(request: HttpRequest) -> HttpResponse:
    """The latest MOST_ROWS as a file: ids and words of Mio, nothing that was said in a chat."""
    form = _filter(request)
    if not form.is_valid():
        return render(request, "activity/list.html", {"form": form, "days": DAYS}, status=422)
    with cells.everywhere():
        rows = _rows(request, form).order_by(*queries.ORDER)
        latest = paging.first_of_cells(rows, queries.ORDER, MOST_ROWS)
    headers = {"Content-Disposition": 'attachment; filename="mio-activity.csv"'}
    answer = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    file = csv.writer(answer)
    file.writerow(
        ["time", "app", "end_user", "actor", "kind", "subjects", "change", "undone", "undone_by"]
    )
    for row in latest:
        values = [
            _exact(row.created_at), row.end_user.app.name, row.end_user.external_id, row.actor,
            row.verb, " ".join(row.subjects),
            resolve_url("dashboard:change", row.end_user_id, row.pk),
            _exact(row.undone_at), row.undone_by,
        ]  # fmt: skip
        file.writerow([f"'{one}" if one.startswith(FORMULA) else one for one in values])
    return answer


def _exact(moment: Any) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else ""


@access.page
def change(request: HttpRequest, end_user: EndUser, change: UUID) -> HttpResponse:
    """One change: what it was about, who made it and why, with its Undo."""
    row = get_object_or_404(Change.objects.of(end_user).defer("rows"), pk=change)
    row.end_user = end_user
    about = changes.about([row], words.language_of())
    context = {"end_user": end_user, "change": row, "about": about}
    return render(request, "activity/change.html", context)


def _visible(request: HttpRequest) -> QuerySet[Receipt]:
    """The receipts of the apps that this person may see."""
    rows = Receipt.objects.select_related("end_user", "app")
    if not hasattr(request.user, "operator"):
        return rows
    return rows.filter(app__in=list(access.apps_of(request).values_list("pk", flat=True)))


@access.page
def receipts(request: HttpRequest) -> HttpResponse:
    """The latest receipts, or those with this id or of whoever had this id in their app."""
    rows, wanted = _visible(request), request.GET.get("q", "").strip()[:MOST_TYPED]
    if ids := access.valid_ids([wanted]):
        rows = rows.filter(pk__in=ids)
    elif wanted:
        rows = of_user(rows, wanted, access.apps_of(request).values_list("pk", flat=True))
    with cells.everywhere():
        page = pager.page_of(request, rows, LATEST_ERASED)
    context = {"page": page, "q": wanted, "away": access.cells_away()}
    return render(request, "receipts/list.html", context)


@access.page
def receipt(request: HttpRequest, receipt: UUID) -> HttpResponse:
    """One receipt, to print or to give to whoever asked."""
    with cells.everywhere():
        rows = paging.first_of_cells(_visible(request).filter(pk=receipt), LATEST_ERASED, 1)
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
    path("activity/", activity, name="activity"),
    path("activity/csv/", as_csv, name="activity-csv"),
    path("receipts/", receipts, name="receipts"),
    path("receipts/<uuid:receipt>/", receipt, name="receipt"),
    path("u/<int:user>/changes/<uuid:change>/", change, name="change"),
]
