"""Which requests are for a part of a page."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


def wanted(request: HttpRequest) -> bool:
    """Whether a script asks for a part of the page to put into the one that is open.

    A boosted link and the browser's way back want the whole page, though a script sends them.
    """
    asked = HtmxDetails(request)
    return bool(asked) and not asked.boosted and not asked.history_restore_request


def target(request: HttpRequest) -> str | None:
    """The id of the part that a script asks for, if it asks for one."""
    return HtmxDetails(request).target
