"""The template variables that every page of the dashboard uses."""

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

CURRENT = "end_user"  # key of the session: the end user looked at last
THEME = "theme"  # name of the cookie


@all_users()
def chrome(request: HttpRequest) -> dict[str, Any]:
    """Returns the current end user (whom the address names, else the one looked at last, which the
    session stores), rights, theme and cells."""
    user = getattr(request, "user", None)
    match = request.resolver_match
    if user is None or not user.is_authenticated:
        return {"theme": request.COOKIES.get(THEME, "")}
    if match is not None and match.namespace != "dashboard":
        return {}
    named = match.kwargs.get("user") if match else None
    pk = named or request.session.get(CURRENT)
    current = _current_end_user(request, pk, or_latest=not named)
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
    """Returns how many decisions wait, "" for none; one statement, only on pages that show it."""
    with access.entered_cell(request, {}):
        if access.is_away():
            return ""
        waiting = review.waiting_count(access.end_users_of(request))
    return f"{review.MOST}+" if waiting > review.MOST else str(waiting or "")


def _current_end_user(request: HttpRequest, pk: int | None, *, or_latest: bool) -> EndUser | None:
    """Returns the end user ``pk``, else (``or_latest``) the one with the latest message."""
    other_apps = access.apps_of(request).filter(archived_at=None).exclude(pk=OuterRef("app"))
    has_other_apps = Value(True) if cells.several() else Exists(other_apps)
    visible, current = access.end_users_of(request).annotate(several_apps=has_other_apps), None
    if pk:
        with access.entered_cell(request, {"user": pk}):
            current = None if access.is_away() else visible.filter(pk=pk).first()
    if current is None and or_latest:
        with access.entered_cell(request, {}):
            latest = visible.exclude(last_message_at=None).order_by("-last_message_at", "pk")
            current = None if access.is_away() else latest.first()
    return current
