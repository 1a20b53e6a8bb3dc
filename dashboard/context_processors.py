"""What every page of the dashboard shows around its own content."""

from typing import Any

from django.db.models import Exists, OuterRef, Value
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts import cells
from accounts.models import EndUser
from accounts.scope import all_users
from dashboard import access
from dashboard.models import ADMINISTER, CORRECT, LOOK
from dashboard.queries import review

CURRENT = "end_user"  # of the session: the end user looked at last
THEME = "theme"  # the cookie


@all_users()
def chrome(request: HttpRequest) -> dict[str, Any]:
    """The current end user (of the address, else looked at last), rights, theme and cells."""
    user = getattr(request, "user", None)
    match = request.resolver_match
    if user is None or not user.is_authenticated:
        return {"theme": request.COOKIES.get(THEME, "")}
    if match is not None and match.namespace != "dashboard":
        return {}
    named = match.kwargs.get("user") if match else None
    pk = named or request.session.get(CURRENT)
    current = _current(request, pk, may_be_other=not named)
    if named and current and request.session.get(CURRENT) != current.pk:
        request.session[CURRENT] = current.pk
    choices = access.cells_to_choose()
    return {
        "current": current,
        "may_look": user.has_perm(LOOK),
        "may_correct": user.has_perm(CORRECT),
        "may_administer": user.has_perm(ADMINISTER),
        "theme": request.COOKIES.get(THEME, ""),
        "here": match.url_name if match else "",
        "cells": choices,
        "away": [name for name, is_away in choices if is_away],
        "cell": cells.current(),
        "cell_page": "" if named else request.path,
        "to_review": SimpleLazyObject(lambda: _to_review(request)),
    }


@all_users()
def _to_review(request: HttpRequest) -> str:
    """How many decisions wait, "" for none. One statement, of the pages that show it."""
    with access.entered_cell(request, {}):
        if access.is_away():
            return ""
        waiting = sum(review.capped(review.queues(access.end_users_of(request))).values())
    return f"{review.MOST}+" if waiting > review.MOST else str(waiting or "")


def _current(request: HttpRequest, pk: int | None, *, may_be_other: bool) -> EndUser | None:
    others = access.apps_of(request).filter(archived_at=None).exclude(pk=OuterRef("app"))
    several = Value(True) if cells.several() else Exists(others)
    visible, current = access.end_users_of(request).annotate(several_apps=several), None
    if pk:
        with access.entered_cell(request, {"user": pk}):
            current = None if access.is_away() else visible.filter(pk=pk).first()
    if current is None and may_be_other:
        with access.entered_cell(request, {}):
            latest = visible.exclude(last_message_at=None).order_by("-last_message_at", "pk")
            current = None if access.is_away() else latest.first()
    return current
