"""The worker, in place of django-q2's command of this name."""

import signal
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from mio_site import workers
from mio_site.serve import Stop


class Command(BaseCommand):
    help = "Runs queued tasks and schedules, in MIO_WORKERS processes, until Ctrl-C."
    # They would load every page, which takes a third more memory.
    requires_system_checks = ()

    def handle(self, **_options: Any) -> None:
        stop = Stop()
        for module in settings.TASK_MODULES:
            import_module(module)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.request())
        workers.supervise(stop)
