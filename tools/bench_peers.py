"""python -m tools bench_peers NAME: another memory in the benchmark."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from psycopg import sql

from accounts.cells import connection
from benchmark import corpus
from benchmark.__main__ import TASKS, run
from benchmark.tasks.lives import LIVES

ROOT = Path(__file__).resolve().parent.parent
# Each in an environment of its own, with the versions that the figures are of.
PEERS = {
    "mem0": ["mem0ai==2.2.1", "psycopg[binary,pool]==3.3.9"],
    "langgraph": ["langgraph==1.2.22", "langgraph-checkpoint-postgres==3.2.0",
                  "langchain-openai==1.7.3", "psycopg[binary,pool]==3.3.9"],
    "hindsight": ["hindsight-api-slim==1.1.0"],
}  # fmt: skip
READY_WITHIN = 60  # seconds, for the embedder


class Command(BaseCommand):
    help = "Measures another memory with the benchmark. The last line is its figures as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=PEERS)
        parser.add_argument("--task", action="append", choices=TASKS, help="only this")
        parser.add_argument("--author", action="append", help="only this author of the corpus")
        parser.add_argument("--life", action="append", help="only this life")
        parser.add_argument("--model-url", default="", help="a server of the OpenAI protocol")
        parser.add_argument("--out", type=Path)

    def handle(self, *, name: str, out: Path | None, **given: Any) -> None:
        python = installed(name, Path(settings.MIO_HOME).resolve() / "peers")
        lives = given["life"] or sorted(path.stem for path in LIVES.glob("*.json"))
        with embedder() as address, database(f"peer_{name}") as url:
            os.environ |= {
                "PYTHONPATH": str(ROOT),
                "PEER_EMBEDDER": address,
                "PEER_DATABASE": url,
                "PEER_MODEL_URL": given["model_url"],
            }
            os.environ.pop("DATABASE_URL", None)
            program = f"{python} -m tools.peers.peer_{name}"
            figures = run(
                program, given["task"] or list(TASKS), given["author"] or corpus.authors(), lives
            )
        figures["system"] = f"{name} ({PEERS[name][0]})"
        if out:
            out.write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", "utf-8")
        self.stdout.write(json.dumps(figures, ensure_ascii=False))


def installed(name: str, folder: Path) -> Path:
    """The interpreter of a peer's environment, made where it is not there."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS[name]], check=True)
    return python


@contextmanager
def embedder() -> Iterator[str]:
    """The address of an embedder, while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tools.peers.embedder", str(port)]
    # With more threads than free cores a query takes thirty times as long.
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + READY_WITHIN
        while True:
            try:
                urllib.request.urlopen(urllib.request.Request(f"{address}/kind", b"passage")).read()
                break
            except urllib.error.URLError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise CommandError("The embedder did not start.") from None
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()


@contextmanager
def database(name: str) -> Iterator[str]:
    """The URL of an empty database with pgvector on Mio's server, which is dropped afterwards."""
    given = connection.settings_dict
    with connection.cursor() as cursor:
        for statement in ("DROP DATABASE IF EXISTS {} WITH (FORCE)", "CREATE DATABASE {}"):
            cursor.execute(sql.SQL(statement).format(sql.Identifier(name)))
    place = {
        "host": given["HOST"] or "127.0.0.1",
        **({"port": given["PORT"]} if given["PORT"] else {}),
    }
    login = f"{quote(given['USER'], safe='')}:{quote(given['PASSWORD'], safe='')}"
    try:
        yield f"postgresql://{login}@/{name}?{urlencode(place)}"
    finally:
        with connection.cursor() as cursor:
            dropped = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
            cursor.execute(dropped.format(sql.Identifier(name)))
