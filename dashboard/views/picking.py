"""Choosing a person: a search that answers with radio buttons, for forms of several pages."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from accounts.models import EndUser
from contacts.models import Contact
from dashboard import access, fragments
from dashboard.queries import contacts as queries

MAX_TEXT = 200


def typed(request: HttpRequest, name: str = "q") -> str:
    """What was typed into a search field, harmless and short enough."""
    sent = request.POST if request.method == "POST" else request.GET
    return sent.get(name, "").replace("\0", "").strip()[:MAX_TEXT]


def picker(
    request: HttpRequest, end_user: EndUser, *without: UUID, same: Contact | None = None
) -> dict[str, Any]:
    """What ``contacts/_picker.html`` and ``_picked.html`` show: the people that ``?q=`` finds,
    but those of ``without`` and ``?without=``. Where one is looked for who is the ``same`` as
    somebody (``?same=``), the likeliest come first."""
    ids = [*without, *access.valid_ids(request.GET.getlist("without"))]
    q = typed(request)
    same = access.chosen_contact(end_user, request.GET.get("same", "")) or same
    resent = [(name, value) for name, values in request.GET.lists() for value in values
            if name not in ("q", "without", "same")]  # fmt: skip
    if same is not None:
        picked = queries.likely(end_user, same, q)
    else:
        picked = [queries.Likely(one, None) for one in queries.to_pick(end_user, q, ids)]
    apart = queries.told_apart([end_user.pk], [one.contact.name for one in picked])
    more = len(picked) > queries.PICKED
    return {"q": q, "picked": picked[: queries.PICKED], "more_to_pick": more, "apart": apart, "without": ids,
            "same": same, "kept": resent}  # fmt: skip


@access.page
def pick(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """People to choose from: the fragment for htmx, a page of links without."""
    template = "_picked.html" if fragments.wanted(request) else "pick.html"
    context = {"end_user": end_user, **picker(request, end_user)}
    return render(request, f"contacts/{template}", context)


urls = [path("u/<int:user>/people/pick/", pick, name="pick")]
