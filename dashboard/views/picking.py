"""Choosing a person: a search that answers with radio buttons, for forms of several pages."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from accounts.models import EndUser
from dashboard import access, fragments
from dashboard.queries import contacts as queries

MAX_TEXT = 200


def typed(request: HttpRequest, name: str = "q") -> str:
    """What was typed into a search field, harmless and short enough."""
    sent = request.POST if request.method == "POST" else request.GET
    return sent.get(name, "").replace("\0", "").strip()[:MAX_TEXT]


def picker(request: HttpRequest, end_user: EndUser, *without: UUID) -> dict[str, Any]:
    """What ``contacts/_picker.html`` and ``_picked.html`` show: the people that ``?q=`` finds,
    but those of ``without`` and ``?without=``."""
    ids = [*without, *access.valid_ids(request.GET.getlist("without"))]
    q = typed(request)
    kept = [(name, value) for name, values in request.GET.lists() for value in values
            if name not in ("q", "without")]  # fmt: skip
    return {"q": q, "picked": queries.to_pick(end_user, q, ids), "without": ids, "kept": kept}


@access.page
def pick(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """People to choose from: the fragment for htmx, a page of links without."""
    template = "_picked.html" if fragments.wanted(request) else "pick.html"
    context = {"end_user": end_user, **picker(request, end_user)}
    return render(request, f"contacts/{template}", context)


urls = [path("u/<int:user>/people/pick/", pick, name="pick")]
