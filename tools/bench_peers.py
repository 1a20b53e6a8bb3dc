"""python -m tools bench_peers NAME…: Mio or other memories in the benchmark, served for it."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psutil
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from psycopg import sql

from accounts.cells import connection
from benchmark import corpus
from benchmark.__main__ import TASKS, run
from benchmark.judge import Judge
from benchmark.tasks.lives import LIVES
from tools.served import served

ROOT = Path(__file__).resolve().parent.parent
# Each in an environment of its own, with the versions that the figures are of.
PEERS = {
    "mem0": ["mem0ai==2.2.1", "psycopg[binary,pool]==3.3.9"],
    "langgraph": ["langgraph==1.2.22", "langgraph-checkpoint-postgres==3.2.0",
                  "langchain-openai==1.7.3", "psycopg[binary,pool]==3.3.9"],
    "hindsight": ["hindsight-api-slim==1.1.0"],
}  # fmt: skip
READY_WITHIN = 60  # seconds, for the embedder


SAMPLED_EVERY = 5.0  # seconds between two looks at the memory of a system


class Command(BaseCommand):
    help = (
        "Measures Mio or other memories with the benchmark, one after the other. The last line of "
        "each is its figures as JSON. With --model-url, Mio, mem0 and Hindsight use that model."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="+", choices=["mio", *PEERS])
        parser.add_argument("--task", action="append", choices=TASKS, help="only this")
        parser.add_argument("--author", action="append", help="only this author of the corpus")
        parser.add_argument("--life", action="append", help="only this life")
        parser.add_argument("--model-url", default="", help="a server of the OpenAI protocol")
        parser.add_argument("--model", default="", help="its model; the key is MODEL_KEY")
        parser.add_argument("--judge-url", help="a server of the OpenAI protocol that judges T3")
        parser.add_argument("--judge-model", default="", help="its model; the key is JUDGE_KEY")
        parser.add_argument("--out", type=Path, help="a folder for the figures, a file per system")

    def handle(self, *, names: list[str], out: Path | None, **given: Any) -> None:
        if bool(given["model_url"]) != bool(given["model"]):
            raise CommandError("Give --model-url and --model together, or neither.")
        lives = given["life"] or sorted(path.stem for path in LIVES.glob("*.json"))
        judge = Judge(given["judge_url"], given["judge_model"]) if given["judge_url"] else None
        os.environ |= model_settings(given["model_url"], given["model"])
        for name in names:
            with mio() if name == "mio" else peer(name) as (program, size), memory() as most:
                figures = run(
                    program,
                    given["task"] or list(TASKS),
                    given["author"] or corpus.authors(),
                    lives,
                    judge=judge,
                )
                figures["database_mb"] = round(size() / 2**20)
            figures["memory_mb"] = round(max(most) / 2**20)
            figures["system"] = (
                "Mio" if name == "mio" else f"{name} {PEERS[name][0].split('==')[1]}"
            )
            if given["model"]:
                figures["system"] += f" with {given['model']}"
            if out:
                out.mkdir(parents=True, exist_ok=True)
                text = json.dumps(figures, ensure_ascii=False, indent=1)
                (out / f"{name}.json").write_text(text + "\n", "utf-8")
            self.stdout.write(json.dumps(figures, ensure_ascii=False))


def model_settings(url: str, model: str) -> dict[str, str]:
    """The environment in which systems use a model, or none."""
    key = os.environ.get("MODEL_KEY", "none") if url else ""
    return {
        "MIO_LLM": "openai" if url else "offline",
        "MIO_LLM_MODEL": model or "none",
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": key,
        "PEER_MODEL_URL": url,
        "PEER_MODEL": model,
        "PEER_MODEL_KEY": key,
    }


@contextmanager
def mio() -> Iterator[tuple[str, Callable[[], int]]]:
    """Mio served at an empty database: the system's name, and what gives its bytes on disk."""
    with served(worker=False) as site:
        os.environ |= {"MIO_BASE": f"http://127.0.0.1:{site.port}", "MIO_KEY": site.secret}
        yield "mio", partial(size_of, connection.settings_dict["NAME"])


@contextmanager
def peer(name: str) -> Iterator[tuple[str, Callable[[], int]]]:
    """Another memory with an empty database and an embedder, as :func:`mio`."""
    folder = Path(settings.MIO_HOME).resolve() / "peers"
    python = installed(name, folder)
    with embedder(folder) as address, database(f"peer_{name}") as url:
        given = dict(os.environ)
        os.environ |= {"PYTHONPATH": str(ROOT), "PEER_EMBEDDER": address, "PEER_DATABASE": url}
        os.environ.pop("DATABASE_URL", None)
        try:
            yield f"{python} -m tools.peers.peer_{name}", partial(size_of, f"peer_{name}")
        finally:
            os.environ |= given


@contextmanager
def memory() -> Iterator[list[int]]:
    """Bytes of the processes of a system, embedder included and PostgreSQL not, as they were every
    few seconds: proportional set sizes, so that pages of several processes count once."""
    seen, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(SAMPLED_EVERY):
            processes = psutil.Process().children(recursive=True)
            seen.append(sum(map(proportional_set_size, processes)))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield seen
    finally:
        ended.set()
        looking.join()


def proportional_set_size(process: psutil.Process) -> int:
    """In bytes, 0 of a process that ended meanwhile."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0


def size_of(database_name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(%s)", [database_name])
        return int(cursor.fetchone()[0])


def installed(name: str, folder: Path) -> Path:
    """The interpreter of a peer's environment, made where it is not there."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS[name]], check=True)
    return python


@contextmanager
def embedder(folder: Path) -> Iterator[str]:
    """The address of an embedder, while it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tools.peers.embedder", str(port), str(folder / "passages.db")]
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
