"""Settings that cannot be honoured are refused at the start, in one line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

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
    done = manage("check", **environment)
    assert done.returncode == 0, done.stderr


def test_a_home_that_can_not_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for command in ("check", "serve", "spectacular"):
        done = manage(command, MIO_HOME=str(tmp_path / "file" / "home"), SECRET_KEY="")
        assert done.returncode == 1
        assert "Set MIO_HOME to a folder that this user may write to." in done.stderr
        assert len(done.stderr.splitlines()) == 1


SHOWN = """
from django.conf import settings as s
print(s.DEBUG, len(s.SECRET_KEY) > 50, s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE)
"""


@pytest.mark.parametrize(
    ("hosts", "secure"), [(None, "False False"), ("mio.example,localhost", "True True")]
)
def test_without_debug_a_key_is_made_and_cookies_are_secure_where_others_reach_it(
    hosts: str | None, secure: str, tmp_path: Path
) -> None:
    given = {"MIO_HOME": str(tmp_path), "DATABASE_URL": "postgres://mio@localhost/mio"}
    given |= {"DJANGO_SETTINGS_MODULE": "mio_site.settings"}
    kept = {k: v for k, v in os.environ.items() if k not in ("DEBUG", "SECRET_KEY")}
    env = kept | given | ({"ALLOWED_HOSTS": hosts} if hosts else {})
    command = [sys.executable, "-c", SHOWN]
    said = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert said.stdout == f"False True {secure}\n"
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_mio_runs_from_anywhere_with_any_name_of_its_folder(tmp_path: Path) -> None:
    place = tmp_path / "it's a $HOME"
    for folder in ("bin", ".venv/bin"):
        (place / folder).mkdir(parents=True)
    shutil.copy(ROOT / "bin/mio", place / "bin/mio")
    (place / "manage.py").write_text("import sys; print(sys.argv[1:])")
    missing = subprocess.run([place / "bin/mio"], capture_output=True, text=True)
    assert (missing.returncode, "make setup" in missing.stderr) == (1, True)
    (place / ".venv/bin/python").symlink_to(sys.executable)
    (tmp_path / "mio").symlink_to(place / "bin/mio")
    for command in ("it's a $HOME/bin/mio", "mio"):
        run = [tmp_path / command, "context", "it's a"]
        said = subprocess.run(run, cwd="/", capture_output=True, text=True, check=True)
        assert said.stdout == "['context', \"it's a\"]\n"
