"""What a page says after an action: what was done, and the way back."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import Change
from accounts.reasons import Reason
from contacts.text import one_line
from dashboard import words

LONGEST = 60  # characters of a name or value in a sentence


def apart(text: str) -> str:
    """Somebody else's words, to stand inside a sentence of ours: on one line, not long, and
    with a direction of writing of their own (FSI and PDI of UAX #9)."""
    return f"\u2068{one_line(text, LONGEST)}\u2069"


def done(request: HttpRequest, text: str, *changes: Change | None) -> None:
    """Says what was done; with ``changes``, one Undo of all of them stands beside it."""
    made = [change for change in changes if change is not None]
    tags = " ".join(["undo", str(made[0].end_user_id), *(str(c.pk) for c in made)]) if made else ""
    messages.success(request, text, extra_tags=tags)


def refused(request: HttpRequest, why: Reason | str) -> None:
    """Says what could not be done, and why: in words of the page, or of the layers below."""
    messages.error(request, words.reason(why))


def back(request: HttpRequest, otherwise: str, *args: object) -> HttpResponse:
    """To the address that the form named in ``next``, or to the view named ``otherwise``."""
    wanted = ours(request, request.POST.get("next", ""))
    return HttpResponseRedirect(wanted or resolve_url(otherwise, *args))


def ours(request: HttpRequest, address: str) -> str:
    """The address where it is one of this site, else ""."""
    safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure())
    return address if safe else ""
