"""All errors of the API in one form: ``{"error": {"code", "message", "fields"?}}``."""

import logging
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import (
    ObjectDoesNotExist,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.core.signals import got_request_exception
from django.db import DatabaseError, IntegrityError, OperationalError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions, status
from rest_framework.response import Response

from accounts.cells import Moving
from accounts.citus import broken_constraint
from accounts.reasons import CodedError, Reason

log = logging.getLogger(__name__)

Row = TypeVar("Row", bound=Model)

# PostgreSQL's codes of a lock that timed out, and of a deadlock.
_BUSY = ("55P03", "40P01")
# A standby, or default_transaction_read_only: psycopg calls it an internal error.
_READ_ONLY = "25006"

# Seconds in which most end users are moved to another cell.
MOVED_WITHIN = 2

API_PREFIX = "/api/"
UNREACHED = "There is nothing at this address. Addresses of the API end in a slash."
INTERNAL = "Something went wrong on our side. Nothing was changed by this request."


# Every code that a client may get, with its status and what it means.
CODES = tomllib.loads(Path(__file__).with_name("error_codes.toml").read_text(encoding="utf-8"))


class ApiError(exceptions.APIException):
    """A refusal with a code by which clients distinguish it."""

    def __init__(
        self,
        status_code: int,
        code: str,
        message: str,
        *,
        retry_after: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, code)
        self.status_code = status_code
        self.wait = retry_after
        self.details = details or {}


def unknown(code: str) -> ApiError:
    """Returns the refusal of this code of CODES, with its text there."""
    return ApiError(CODES[code][0], code, CODES[code][1])


def first_or_404(rows: QuerySet[Row], code: str) -> Row:
    """Returns the first of these rows. Raises the refusal ``code`` if there is none."""
    row = rows.first()
    if row is None:
        raise unknown(code)
    return row


def conflict(
    why: str | CodedError, code: str = "conflict", details: Mapping[str, Any] | None = None
) -> ApiError:
    """Returns the 409 for a request that contradicts what is stored, with a reason's code if any."""
    reason = why.reason if isinstance(why, CodedError) else None
    coded = {"reason": reason.code} if isinstance(reason, Reason) else {}
    return ApiError(status.HTTP_409_CONFLICT, code, str(why), details={**coded, **(details or {})})


def _refused(error: CodedError) -> exceptions.APIException:
    """Returns the API's error for a verb's: an invalid field with its problem, else a conflict."""
    reason, status_code = error.reason, CODES[error.api_code][0]
    if isinstance(reason, Reason) and (field := reason.params.get("field")):
        return exceptions.ValidationError({field: [str(error)]})
    if status_code == status.HTTP_409_CONFLICT:
        return conflict(error, error.api_code)
    return ApiError(status_code, error.api_code, str(error))


def too_large(limit: int) -> ApiError:
    return ApiError(
        413, "too_large", f"The body is larger than {limit:,} bytes. Send it in smaller parts."
    )


def envelope(code: str, message: str, fields: dict[str, list[str]] | None = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message}
    if fields:
        error["fields"] = fields
    return {"error": error}


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response:
    """Returns the response to any exception of a view; an unforeseen one is a 500 without its cause."""
    if isinstance(exc, Http404 | ObjectDoesNotExist) or _is_gone(exc):
        exc = exceptions.NotFound()
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    elif isinstance(exc, RequestDataTooBig):
        exc = too_large(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    elif isinstance(exc, SuspiciousOperation):
        exc = exceptions.ParseError("The request is malformed.")
    elif isinstance(exc, OperationalError | Moving) or _sqlstate(exc) == _READ_ONLY:
        exc = _unavailable(exc, context)
    elif isinstance(exc, CodedError):  # of a verb
        exc = _refused(exc)
    if not isinstance(exc, exceptions.APIException):
        return _unforeseen(exc, context)
    headers = {}
    if getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = exc.auth_header  # type: ignore[attr-defined]
    if getattr(exc, "wait", None):
        headers["Retry-After"] = str(int(exc.wait))  # type: ignore[attr-defined]
    return Response(_body(exc), status=exc.status_code, headers=headers)


def _is_gone(exc: Exception) -> bool:
    """Whether a row that was to be written, or its user, was erased while the request ran."""
    if type(exc) is DatabaseError:  # Django's own: no row was left to save
        return True
    return isinstance(exc, IntegrityError) and "_fk_accounts_enduser_" in broken_constraint(exc)


def _body(exc: exceptions.APIException) -> dict[str, Any]:
    if isinstance(exc, exceptions.ValidationError):
        fields = dict(_flat(exc.detail))
        path, problems = next(iter(fields.items()))
        return envelope("invalid", f"{path}: {problems[0]}" if path else problems[0], fields)
    body = envelope(str(exc.get_codes()), str(exc.detail))
    body["error"] |= getattr(exc, "details", {})
    return body


def described(exc: exceptions.APIException) -> str:
    """Returns the message of an error."""
    return str(_body(exc)["error"]["message"])


def _flat(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yields the path (``messages[3].content``) and the problems of each of DRF's nested details."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            is_general = str(key) in ("non_field_errors", "")
            name = f"[{key}]" if isinstance(key, int) else f".{key}" if path else str(key)
            yield from _flat(value, path if is_general else path + name)
    elif isinstance(detail, list) and any(isinstance(item, dict | list) for item in detail):
        for place, item in enumerate(detail):
            yield from _flat(item, f"{path}[{place}]")
    elif detail:
        yield path, [str(item) for item in (detail if isinstance(detail, list) else [detail])]


def _sqlstate(exc: Exception) -> str:
    return getattr(exc.__cause__, "sqlstate", None) or ""


def _unavailable(exc: Exception, context: dict[str, Any]) -> ApiError:
    """Returns the refusal of a request that can be tried again: every verb is one transaction."""
    if isinstance(exc, Moving):
        return ApiError(503, "moving", str(exc), retry_after=MOVED_WITHIN)
    state, view = _sqlstate(exc), type(context["view"]).__name__
    log.warning("%s %s in %s", type(exc.__cause__ or exc).__name__, state, view)
    if state in _BUSY:
        message, code, retry_after = "This user is being written to by another request.", "busy", 2
    else:
        message, code, retry_after = "The database is unavailable.", "no_database", 5
    message = f"{message} Nothing was changed; try again."
    return ApiError(503, code, message, retry_after=retry_after)


def _unforeseen(exc: Exception, context: dict[str, Any]) -> Response:
    """Logs an exception without its message, and returns a 500."""
    frames = "".join(traceback.format_tb(exc.__traceback__))
    view = type(context["view"]).__name__
    log.error("%s %s in %s\n%s", type(exc).__name__, broken_constraint(exc), view, frames)
    got_request_exception.send(sender=None, request=context["request"]._request)
    return Response(envelope("internal", INTERNAL), status=500)


@csrf_exempt
def unknown_address(_request: HttpRequest) -> JsonResponse:
    """Answers for every address below /api/ that does not exist."""
    return JsonResponse(envelope("not_found", UNREACHED), status=404)


def _page(
    page: Callable[..., HttpResponse], status_code: int, code: str, message: str
) -> Callable[..., HttpResponse]:
    """Returns Django's ``page`` for an error; for addresses of the API our envelope."""

    def answer(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
        if request.path.startswith(API_PREFIX):
            return JsonResponse(envelope(code, message), status=status_code)
        return page(request, exception) if exception else page(request)

    return answer


bad_request = _page(defaults.bad_request, 400, "parse_error", "The request is malformed.")
not_found = _page(defaults.page_not_found, 404, "not_found", UNREACHED)
server_error = _page(defaults.server_error, 500, "internal", INTERNAL)
