"""bin/mio serve: everything on one machine, with migrations, schedules, demo data, web and worker."""

import os
import signal
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from types import FrameType
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connections

from mio_site import database
from mio_site.serve import Child, Stop, answers, bring_back_database, reserve, say, supervise

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HEAL_EVERY = 2.0  # seconds between looks at the embedded server


class Command(BaseCommand):
    help = "Prepares the database, then runs the web server and the worker until Ctrl-C."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=os.environ.get("PORT") or 8000)

    def handle(self, *, host: str, port: int, **_options: Any) -> None:
        stop = Stop()
        stop_with(lambda: sys.exit(0))
        listener = reserve(host, port)
        call_command("prepare")
        call_command("load_demo")
        connections.close_all()
        stop_with(stop.request)
        sys.exit(supervise(processes(listener), stop, Watch(host, port)))


class Watch:
    """Prints once that the site answers, and restarts an embedded server that was killed."""

    announced = False
    heal_at = 0.0

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    def __call__(self) -> None:
        ready = "/readyz?parts=database,migrations,warm_up"
        if not self.announced and answers(self.host, self.port, ready):
            self.announced = True
            say(f"ready at http://{self.host}:{self.port}  (Ctrl-C stops it)")
        if time.monotonic() >= self.heal_at:
            self.heal_at = time.monotonic() + HEAL_EVERY
            try:
                bring_back_database()
            except database.ServerError as error:
                say(str(error))


def processes(listener: socket.socket) -> list[Child]:
    """Returns the processes of the site; the web one gets the bound socket."""
    module = [sys.executable, "-m", "mio_site.child", str(os.getpid())]
    descriptor = listener.fileno()
    return [
        Child("web", [*module, "web", str(descriptor)], (descriptor,)),
        Child("worker", [*module, "worker"]),
    ]


def stop_with(action: Callable[[], object]) -> None:
    """Calls ``action`` on each of the signals that mean "end"."""

    def handler(_signal: int, _frame: FrameType | None) -> None:
        action()

    for number in STOPPING:
        # Under nohup a closed terminal must not end it.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)
