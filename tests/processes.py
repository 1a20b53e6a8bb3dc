"""Real processes against the test database, for what only several of them can show."""

import os
import subprocess
import sys
from urllib.parse import quote, urlencode

from django.conf import settings
from django.db import connection


def database_url() -> str:
    """The test database as another process reaches it."""
    at = connection.settings_dict
    secret = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
    server = urlencode({"host": at["HOST"], **({"port": at["PORT"]} if at["PORT"] else {})})
    return f"postgres://{secret}@/{quote(at['NAME'])}?{server}"


def start(code: str, *args: object, **env: str) -> subprocess.Popen[str]:
    """A Python process with Django set up that runs ``code`` with ``args`` in ``sys.argv``."""
    prelude = "import sys, django; django.setup()\n"
    return subprocess.Popen(
        [sys.executable, "-c", prelude + code, *map(str, args)],
        cwd=settings.BASE_DIR,
        env={
            **os.environ,
            "DATABASE_URL": database_url(),
            "DJANGO_SETTINGS_MODULE": "mio_site.settings",
            "OMP_NUM_THREADS": "1",
            **env,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], timeout: float = 120) -> str:
    """Waits for a process and returns what it printed; its failure is the test's."""
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, err[-3000:]
    return out
