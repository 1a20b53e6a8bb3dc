"""Which requests are for a part of a page."""

from typing import Any

from django.http import HttpRequest


def wanted(request: HttpRequest) -> bool:
    """Whether a script asks for a part of the page to put into the one that is open.

    A boosted link and the browser's way back want the whole page, though a script sends them.
    """
    asked: Any = request.htmx  # type: ignore[attr-defined]
    return bool(asked) and not asked.boosted and not asked.history_restore_request
