from django.apps import AppConfig
from django.conf import settings


class MioSiteConfig(AppConfig):
    name = "mio_site"

    def ready(self) -> None:
        if settings.MIO_TRACING:
            # Loaded only if traces are sent.
            from mio_site import telemetry

            telemetry.follow_queue()
