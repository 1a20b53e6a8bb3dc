"""The web process: an ASGI application for any ASGI server."""

import atexit
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
# Threads of one long-lived process share connections; commands and workers keep their own.
os.environ.setdefault("MIO_DATABASE_POOL", "1")

from typing import Any

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.utils.module_loading import import_string
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from mio_site import database, readiness

database.ensure_running()
django_application = get_asgi_application()
for task in settings.ASGI_WARM_UPS:
    # Requests are answered meanwhile, but /readyz reports that the warm-up is not over.
    readiness.start_warm_up(task, import_string(task))

served: Any = django_application
for gate in reversed(settings.ASGI_GATES):
    served = import_string(gate)(served)

if settings.MIO_TRACING:
    # Loaded only if traces are sent.
    from mio_site import telemetry

    atexit.register(telemetry.start("web"))
    served = telemetry.requests(served)

# Only a trusted proxy may state the address for which wrong passwords are counted.
application = ProxyHeadersMiddleware(served, settings.MIO_TRUSTED_PROXIES)
