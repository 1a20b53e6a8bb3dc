"""One search over people, end users and memories."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from dashboard import access
from dashboard.queries import everywhere
from dashboard.views.picking import typed


@access.page
def find(request: HttpRequest) -> HttpResponse:
    """What was found of each kind, in one's own apps."""
    q = typed(request)
    context = {"q": q, "found": everywhere.found(access.end_users_of(request), q)}
    listed = request.htmx.target == "found"  # type: ignore[attr-defined]
    return render(request, "_found.html" if listed else "find.html", context)


urls = [path("find/", find, name="find")]
