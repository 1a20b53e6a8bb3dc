"""An id for each request, so that all it logged can be found by what its client was answered."""

import logging
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

HEADER = "X-Request-ID"
# What a proxy or a client may choose; anything else could write into the log.
_CHOSEN = re.compile(r"[A-Za-z0-9._-]{1,64}")

_current: ContextVar[str] = ContextVar("request_id", default="")


def middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[..., HttpResponse]:
    """Gives each request the id in its header X-Request-ID, or a new one, and answers with it."""

    def with_id(request: HttpRequest) -> HttpResponse:
        with continued(chosen_or_new(request.headers.get(HEADER, ""))):
            response = get_response(request)
            response.headers[HEADER] = current()
        return response

    return with_id


def chosen_or_new(chosen: str) -> str:
    """The id that a client or a proxy chose, where it can be one."""
    return chosen if _CHOSEN.fullmatch(chosen) else uuid.uuid4().hex


def current() -> str:
    """The id of the request of now; "" outside of any."""
    return _current.get()


@contextmanager
def continued(chosen: str) -> Iterator[None]:
    """What runs in it was asked for by the request of this id."""
    token = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(token)


class RequestId(logging.Filter):
    """Notes the request during which a line was logged; "" outside of any."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _current.get()
        return True
