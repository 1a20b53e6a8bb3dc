"""One search over people, end users and memories, wherever they are."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from accounts import cells
from dashboard import access, cell_picker, fragments
from dashboard.queries import everywhere
from dashboard.views.picking import typed


@access.page
def find(request: HttpRequest) -> HttpResponse:
    """What was found of each kind, in one's own apps."""
    q = typed(request)
    visible = access.end_users_of(request)
    with cells.everywhere():
        results = everywhere.found(visible, q)
    context = {"q": q, "found": results, "apart": results.apart, "away": cell_picker.away()}
    template = "_found.html" if fragments.target(request) == "found" else "find.html"
    return render(request, template, context)


urls = [path("find/", find, name="find")]
