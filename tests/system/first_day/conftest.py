"""A default installation, as `make run` starts it, in a home whose path has a space."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mio_site import serve
from tests.deploy.deployed import free_port
from tests.mio_site.waiting import eventually

ROOT = Path(__file__).resolve().parents[3]
OURS = ("MIO_", "OPENAI_", "DATABASE_", "DJANGO_", "SECRET_KEY")


class Installation:
    """``folder`` is where its commands are called; its home is beside that."""

    def __init__(self, folder: Path, name: str = "home") -> None:
        self.folder, self.home = folder, folder.parent / name
        kept = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
        self.env = {**kept, "MIO_HOME": str(self.home)}
        self.port, self.key = free_port(), ""

    def __enter__(self) -> "Installation":
        """Runs web and worker until the end of the block."""
        log = self.home.with_suffix(".log")
        with log.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(self.port)],
                cwd=self.folder,
                env=self.env,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        ready = eventually(
            lambda: (
                self.process.poll() is not None or serve.answers("127.0.0.1", self.port, "/readyz")
            ),
            seconds=300,
        )
        assert ready, log.read_text()
        assert self.process.poll() is None, log.read_text()
        return self

    def __exit__(self, *_: object) -> None:
        serve.end([serve.Child("", [], process=self.process)])

    def shell(self, command: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """What a command line does in the folder; ``bin/mio`` is that of the repository."""
        return subprocess.run(
            ["sh", "-c", command.replace("bin/mio", f'"{ROOT / "bin/mio"}"', 1)],
            cwd=self.folder,
            env=self.env,
            input=typed,
            capture_output=True,
            text=True,
            timeout=600,
        )

    def mio(self, command: str) -> str:
        """The output of ``bin/mio``, which must end well."""
        done = self.shell(f"bin/mio {command}")
        assert done.returncode == 0, f"bin/mio {command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def call(self, path: str, body: Any) -> Any:
        web = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        web.request("POST", f"/api/v1/users/ann/{path}/", json.dumps(body), headers)
        reply = web.getresponse()
        told = json.loads(reply.read())
        assert reply.status < 300, told
        return told


@pytest.fixture(scope="package")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """It runs, and the user ann of my-chat has said a few things."""
    folder = tmp_path_factory.mktemp("first day") / "another folder"
    folder.mkdir()
    with Installation(folder) as one:
        one.key = one.mio("create_app my-chat").split()[-1]
        said = ["My friend Kim lives in Oslo and works at Equinor.", "小红养了一只猫，叫奶茶。",
                "Kim is allergic to peanuts."]  # fmt: skip
        one.call("messages", {"messages": [{"role": "user", "content": text} for text in said]})
        one.call("process", {"wait": True})
        yield one
