"""What was changed by whom and why, with the way back."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from accounts.changes import CannotUndo
from accounts.models import Change, EndUser
from dashboard import access, feedback, pager
from dashboard.access import valid_ids
from dashboard.queries import changes as queries
from dashboard.words import language_of
from memories import queue
from memories.corrections import edit_memories


@access.page
def changes(request: HttpRequest, user: int) -> HttpResponse:
    """All changes of an end user, the latest first."""
    end_user = access.get_end_user(request, user)
    rows = Change.objects.of(end_user).defer("rows")
    page = pager.page_of(request, rows, ["-created_at", "id"])
    about = queries.about(end_user, page.rows, language_of())
    context = {"end_user": end_user, "page": page, "about": about}
    return render(request, "changes.html", context)


@access.action
def undo(request: HttpRequest, user: int, change: UUID) -> HttpResponse:
    """Takes a change back."""
    end_user = access.get_end_user(request, user)
    row = get_object_or_404(Change.objects.of(end_user), pk=change)
    return _take_back(request, end_user, [row])


@access.action
def undo_all(request: HttpRequest, user: int) -> HttpResponse:
    """Takes back the changes that one action made, all or none."""
    end_user = access.get_end_user(request, user)
    wanted = valid_ids(request.POST.getlist("change"))
    rows = Change.objects.of(end_user).filter(pk__in=wanted).order_by("-created_at", "pk")
    return _take_back(request, end_user, rows)


def _take_back(request: HttpRequest, end_user: EndUser, rows: Iterable[Change]) -> HttpResponse:
    """Takes changes back in this order, all or none."""
    try:
        with transaction.atomic():
            for row in rows:
                edit_memories.undo(row, actor=access.actor(request))
    except CannotUndo as error:
        feedback.refused(request, error.reason)
    else:
        queue.enqueue("embed", end_user.pk)
        feedback.done(request, _("Undone."))
    return feedback.back(request, "dashboard:changes", end_user.pk)
