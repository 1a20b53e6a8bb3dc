"""The web process: an ASGI application for any ASGI server."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
# Threads of one long-lived process share connections; commands and workers keep their own.
os.environ.setdefault("MIO_DATABASE_POOL", "1")

from django.core.asgi import get_asgi_application

from mio_site import database

database.ensure_running()
application = get_asgi_application()
