"""Settings that cannot be honoured are refused at the start, in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def manage(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", command],
        cwd=ROOT,
        env={**os.environ, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"MIO_EMBEDDING_MODEL": "bge-m3"}, "MIO_EMBEDDING_MODEL is 'bge-m3', but"),
        ({"MIO_EMBEDDING_DIMENSIONS": "512"}, "MIO_EMBEDDING_DIMENSIONS is 512, but"),
        ({"MIO_EMBEDDINGS": "cloud"}, "MIO_EMBEDDINGS is 'cloud'; use local or openai."),
    ],
    ids=lambda value: next(iter(value), "") if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("command", ["check", "serve", "spectacular"])
def test_embeddings_that_there_are_not_are_refused(
    command: str, environment: dict[str, str], said: str
) -> None:
    done = manage(command, **{"MIO_EMBEDDINGS": "local", **environment})
    assert done.returncode == 1
    assert done.stderr.startswith(f"mio: {said}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "environment",
    [
        {"MIO_EMBEDDINGS": "local", "MIO_EMBEDDING_MODEL": "multilingual-e5-small"},
        {"MIO_EMBEDDINGS": "local", "MIO_EMBEDDING_MODEL": ""},
        {"MIO_EMBEDDINGS": "openai", "MIO_EMBEDDING_MODEL": "bge-m3"},
    ],
    ids=lambda environment: environment["MIO_EMBEDDING_MODEL"] or "unset",
)
def test_a_model_that_there_is_is_taken(environment: dict[str, str]) -> None:
    done = manage("spectacular", **environment)
    assert done.returncode == 0, done.stderr
