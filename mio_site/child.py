"""A process of `serve`: ``python -m mio_site.child PARENT (web SOCKET | worker)``. It ends when
`serve` ends, however that ends."""

import ctypes
import os
import signal
import socket
import sys

import uvicorn
from django.core.management import execute_from_command_line

from mio_site import serve

PR_SET_PDEATHSIG = 1  # linux/prctl.h
GRACE = 3  # seconds for requests under way when the web process is asked to end


def end_with_parent(request: signal.Signals, parent: int) -> None:
    """Asks the kernel to send ``request`` to this process when ``parent`` ends."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(request))
    if os.getppid() != parent:  # it ended before we asked
        os.kill(os.getpid(), request)


def serve_web(descriptor: int) -> None:
    """Answers requests on a bound socket. ``mio_site.asgi`` turns the connection pool on."""
    config = uvicorn.Config(
        "mio_site.asgi:application",
        lifespan="off",
        access_log=False,
        proxy_headers=False,  # mio_site.asgi believes those of MIO_TRUSTED_PROXIES
        log_level="warning",
        timeout_graceful_shutdown=GRACE,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


def work() -> None:
    """Runs queued tasks in processes that end with the process that forked them."""
    parent = os.getpid()

    def follow() -> None:
        nonlocal parent
        end_with_parent(signal.SIGKILL, parent)
        parent = os.getpid()

    os.register_at_fork(after_in_child=follow)
    execute_from_command_line(["manage.py", "qcluster"])


if __name__ == "__main__":
    end_with_parent(signal.SIGTERM, int(sys.argv[1]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
    if sys.argv[2] == "web":
        serve_web(int(sys.argv[3]))
    else:
        serve.bring_back_database()
        work()
