"""One search over people, end users and memories."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from dashboard import access, fragments
from dashboard.queries import everywhere
from dashboard.views.picking import typed


@access.page
def find(request: HttpRequest) -> HttpResponse:
    """What was found of each kind, in one's own apps."""
    q = typed(request)
    context = {"q": q, "found": everywhere.found(access.end_users_of(request), q)}
    template = "_found.html" if fragments.target(request) == "found" else "find.html"
    return render(request, template, context)


urls = [path("find/", find, name="find")]
