"""Serves ``/v1`` in front of Django: an OpenAI-compatible server that remembers people."""

import asyncio
import logging
import re
import traceback
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import Error
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from accounts.errors import INTERNAL, ApiError
from gateway import exchange, openai_errors, relay
from gateway.chat_forms import FORMS

log = logging.getLogger(__name__)

PREFIX = "/v1/"
_MODELS = re.compile(r"models(/(?!\.\.?(/|$))[^/]+)*")
# First words of addresses that Mio answers itself or not at all: what the upstream stores below
# them belongs to one user of the app.
_OWN = ("models", "chat", "responses")
# An address as it was sent: without escapes, so that the upstream can't read it as another one.
_ELSEWHERE = re.compile(r"(?!\.\.?(/|$))[\w.~:@-]+(/(?!\.\.?(/|$))[\w.~:@-]+)*", re.ASCII)
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_HERE = (
    "Below /v1/models, /v1/chat and /v1/responses are GET /v1/models, POST /v1/chat/completions and "
    "POST /v1/responses; nothing else. Other addresses below /v1/ are the upstream's: words, digits "
    "and . ~ : @ - between single slashes."
)


class Gateway:
    """An ASGI application that answers below ``/v1/`` and passes all other requests on."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application
        self._own = CORSMiddleware(
            self._answer,
            allow_origins=settings.MIO_CORS_ORIGINS,
            allow_methods=_METHODS,
            allow_headers=["*"],
            expose_headers=[*exchange.HEADERS, *settings.CORS_EXPOSE_HEADERS],
        )
        # Connections belong to one event loop.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, relay.Client] = (
            WeakKeyDictionary()
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ours = scope["type"] == "http" and scope["path"].startswith(PREFIX)
        await (self._own if ours else self._application)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._route(Request(scope, receive), sending)
        except (ClientDisconnect, relay.ClientGone):
            return
        except Exception as error:
            if has_begun:
                raise
            await openai_errors.response(_refusal(error))(scope, receive, send)

    def _client(self) -> relay.Client:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = relay.client()
        return self._clients[loop]

    async def _route(self, request: Request, send: Send) -> None:
        name = request.url.path.removeprefix(PREFIX).strip("/")
        if request.method == "GET" and _MODELS.fullmatch(name):
            await exchange.models(self._client(), request, name, send)
        elif request.method == "POST" and name in FORMS:
            await exchange.chat(self._client(), request, FORMS[name], send)
        elif request.method in _METHODS and (other := _upstream_path(request)):
            await exchange.pass_on(self._client(), request, other, send)
        else:
            raise ApiError(404, "not_found", _HERE)


def _upstream_path(request: Request) -> str:
    """Returns the address below /v1/ if the upstream answers it and reads it the same way, else ""."""
    sent = request.scope.get("raw_path") or request.scope["path"].encode()
    name = str(sent.decode("latin-1")).removeprefix(PREFIX).strip("/")
    ours = name.partition("/")[0].lower() in _OWN
    return name if not ours and _ELSEWHERE.fullmatch(name) else ""


def _refusal(error: Exception) -> ApiError:
    """Returns the refusal for an exception. Logs an unforeseen one, without its (private) message."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, Error):
        log.warning("gateway: %s", type(error.__cause__ or error).__name__)
        message = "The database is unavailable. Nothing was sent on; try again."
        return ApiError(503, "no_database", message, retry_after=5)
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("gateway: %s\n%s", type(error).__name__, frames)
    return ApiError(500, "internal", INTERNAL)
