"""The probes for monitors: whether the process is alive and ready."""

from django.db import Error
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from accounts.errors import envelope
from mio_site.readiness import Unready, own_connection, parts


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is asked."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Whether each part is ready, or each of those in ``?parts=``; 503 where one is not."""
    known = parts()
    wanted = [part for part in request.GET.get("parts", "").split(",") if part] or list(known)
    if not set(wanted) <= known.keys():
        message = f"parts are any of {', '.join(known)}, with commas."
        return JsonResponse(envelope("invalid", message), status=400)
    with own_connection() as own:
        failures = {part: _failure(part, own) for part in wanted}
    texts = {part: str(failure or "ok") for part, failure in failures.items()}
    first = next(filter(None, failures.values()), None)
    if first is None:
        return JsonResponse({"status": "ok", "parts": texts})
    return JsonResponse({**envelope(first.code, str(first)), "parts": texts}, status=503)


def _failure(part: str, own: BaseDatabaseWrapper) -> Unready | None:
    try:
        parts()[part](own)
    except Unready as unready:
        return unready
    except Error:
        return Unready("no_database", "The database does not answer.")
    return None
