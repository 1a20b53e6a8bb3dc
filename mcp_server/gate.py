"""Serves ``/mcp`` in front of Django: with a key of a user, or of an app and the user in the path."""

import asyncio
import contextvars
from typing import TYPE_CHECKING
from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from accounts.api import check_external_id
from accounts.authentication import bearer, key_of
from accounts.cells import releasing
from accounts.errors import ApiError, envelope
from mcp_server.caller import Caller, caller

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
# Bytes of a request, which is parsed while others wait; the longest argument has 2,000 characters.
MAX_BODY = 100_000


class Gate:
    """An ASGI application that answers below ``/mcp`` and passes all other requests on."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or not (path == PATH or path.startswith(f"{PATH}/")):
            await self._application(scope, receive, send)
            return
        try:
            identified = await asyncio.to_thread(_caller, scope)
        except ApiError as error:
            headers = {"Retry-After": str(error.wait)} if error.wait else {}
            if error.status_code == 401:
                headers["WWW-Authenticate"] = 'Bearer realm="mio"'
            body = envelope(str(error.get_codes()), str(error.detail))
            await JSONResponse(body, error.status_code, headers)(scope, receive, send)
            return
        caller.set(identified)
        if self._manager is None or (self._running and self._running.done()):
            loop = asyncio.get_running_loop()
            self._manager = loop.create_future()
            # In an empty context: nothing of the first request may stay.
            running = _run_manager(self._manager)
            self._running = loop.create_task(running, context=contextvars.Context())
        # Shielded: the others wait on, when one request is given up.
        manager = await asyncio.shield(self._manager)
        await manager.handle_request({**scope, "path": PATH}, receive, send)


async def _run_manager(started: "asyncio.Future[StreamableHTTPSessionManager]") -> None:
    """Runs the process's manager, begun by the first request: some servers have no lifespan."""
    try:
        manager = await asyncio.to_thread(_new_manager)
        async with manager.run():
            started.set_result(manager)
            await asyncio.Event().wait()  # until the loop ends
    except Exception as error:
        if started.done():
            raise
        started.set_exception(error)


def _new_manager() -> "StreamableHTTPSessionManager":
    # Imported at the first request: it takes a second and 55 MB, and many installations get none.
    from mcp.server.transport_security import TransportSecuritySettings

    from mcp_server.knowledge import server

    # Hosts are checked here, against the same list as everywhere.
    open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=open_to_all,
    )
    return server.session_manager


@releasing
def _caller(scope: Scope) -> Caller:
    """Returns who calls. Raises ApiError."""
    headers = Headers(scope=scope)
    if len(headers.getlist("authorization")) > 1:
        raise ApiError(400, "repeated_header", "Send the header authorization once.")
    key, _quota = key_of(headers, bearer(headers.get("authorization", "")))
    path_user = unquote(scope["path"].removeprefix(PATH).strip("/"))
    if key.external_id and path_user not in ("", key.external_id):
        raise ApiError(403, "key_of_one_user", "This key opens the memory of one user only.")
    external_id = key.external_id or path_user
    if not external_id:
        raise ApiError(
            400, "no_user", "Use a key that is bound to one end user, or the address /mcp/USER."
        )
    check_external_id(external_id)
    base = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
    return Caller(key.app, external_id, base)
