"""Real processes against the test database, for what only several of them can show."""

import io
import multiprocessing
import os
import sys
import traceback
from contextlib import redirect_stdout
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import quote, urlencode

import django
from django.db import connection
from django.db.backends.utils import CursorWrapper

from accounts import scope

# Each is forked from a process that has loaded tests.warm, but set up nothing: they have their
# own settings and connections, and don't spend their first seconds on imports.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.warm"])

# Not the server's own processes, such as autovacuum, which nobody may end.
_OTHERS = (
    "SELECT * FROM pg_stat_activity WHERE datname = current_database() "
    "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)


def database_url() -> str:
    """The test database as another process reaches it."""
    at = connection.settings_dict
    secret = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
    server = urlencode({"host": at["HOST"], **({"port": at["PORT"]} if at["PORT"] else {})})
    return f"postgres://{secret}@/{quote(at['NAME'])}?{server}"


class Started:
    """A process that runs a piece of code."""

    def __init__(self, code: str, args: list[str], env: dict[str, str]) -> None:
        self._said, says = _FORKS.Pipe(duplex=False)
        # Of a test that fails before it ends the process, none is left that a run waits for.
        self._process = _FORKS.Process(target=_run, args=(code, args, env, says), daemon=True)
        self._process.start()
        says.close()

    def kill(self) -> None:
        """As SIGKILL does; returns when it is dead."""
        self._process.kill()
        self._process.join(30)
        assert self._process.exitcode is not None

    def finish(self, timeout: float = 120) -> str:
        """Waits for it and returns what it printed; its failure is the test's."""
        assert self._said.poll(timeout), "the process did not end"
        printed, failure = self._said.recv()
        self._process.join(timeout)
        assert not failure, failure[-3000:]
        return printed


def start(code: str, *args: object, **env: str) -> Started:
    """A Python process with Django set up that runs ``code`` with ``args`` in ``sys.argv``."""
    settings = {
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "mio_site.settings",
        "OMP_NUM_THREADS": "1",
    }
    return Started(code, list(map(str, args)), {**os.environ, **settings, **env})


@scope.undeclared()  # the role of a scope sees nothing of other sessions
def wait_until_blocked(cursor: CursorWrapper, sessions: int = 1, tries: int = 6000) -> None:
    """Returns once so many other clients of this database wait for a lock."""
    cursor.execute("SET LOCAL ROLE NONE")  # a scope before it in this transaction left its own
    for _ in range(tries):
        cursor.execute("SELECT pg_stat_clear_snapshot() FROM pg_sleep(0.01)")
        cursor.execute(f"SELECT count(*) FROM ({_OTHERS}) WHERE wait_event_type = 'Lock'")
        if cursor.fetchone()[0] >= sessions:
            return
    raise AssertionError("the workers never came to their write")


@scope.undeclared()
def end_other_sessions(cursor: CursorWrapper) -> None:
    """As the server does by itself once it notices that their clients are dead."""
    cursor.execute("SET LOCAL ROLE NONE")
    cursor.execute(f"SELECT pg_terminate_backend(pid) FROM ({_OTHERS})")


def _run(code: str, args: list[str], env: dict[str, str], says: Connection) -> None:
    os.environ.update(env)
    sys.argv = ["-c", *args]
    printed, failure = io.StringIO(), ""
    try:
        with redirect_stdout(printed):
            django.setup()
            names: dict[str, Any] = {"__name__": "__main__", "sys": sys}
            with scope.all_users():
                exec(compile(code, "<started>", "exec"), names)
    except BaseException:  # noqa: BLE001 told to the test that waits
        failure = traceback.format_exc()
    says.send((printed.getvalue(), failure))
