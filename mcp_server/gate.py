"""``/mcp`` in front of Django: a key of one end user, or of an app with the user in the path."""

import asyncio
import contextvars
import json
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any
from urllib.parse import unquote

from asgiref.sync import sync_to_async
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from accounts.api import check_external_id
from accounts.bearer import bearer, key_of
from accounts.cells import release
from accounts.errors import ApiError, too_large
from mcp_server.protocol import Caller, caller, server

PATH = "/mcp"
MOST_BYTES = 100_000  # of a request: its longest arguments are some thousand characters
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Gate:
    """An ASGI application that answers below ``/mcp`` and hands all else on."""

    def __init__(self, rest: App) -> None:
        self._rest = rest
        self._manager: StreamableHTTPSessionManager | None = None
        self._starting: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or not (path == PATH or path.startswith(f"{PATH}/")):
            await self._rest(scope, receive, send)
            return
        try:
            asks = await sync_to_async(partial(_caller, scope))()
            body = await _body(receive)
        except ApiError as error:
            await _refuse(send, error)
            return
        caller.set(asks)
        manager = await self._running()
        await manager.handle_request({**scope, "path": PATH}, _again(body, receive), send)

    async def _running(self) -> StreamableHTTPSessionManager:
        """The manager of this process, started by the first request: a server may run an
        application without its lifespan."""
        if self._manager is None:
            # Hosts are checked here, against the same list as everywhere.
            open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
            server.streamable_http_app(
                json_response=True, stateless_http=True, transport_security=open_to_all
            )
            self._manager = server.session_manager
            # Of no request: what the first caller was must not stay.
            loop = asyncio.get_running_loop()
            self._starting = loop.create_task(
                self._run(self._manager), context=contextvars.Context()
            )
        await self._ready.wait()
        return self._manager

    async def _run(self, manager: StreamableHTTPSessionManager) -> None:
        async with manager.run():
            self._ready.set()
            await asyncio.Event().wait()  # until the loop ends


async def _body(receive: Receive) -> bytes:
    """The body of a request. Raises ApiError as soon as it is too large."""
    body, goes_on = b"", True
    while goes_on:
        message = await receive()
        body += message.get("body", b"")
        goes_on = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            raise too_large(MOST_BYTES)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """``receive`` of a request whose ``body`` has been read."""
    first = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> MutableMapping[str, Any]:
        return first.pop() if first else await receive()

    return received


def _caller(scope: Scope) -> Caller:
    """Who calls. Raises ApiError."""
    try:
        return _known(scope)
    finally:
        release()


def _known(scope: Scope) -> Caller:
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }
    key, _quota = key_of(headers, bearer(headers.get("authorization", "")))
    named = unquote(scope["path"].removeprefix(PATH).strip("/"))
    if key.external_id and named not in ("", key.external_id):
        raise ApiError(403, "key_of_one_user", "This key opens the memory of one user only.")
    external_id = key.external_id or named
    if not external_id:
        raise ApiError(
            400, "no_user", "Use a key that is bound to one end user, or the address /mcp/USER."
        )
    check_external_id(external_id)
    return Caller(
        key.app, external_id, f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
    )


async def _refuse(send: Send, error: ApiError) -> None:
    """Answers in the form of every other error of the API."""
    body = {"error": {"code": error.get_codes(), "message": str(error.detail)}}
    headers = [(b"content-type", b"application/json")]
    if error.status_code == 401:
        headers.append((b"www-authenticate", b'Bearer realm="mio"'))
    if error.wait:
        headers.append((b"retry-after", str(error.wait).encode()))
    await send({"type": "http.response.start", "status": error.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
