"""Mio's own PostgreSQL: one server a home folder, shared by every process that needs it.

Who uses the server is told by kernel locks, so a process killed at any moment leaves
nothing to clean up:

``users.lock``   shared by the processes that use the server, exclusive while it is stopped
``server.lock``  held by the process that starts a server, and inherited by the server's own:
                 nobody else starts or repairs one as long as any of them lives
``keeper.lock``  held by the keeper, which waits for the last user to be gone, however it went
"""

import atexit
import fcntl
import os
import signal
import sys
import time
from pathlib import Path
from typing import BinaryIO

from mio_site.postgres import server
from mio_site.postgres.server import (
    PORT,
    ROLE,
    PostgresHome,
    ServerError,
    is_locked,
    lock,
    try_lock,
    usable,
)

__all__ = ["ServerError", "connection", "ensure_running", "leave"]

START_TIMEOUT = 120.0  # seconds; includes recovery after a crash
LEAVE_TIMEOUT = 60.0
POLL = 0.02
LOG_CHECK = 60.0

_joined: dict[Path, BinaryIO] = {}


def connection(home: Path) -> dict[str, str]:
    """Django's connection settings for the server of ``home``. Starts nothing; makes the password once."""
    place = PostgresHome(home)
    with usable(home):
        place.make()
    return {
        "NAME": ROLE,
        "USER": ROLE,
        "PASSWORD": place.password(),
        "HOST": str(place.sockets),
        "PORT": PORT,
    }


def ensure_running(home: Path) -> bool:
    """Makes this process a user of the server of ``home``, starting or repairing it if needed,
    and returns whether it was.

    The server runs until its last user is gone. Raises ServerError.
    """
    if sys.platform != "linux":
        raise ServerError(
            "The embedded PostgreSQL needs Linux: use a virtual machine or container (macOS) or "
            "WSL (Windows), or set DATABASE_URL to use a server of your own."
        )
    place = PostgresHome(home)
    with usable(home):
        place.make()
        if place.folder not in _joined:
            _joined[place.folder] = lock(place.users_lock, fcntl.LOCK_SH)
            atexit.register(_leave_at_exit, home, os.getpid())
        _ensure_keeper(place)
        return _ensure_server(place)


def leave(home: Path) -> None:
    """Ends this process's use of the server; returns when the last one out has stopped it."""
    place = PostgresHome(home)
    users_lock = _joined.pop(place.folder, None)
    if users_lock is None or not place.folder.exists():
        return
    users_lock.close()
    deadline = time.monotonic() + LEAVE_TIMEOUT
    while time.monotonic() < deadline:
        alone = try_lock(place.users_lock, fcntl.LOCK_EX)
        if alone:
            with alone:
                server.stop(place)
            _wait_for_keeper(place)
            return
        # Other users share the lock; only a keeper that is stopping the server forbids it.
        shared = try_lock(place.users_lock, fcntl.LOCK_SH)
        if shared:
            shared.close()
            return
        time.sleep(POLL)


def keep(home: Path, keeper_lock: int) -> None:
    """Waits until no process uses the server of ``home``, then stops it and returns.

    Meanwhile it keeps the log short. ``keeper_lock`` is a descriptor with that lock.
    """
    place = PostgresHome(home)
    signal.signal(signal.SIGALRM, lambda *_: server.shorten_log(place))
    signal.setitimer(signal.ITIMER_REAL, LOG_CHECK, LOG_CHECK)
    with lock(place.users_lock, fcntl.LOCK_EX):
        signal.setitimer(signal.ITIMER_REAL, 0)
        server.stop(place)
        # Given up before the next user may come in, so that it starts a keeper of its own.
        os.close(keeper_lock)


def _leave_at_exit(home: Path, joined_by: int) -> None:
    if os.getpid() == joined_by:  # not in a fork, whose parent may go on
        leave(home)


def _ensure_keeper(place: PostgresHome) -> None:
    keeper_lock = try_lock(place.keeper_lock, fcntl.LOCK_EX)
    if keeper_lock is None:
        return
    with keeper_lock:
        number = str(keeper_lock.fileno())
        code = "import sys; from mio_site.postgres.instance import keep, Path; "
        code += "keep(Path(sys.argv[1]), int(sys.argv[2]))"
        server.spawn_detached(
            [sys.executable, "-S", "-c", code, str(place.home), number],
            environment={"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
            output=place.log,
            descriptor=keeper_lock.fileno(),
        )


def _wait_for_keeper(place: PostgresHome) -> None:
    """Waits for the end of the keeper, which sees that nobody uses the server; a new user may want it
    again."""
    deadline = time.monotonic() + 2
    while is_locked(place.keeper_lock) and not is_locked(place.server_lock):
        if time.monotonic() > deadline:
            return
        time.sleep(POLL)


def _ensure_server(place: PostgresHome) -> bool:
    deadline = time.monotonic() + START_TIMEOUT
    logged: int | None = None
    while time.monotonic() < deadline:
        free = try_lock(place.server_lock, fcntl.LOCK_EX)
        if free:
            with free:
                if logged is not None:
                    raise ServerError(server.failure(place, logged))
                logged = server.start(place, free.fileno())
        elif server.is_ready(place):
            return logged is not None
        # Else somebody starts it, or the last processes of a killed server are still ending.
        time.sleep(POLL)
    raise ServerError(
        f"PostgreSQL in {place.folder} is not ready after {START_TIMEOUT:.0f} s: it recovers "
        f"from a crash, or processes of a killed server have not ended. See {place.log}."
    )
