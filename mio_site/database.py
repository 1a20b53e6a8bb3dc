"""Which PostgreSQL this process uses: the one in DATABASE_URL, or Mio's own."""

from django.conf import settings

from mio_site import postgres
from mio_site.postgres import ServerError

__all__ = ["ServerError", "ensure_running"]


def ensure_running() -> None:
    """Starts or joins the embedded server, unless DATABASE_URL names another one.

    Raises ServerError, whose message says what to do.
    """
    if settings.MIO_EMBEDDED_POSTGRES:
        postgres.ensure_running(settings.MIO_HOME)
