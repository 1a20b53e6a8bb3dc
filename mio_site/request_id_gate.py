"""X-Request-ID for what is answered in front of Django: the gateway and MCP. Apart from the id itself,
so that commands load no web server."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mio_site.request_id import HEADER, chosen_or_new, continued


def gate(application: ASGIApp) -> ASGIApp:
    """Gives each request its id before anybody answers it, and the answer no other."""

    async def with_id(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        given = chosen_or_new(Headers(scope=scope).get(HEADER, ""))
        scope = {**scope, "headers": list(scope["headers"])}
        MutableHeaders(scope=scope)[HEADER] = given

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = given
            await send(message)

        with continued(given):
            await application(scope, receive, sending)

    return with_id
