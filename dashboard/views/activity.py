"""Pages of changes with their undo, and of receipts of erasures, which quote nothing erased."""

import csv
from collections.abc import Sequence
from datetime import UTC, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts import cells, paging
from accounts.cells import atomic
from accounts.models import Change, EndUser
from accounts.rollback import LaterChanges, later_changes
from dashboard import access, feedback, pager, words
from dashboard.forms import MAX_SEARCH, typed
from dashboard.queries import changes as queries
from dashboard.words import language_of
from memories.corrections.undo import undo_change
from memories.erasure.receipts import of_user
from memories.models import Erasure, Receipt

LATEST_ERASED = ("-erased_at", "id")
DAYS = 90  # shown if no day is chosen, so that a long history costs nothing
MOST_ROWS = 10_000  # of a file
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how cells begin that a spreadsheet runs


class Filter(forms.Form):
    """The form that filters the list of changes."""

    by = forms.ChoiceField(label=gettext_lazy("By"), required=False)
    verb = forms.ChoiceField(label=gettext_lazy("Kind"), required=False)
    whose = forms.CharField(
        label=gettext_lazy("End user"),
        required=False,
        max_length=MAX_SEARCH,
        widget=forms.TextInput({"placeholder": gettext_lazy("ID in the app")}),
    )
    person = forms.CharField(
        label=gettext_lazy("Person"),
        required=False,
        max_length=MAX_SEARCH,
        widget=forms.TextInput({"data-key": "/", "placeholder": gettext_lazy("Name")}),
    )
    since = forms.DateField(
        label=gettext_lazy("From"), required=False, widget=forms.DateInput({"type": "date"})
    )
    until = forms.DateField(
        label=gettext_lazy("Until"), required=False, widget=forms.DateInput({"type": "date"})
    )


def _filter(request: HttpRequest) -> Filter:
    """Returns the filter form of the address; without days it covers the last DAYS."""
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


def _matching_changes(request: HttpRequest, form: Filter) -> QuerySet[Change]:
    return queries.matching(access.end_users_of(request), **form.cleaned_data)


@access.page
def activity(request: HttpRequest) -> HttpResponse:
    """Lists the latest changes that match the filter."""
    form = _filter(request)
    context: dict[str, Any] = {"form": form, "days": DAYS}
    if not form.is_valid():
        return render(request, "activity/list.html", context, status=422)
    with cells.everywhere():
        page = pager.page_of(request, _matching_changes(request, form), queries.ORDER)
    about = queries.about(page.rows, language_of())
    context |= {"page": page, "about": about, "most_rows": MOST_ROWS}
    return render(request, "activity/list.html", context)


@access.page
def as_csv(request: HttpRequest) -> HttpResponse:
    """Returns the latest MOST_ROWS changes as a CSV file: ids and words of Mio, none of a chat."""
    form = _filter(request)
    if not form.is_valid():
        return render(request, "activity/list.html", {"form": form, "days": DAYS}, status=422)
    with cells.everywhere():
        rows = _matching_changes(request, form).order_by(*queries.ORDER)
        latest = paging.first_of_cells(rows, queries.ORDER, MOST_ROWS)
    headers = {"Content-Disposition": 'attachment; filename="mio-activity.csv"'}
    answer = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    file = csv.writer(answer)
    file.writerow(
        ["time", "app", "end_user", "actor", "kind", "subjects", "change", "undone", "undone_by"]
    )
    for row in latest:
        values = [
            _utc_time(row.created_at), row.end_user.app.name, row.end_user.external_id, row.actor,
            row.verb, " ".join(row.subjects),
            resolve_url("dashboard:change", row.end_user_id, row.pk),
            _utc_time(row.undone_at), row.undone_by,
        ]  # fmt: skip
        file.writerow([f"'{one}" if one.startswith(FORMULA) else one for one in values])
    return answer


def _utc_time(moment: Any) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else ""


@access.page
def change(request: HttpRequest, end_user: EndUser, change: UUID) -> HttpResponse:
    """The page of one change: what it was about, who made it and why, with its Undo."""
    row = get_object_or_404(Change.objects.of(end_user).defer("rows"), pk=change)
    row.end_user = end_user
    about = queries.about([row], language_of())
    context = {"end_user": end_user, "change": row, "about": about}
    return render(request, "activity/change.html", context)


def _receipts_of(request: HttpRequest) -> QuerySet[Receipt]:
    """Returns the receipts of the apps that this operator may see."""
    rows = Receipt.objects.select_related("end_user", "app")
    if not hasattr(request.user, "operator"):
        return rows
    return rows.filter(app__in=list(access.apps_of(request).values_list("pk", flat=True)))


@access.page
def receipts(request: HttpRequest) -> HttpResponse:
    """Lists the latest receipts, or those found by their id or by the user's id in the app."""
    rows, wanted = _receipts_of(request), typed(request)
    if ids := access.valid_ids([wanted]):
        rows = rows.filter(pk__in=ids)
    elif wanted:
        rows = of_user(rows, wanted, access.apps_of(request).values_list("pk", flat=True))
    with cells.everywhere():
        page = pager.page_of(request, rows, LATEST_ERASED)
    context = {"page": page, "q": wanted}
    return render(request, "receipts/list.html", context)


@access.page
def receipt(request: HttpRequest, receipt: UUID) -> HttpResponse:
    """The page of one receipt, to print or to give to the person who asked."""
    with cells.everywhere():
        rows = paging.first_of_cells(_receipts_of(request).filter(pk=receipt), LATEST_ERASED, 1)
    if not rows:
        raise Http404
    row = rows[0]
    undecided = 0
    if row.end_user_id:
        with cells.entered(row._state.db or cells.SHARED):
            for report in Erasure.objects.of(row.end_user_id).filter(pk=row.pk):
                undecided = len(report.unsure_message_ids) + len(report.unsure_contact_ids)
    return render(request, "receipts/one.html", {"receipt": row, "left": undecided})


@access.page
def changes(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Lists all changes of an end user, the latest first."""
    rows = Change.objects.of(end_user).defer("rows")
    by = request.GET.get("by", "")
    if by in queries.GROUPS:
        rows = rows.filter(queries.GROUPS[by])
    page = pager.page_of(request, rows, queries.ORDER)
    about = queries.about(page.rows, language_of())
    context = {"end_user": end_user, "page": page, "about": about, "by": by}
    return render(request, "changes.html", context)


@access.page
def life_changes(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """The page of what changed in the lives of an end user and their people, by which memories."""
    context = {"end_user": end_user, "found": queries.life_changes(end_user, language_of())}
    return render(request, "lives.html", context)


@access.page
def later(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """The page of the changes that an Undo reverts, and of the later ones that go with them."""
    chosen = _chosen_changes(end_user, request.GET.getlist("change"))
    later_by_id = {one.pk: one for change in chosen for one in later_changes(change)}
    others = sorted(later_by_id.values(), key=lambda one: one.created_at, reverse=True)
    context = {
        "end_user": end_user,
        "changes": chosen,
        "later": [one for one in others if one not in chosen],
        "about": queries.about([*chosen, *others], language_of()),
        "next": feedback.own_address(request, request.GET.get("next", "")),
    }
    return render(request, "later_changes.html", context)


@access.action(token=False)
def undo(request: HttpRequest, end_user: EndUser, change: UUID) -> HttpResponse:
    """Undoes a change."""
    row = get_object_or_404(Change.objects.of(end_user), pk=change)
    return _undo_changes(request, end_user, [row])


@access.action(token=False)
def undo_all(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Undoes the changes of one action, all or none; ``with_later``: also later ones in the way."""
    rows = _chosen_changes(end_user, request.POST.getlist("change"))
    return _undo_changes(request, end_user, rows, with_later=bool(request.POST.get("with_later")))


def _chosen_changes(end_user: EndUser, ids: Sequence[str]) -> list[Change]:
    """Returns the end user's changes with these ids, newest first."""
    rows = Change.objects.of(end_user).filter(pk__in=access.valid_ids(ids))
    return list(rows.order_by("-created_at", "pk"))


def _undo_changes(
    request: HttpRequest, end_user: EndUser, rows: Sequence[Change], *, with_later: bool = False
) -> HttpResponse:
    """Undoes changes in this order, all or none; redirects to the page of later ones in the way."""
    undone = 0
    try:
        with atomic():
            for row in rows:
                row.refresh_from_db(fields=["undone_at"])
                if undone and row.undone_at:
                    continue  # undone already, as a later change of another row
                others = undo_change(row, actor=access.actor(request), with_later=with_later)
                undone += 1 + len(others)
    except LaterChanges:
        asked = {"change": [row.pk for row in rows], "next": request.POST.get("next", "")}
        address = resolve_url("dashboard:later", end_user.pk)
        return redirect(f"{address}?{urlencode(asked, doseq=True)}")
    if with_later:
        message = ngettext("%(n)d change undone.", "%(n)d changes undone.", undone)
        feedback.done(request, message, n=undone)
    else:
        feedback.done(request, _("Undone."))
    return feedback.back(request, "dashboard:changes", end_user.pk)


urls = [
    path("activity/", activity, name="activity"),
    path("activity/csv/", as_csv, name="activity-csv"),
    path("receipts/", receipts, name="receipts"),
    path("receipts/<uuid:receipt>/", receipt, name="receipt"),
    path("u/<int:user>/changes/", changes, name="changes"),
    path("u/<int:user>/changes/lives/", life_changes, name="lives"),
    path("u/<int:user>/changes/later/", later, name="later"),
    path("u/<int:user>/changes/undo/", undo_all, name="undo_all"),
    path("u/<int:user>/changes/<uuid:change>/", change, name="change"),
    path("u/<int:user>/changes/<uuid:change>/undo/", undo, name="undo"),
]
