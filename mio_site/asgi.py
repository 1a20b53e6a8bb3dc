"""The web process: an ASGI application for any ASGI server."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
# Threads of one long-lived process share connections; commands and workers keep their own.
os.environ.setdefault("MIO_DATABASE_POOL", "1")

from django.conf import settings
from django.core.asgi import get_asgi_application
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from mio_site import database

database.ensure_running()
django_application = get_asgi_application()

from mcp_server.gate import Gate  # noqa: E402 its models need Django set up

# Whom nobody trusts can't choose the address that his wrong passwords are counted for.
application = ProxyHeadersMiddleware(
    Gate(django_application),  # type: ignore[arg-type]  # they type ASGI differently
    settings.MIO_TRUSTED_PROXIES,
)
