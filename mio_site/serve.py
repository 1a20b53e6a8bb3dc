"""Runs a few processes together: restarts one that dies, and ends all of them together."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from django.core.management.base import CommandError

from mio_site import database

ROOT = Path(__file__).resolve().parent.parent  # `python -m` finds our modules from here
TICK = 0.1  # seconds between looks at the processes
FIRST_DELAY = 0.5  # seconds before a restart, doubled with each death
DEATHS, WITHIN = 5, 60.0  # this many within these seconds: restarts do not help
GRACE = 4.0  # seconds to end when asked


@dataclass
class Stop:
    """Whether the end was requested. Safe to set in a signal handler, unlike a threading.Event."""

    requested: bool = False

    def request(self) -> None:
        self.requested = True


@dataclass
class Child:
    """One process to keep alive, in a session of its own, which a terminal's Ctrl-C does not reach."""

    name: str
    command: list[str]
    descriptors: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    deaths: deque[float] = field(default_factory=lambda: deque(maxlen=DEATHS))
    start_at: float = 0.0

    def start(self) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own command, as arguments
            self.command, cwd=ROOT, pass_fds=self.descriptors, start_new_session=True
        )

    def end_group(self) -> None:
        """Kills whatever is left of the session."""
        if self.process:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def note_death(self, now: float) -> bool:
        """Plans the restart; returns False if the process died too often."""
        self.deaths.append(now)
        recent = [at for at in self.deaths if now - at < WITHIN]
        self.start_at = now + FIRST_DELAY * 2 ** (len(recent) - 1)
        return len(recent) < DEATHS


def supervise(children: list[Child], stop: Stop, tick: Callable[[], None]) -> int:
    """Keeps ``children`` running until ``stop`` is requested, and calls ``tick`` all the while.
    Returns the exit code: 0 if stopped, 1 if a child keeps dying."""
    try:
        while not stop.requested:
            now = time.monotonic()
            for child in children:
                if child.process is None:
                    if now >= child.start_at:
                        child.start()
                elif child.process.poll() is not None:
                    code = child.process.returncode
                    child.end_group()
                    child.process = None
                    if not child.note_death(now):
                        say(f"The {child.name} process ended {DEATHS} times; giving up.")
                        return 1
                    say(f"The {child.name} process ended with code {code}; starting it again.")
            tick()
            time.sleep(TICK)
        return 0
    finally:
        end(children)


def end(children: list[Child]) -> None:
    """Asks all to end, and kills those that have not ended after a few seconds."""
    for child in children:
        if child.process and child.process.poll() is None:
            child.process.terminate()
    deadline = time.monotonic() + GRACE
    for child in children:
        if child.process:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
        child.end_group()


def reserve(host: str, port: int) -> socket.socket:
    """Returns a socket bound to the address. Raises CommandError if another program listens there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        taken = port != 0 and probe.connect_ex((host, port)) == 0
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        taken = True
    if taken:
        bound.close()
        raise CommandError(
            f"Port {port} is in use by another program. Choose one: make run PORT={port + 1}"
        )
    return bound


def answers(host: str, port: int, path: str) -> bool:
    """Whether a GET is answered with 200 at once."""
    connection = HTTPConnection(host, port, timeout=1)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def bring_back_database() -> None:
    """Starts the embedded server again if it was killed, and says so. Raises ServerError."""
    if database.ensure_running():
        say("The database server had ended; it was started again.")


def say(line: str) -> None:
    """Prints a line for the person at the terminal."""
    sys.stderr.write(f"mio: {line}\n")
    sys.stderr.flush()
