"""Decorators of the end user's own page: who may open it, and the headers of its answers."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.constants import NONCE, NONE, SELF
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language, override
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from accounts.cells import Moving
from memories.api import own_page
from memories.api.own_page import Visit, Void
from understanding.languages import locale

View = Callable[..., HttpResponse]


def page(view: View) -> Any:
    """Decorates a page (GET). Its ``render`` is the view itself, for an action that shows it."""
    visited: Any = _with_visit(view, ["GET", "HEAD"])
    visited.render = view
    return visited


def action(view: View) -> View:
    """Decorates a correction (POST)."""
    return _with_visit(view, ["POST"])


def show(request: HttpRequest, template: str, visit: Visit | None, **context: Any) -> HttpResponse:
    """Renders a page from its template without the request, so that no session is read."""
    status = context.pop("status", 200)
    context |= {"visit": visit, "nonce": request.csp_nonce, "LANGUAGE_CODE": get_language()}  # type: ignore[attr-defined]
    return HttpResponse(render_to_string(f"me/{template}.html", context), status=status)


def _with_visit(view: View, methods: list[str]) -> View:
    """Gives a view its visit. Needs no CSRF token: no cookie opens it, its address is secret."""

    @csrf_exempt
    @require_http_methods(methods)
    @wraps(view)
    def visited(request: HttpRequest, token: str, **named: Any) -> HttpResponse:
        request.path = request.path_info = "/me/"  # logs must not contain the address
        origin = ""
        try:
            with own_page.opened(token, writes=request.method == "POST") as visit:
                origin = visit.origin
                with override(locale(visit.language) if visit.language else get_language()):
                    try:
                        reply = view(request, visit, **named)
                    except Http404:
                        reply = show(request, "closed", visit, status=404)
        except Void:
            reply = show(request, "closed", None, status=404)
        except Moving:
            reply = show(request, "closed", None, moving=True, status=503)
        return _sealed(reply, origin)

    return visited


def _sealed(reply: HttpResponse, origin: str) -> HttpResponse:
    """Adds headers against caches, indexes and referrers; ``origin`` may embed the page."""
    patch_cache_control(reply, private=True, no_store=True)
    reply["Referrer-Policy"] = "no-referrer"
    reply["X-Robots-Tag"] = "noindex, nofollow"
    reply.xframe_options_exempt = bool(origin)
    reply._csp_replace = {  # type: ignore[attr-defined]
        "script-src": [NONE],
        "style-src": [SELF, NONCE],
        "frame-ancestors": [origin or NONE],
    }
    return reply
