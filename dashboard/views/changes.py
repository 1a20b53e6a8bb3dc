"""What was changed by whom and why, with the way back."""

from collections.abc import Sequence
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.cells import atomic
from accounts.models import Change, EndUser
from accounts.rollback import LaterChanges, later_changes
from dashboard import access, feedback, pager
from dashboard.access import valid_ids
from dashboard.queries import changes as queries
from dashboard.words import language_of
from memories.corrections.undo import undo_change


@access.page
def changes(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """All changes of an end user, the latest first."""
    rows = Change.objects.of(end_user).defer("rows")
    by = request.GET.get("by", "")
    if by in queries.BY:
        rows = rows.filter(queries.BY[by])
    page = pager.page_of(request, rows, ["-created_at", "id"])
    about = queries.about(page.rows, language_of())
    context = {"end_user": end_user, "page": page, "about": about, "by": by}
    return render(request, "changes.html", context)


@access.page
def in_lives(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """What changed in the lives of an end user and their people, with the memories that tell it."""
    context = {"end_user": end_user, "found": queries.in_lives(end_user, language_of())}
    return render(request, "lives.html", context)


@access.page
def later(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """The changes that one Undo is to take back, and the later ones that go with them."""
    wanted = _wanted(end_user, request.GET.getlist("change"))
    later_by_id = {one.pk: one for change in wanted for one in later_changes(change)}
    others = sorted(later_by_id.values(), key=lambda one: one.created_at, reverse=True)
    context = {
        "end_user": end_user,
        "changes": wanted,
        "later": [one for one in others if one not in wanted],
        "about": queries.about([*wanted, *others], language_of()),
        "next": feedback.ours(request, request.GET.get("next", "")),
    }
    return render(request, "later_changes.html", context)


@access.action(token=False)
def undo(request: HttpRequest, end_user: EndUser, change: UUID) -> HttpResponse:
    """Takes a change back."""
    row = get_object_or_404(Change.objects.of(end_user), pk=change)
    return _take_back(request, end_user, [row])


@access.action(token=False)
def undo_all(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Takes back the changes that one action made, all or none; ``with_later`` also the later
    ones that touched the same rows."""
    rows = _wanted(end_user, request.POST.getlist("change"))
    return _take_back(request, end_user, rows, with_later=bool(request.POST.get("with_later")))


def _wanted(end_user: EndUser, ids: Sequence[str]) -> list[Change]:
    """The changes that are not undone of these, newest first."""
    rows = Change.objects.of(end_user).filter(pk__in=valid_ids(ids))
    return list(rows.order_by("-created_at", "pk"))


def _take_back(
    request: HttpRequest, end_user: EndUser, rows: Sequence[Change], *, with_later: bool = False
) -> HttpResponse:
    """Takes changes back in this order, all or none. Where later ones stand in the way, a page
    names them."""
    undone = 0
    try:
        with atomic():
            for row in rows:
                row.refresh_from_db(fields=["undone_at"])
                if undone and row.undone_at:
                    continue  # as a later one of another of these
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
