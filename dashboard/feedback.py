"""Messages that a page shows after an action, and the address to return to."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts.models import Change
from accounts.reasons import Reason
from dashboard import words
from memories.erasure.receipts import Forgotten
from understanding.text import one_line

LONGEST = 60  # characters of a name or value in a sentence


def isolated(text: str) -> str:
    """Returns somebody else's words for our sentence: one short line, its direction isolated."""
    return f"\u2068{one_line(text, LONGEST)}\u2069"


def _filled(text: str, values: dict[str, Any]) -> str:
    """Returns the text with its placeholders filled; strings are shortened and isolated."""
    shown_values = {
        key: isolated(one) if isinstance(one, str) else one for key, one in values.items()
    }
    return text % shown_values if shown_values else text


def done(request: HttpRequest, text: str, *changes: Change | None, **holes: Any) -> None:
    """Shows what was done, with ``holes`` filled into the text and one Undo of all ``changes``."""
    rows = [change for change in changes if change is not None]
    tags = " ".join(["undo", str(rows[0].end_user_id), *(str(c.pk) for c in rows)]) if rows else ""
    messages.success(request, _filled(text, holes), extra_tags=tags)


def refused(request: HttpRequest, why: Reason | str, **holes: Any) -> None:
    """Shows an error message: a reason, or a text of the page whose placeholders ``holes`` fill."""
    messages.error(request, _filled(words.reason(why), holes))


def erased(request: HttpRequest, gone: Forgotten, name: str = "") -> None:
    """Shows how much was erased for good; ``name`` is that of an end user erased entirely."""
    counts = [
        ngettext("%(n)d person", "%(n)d people", gone.contacts) % {"n": gone.contacts},
        ngettext("%(n)d memory", "%(n)d memories", gone.memories) % {"n": gone.memories},
        ngettext("%(n)d message", "%(n)d messages", gone.messages) % {"n": gone.messages},
    ]
    holes = {"counts": pgettext("list", ", ").join(counts), "user": isolated(name)}
    text = _("Erased %(user)s for good: %(counts)s.") if name else _("Erased for good: %(counts)s.")
    if gone.unsure:
        text += " " + ngettext(
            "%(n)d may be about them as well: decide below.",
            "%(n)d may be about them as well: decide below.",
            gone.unsure,
        ) % {"n": gone.unsure}
    messages.success(request, text % holes)


def back(request: HttpRequest, otherwise: str, *args: object) -> HttpResponse:
    """Redirects to the address that the form named in ``next``, else to the view ``otherwise``."""
    wanted = own_address(request, request.POST.get("next", ""))
    return HttpResponseRedirect(wanted or resolve_url(otherwise, *args))


def page_of(request: HttpRequest, *, asked: bool = True) -> str:
    """Returns the address of the page that a form was sent from: its ``next`` (first if ``asked``,
    else last), what the browser sends as such, or "/"."""
    form = [request.POST.get("next", "")]
    browser = [request.headers.get(name, "") for name in ("HX-Current-URL", "Referer")]
    addresses = (own_address(request, one) for one in (form + browser if asked else browser + form))
    return next(filter(None, addresses), "/")


def own_address(request: HttpRequest, address: str) -> str:
    """Returns the address if it is one of this site, else ""."""
    safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure())
    return address if safe else ""
