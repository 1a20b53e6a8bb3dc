"""Errors of the gateway itself, in the form that clients of the OpenAI protocol read."""

import json
from typing import Any

from starlette.responses import JSONResponse

from accounts.errors import ApiError

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def body_of(status: int, code: str, message: str) -> dict[str, Any]:
    """Returns the body of an error."""
    kind = _TYPES.get(status) or ("api_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def response(error: ApiError) -> JSONResponse:
    """Returns a refusal that comes before anything was sent."""
    headers = {"Retry-After": str(int(error.wait))} if error.wait else {}
    if error.status_code == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="mio"'
    body = body_of(error.status_code, str(error.get_codes()), str(error.detail))
    return JSONResponse(body, error.status_code, headers)


def event(code: str, message: str) -> bytes:
    """Returns an error within a stream that has begun; clients raise it. A line that was cut is not
    sent, so the blank line only ends an event that was sent."""
    text = json.dumps(body_of(502, code, message))
    return f"\n\ndata: {text}\n\n".encode()


def response_event(code: str, message: str) -> bytes:
    """Returns an error within a stream of the Responses API."""
    about = {"code": code, "message": message, "param": None}
    body = {"type": "error", "sequence_number": 0, **about, **body_of(502, code, message)}
    return f"\n\nevent: error\ndata: {json.dumps(body)}\n\n".encode()
