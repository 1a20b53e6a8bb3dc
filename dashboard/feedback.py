"""What a page says after an action, and where it leads."""

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


def apart(text: str) -> str:
    """Somebody else's words for a sentence of ours: one short line, its direction isolated."""
    return f"\u2068{one_line(text, LONGEST)}\u2069"


def _filled(text: str, holes: dict[str, Any]) -> str:
    """The text with somebody else's words in its holes, or numbers as they are."""
    values = {key: apart(one) if isinstance(one, str) else one for key, one in holes.items()}
    return text % values if values else text


def done(request: HttpRequest, text: str, *changes: Change | None, **holes: Any) -> None:
    """Says what was done, with ``holes`` in the text; one Undo of all ``changes`` stands beside it."""
    made = [change for change in changes if change is not None]
    tags = " ".join(["undo", str(made[0].end_user_id), *(str(c.pk) for c in made)]) if made else ""
    messages.success(request, _filled(text, holes), extra_tags=tags)


def refused(request: HttpRequest, why: Reason | str, **holes: Any) -> None:
    """Says what could not be done: words of the page with ``holes``, or a reason."""
    messages.error(request, _filled(words.reason(why), holes))


def erased(request: HttpRequest, gone: Forgotten, name: str = "") -> None:
    """Says how much was erased for good, of the end user of this name where all of it was."""
    counts = [
        ngettext("%(n)d person", "%(n)d people", gone.contacts) % {"n": gone.contacts},
        ngettext("%(n)d memory", "%(n)d memories", gone.memories) % {"n": gone.memories},
        ngettext("%(n)d message", "%(n)d messages", gone.messages) % {"n": gone.messages},
    ]
    holes = {"counts": pgettext("list", ", ").join(counts), "user": apart(name)}
    text = _("Erased %(user)s for good: %(counts)s.") if name else _("Erased for good: %(counts)s.")
    if gone.unsure:
        text += " " + ngettext(
            "%(n)d may be about them as well: decide below.",
            "%(n)d may be about them as well: decide below.",
            gone.unsure,
        ) % {"n": gone.unsure}
    messages.success(request, text % holes)


def back(request: HttpRequest, otherwise: str, *args: object) -> HttpResponse:
    """To the address that the form named in ``next``, or to the view named ``otherwise``."""
    wanted = ours(request, request.POST.get("next", ""))
    return HttpResponseRedirect(wanted or resolve_url(otherwise, *args))


def page_of(request: HttpRequest, *, asked: bool = True) -> str:
    """The page that a form was sent from: its ``next`` (first where ``asked``, else last), or what
    the browser says, or the first page."""
    led = [request.POST.get("next", "")]
    seen = [request.headers.get(name, "") for name in ("HX-Current-URL", "Referer")]
    addresses = (ours(request, one) for one in (led + seen if asked else seen + led))
    return next(filter(None, addresses), "/")


def ours(request: HttpRequest, address: str) -> str:
    """The address where it is one of this site, else ""."""
    safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure())
    return address if safe else ""
