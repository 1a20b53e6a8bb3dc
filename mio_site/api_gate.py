"""Serves the API in front of Django's pages, by a short chain of middlewares in one thread per request.
A request with a key needs no session, language or form token, whose middlewares cost a hop each."""

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.exception import convert_exception_to_response
from django.core.signals import request_started
from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, resolve, set_script_prefix
from django.utils.module_loading import import_string
from starlette.types import ASGIApp, Receive, Scope, Send

PREFIX = "/api/v1/"
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})

# A request that waits for a lock or a model holds its thread. There are fewer threads than connections
# in a process's pool (mio_site.cell_settings), which pages and the gateway need too.
_REQUESTS = ThreadPoolExecutor(12, "api")
# Separate, so that a probe never waits for requests.
_PROBES = ThreadPoolExecutor(2, "probe")


class Gate:
    """Answers the API and the probes, and passes on pages, unknown addresses and coroutines."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application
        self._handler = ApiHandler()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        view = _view(scope)
        if view is None:
            await self._application(scope, receive, send)
        else:
            await self._handler({**scope, "view": view}, receive, send)


def _view(scope: Scope) -> ResolverMatch | None:
    """Returns the view that answers in a thread; None for a request that is passed on."""
    path = scope.get("path", "")
    if scope["type"] != "http" or not (path.startswith(PREFIX) or path in PROBES):
        return None
    try:
        match = resolve(path)
    except Resolver404:
        return None
    return None if iscoroutinefunction(match.func) else match


class ApiHandler(ASGIHandler):
    """Django's handler with the middlewares of ``API_MIDDLEWARE``, none of them a coroutine."""

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002 part of the interface
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        chain = convert_exception_to_response(self._get_response)  # type: ignore[attr-defined]
        for name in reversed(settings.API_MIDDLEWARE):
            chain = convert_exception_to_response(import_string(name)(chain))
        self._middleware_chain = chain

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await _read(receive)
        except RequestAborted:
            return
        threads = _PROBES if scope["path"] in PROBES else _REQUESTS
        answer = partial(copy_context().run, self._answer, scope, body)
        response = await asyncio.get_running_loop().run_in_executor(threads, answer)
        await self.send_response(response, send)

    def _answer(self, scope: Scope, body: bytes) -> Any:
        """Answers in this thread and ends the request there: the connection goes back to the pool."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=type(self), scope=scope)
        response: Any
        request, response = self.create_request(scope, io.BytesIO(body))
        if request is not None:
            # A chunked body came without its length.
            request.META["CONTENT_LENGTH"] = str(len(body))
            response = self.get_response(request)
        response._handler_class = type(self)
        response.close()
        return response

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        match: ResolverMatch = request.scope["view"]  # type: ignore[attr-defined]
        request.resolver_match = match
        return match


async def _read(receive: Receive) -> bytes:
    """Returns the body, cut off where it is seen to be too large. Raises RequestAborted."""
    most, body, more = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1, bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        # The rest is received and dropped: a client that still sends reads no answer.
        body += message.get("body", b"")[: most - len(body)]
        more = message.get("more_body", False)
    return bytes(body)
