"""What one server carries: the real web process and worker under as much as they can take, one after
the other. What the processes and their sessions at the database took of the processors is told beside
each rate: other work on the machine makes them slower, but hardly dearer."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
from django.core.management.base import BaseCommand, CommandParser
from django.db import connections
from django.db.models import F, Sum
from django_q.models import OrmQ

from accounts import cells
from accounts.scope import all_users
from memories.models import Batch, Memory, Message, Work
from mio_site import serve
from mio_site.postgres import server
from tools.served import Client, Site, served

WARM = 4  # batches until each process of the worker has loaded what reads texts
LOADED_WITHIN = 120.0  # seconds
PER_REQUEST = 10  # messages that a client sends at once
# Sentences that the offline provider learns from, about so many people.
PEOPLE = "小红 小明 阿珍 老王 Lena Omar Priya 陈静".split()
SAID = (
    "我朋友{who}在腾讯当工程师，第{n}年了",
    "{who}最近在学游泳，已经第{n}次课了",
    "我和{who}下个月要去成都玩{n}天",
    "{who}喜欢喝美式咖啡，一天{n}杯",
    "今天好累，想早点睡，写了{n}页",
)
ASKED = ("{who}最近怎么样了，第{n}次问你", "{who}喜欢喝什么，{n}", "我和{who}说好去哪里，{n}")


class Command(BaseCommand):
    help = (
        "Measure what the web process and the worker carry at a database of their own: messages a "
        "second taken and read, contexts a second, memory of the processes, bytes of a memory. The "
        "last line is JSON. Say what else runs on the machine beside the figures."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seconds", type=float, default=20, help="each part takes so long")
        parser.add_argument("--clients", type=int, default=8, help="that ask at once")
        parser.add_argument("--users", type=int, default=100)
        parser.add_argument(
            "--cells",
            type=int,
            default=0,
            metavar="N",
            help="spread the users over N cells, each at a PostgreSQL of its own",
        )

    def handle(self, *, cells: int, **options: Any) -> None:
        if cells:
            with _servers(cells) as setting:
                self._again({"MIO_CELLS": setting}, options)
        else:
            self._measure(**options)

    def _again(self, environment: dict[str, str], options: dict[str, Any]) -> None:
        """The same in a process that has other settings."""
        given = [f"--{name}={options[name]}" for name in ("seconds", "clients", "users")]
        command = [sys.executable, "-m", "tools", "bench_capacity", *given]
        subprocess.run(command, env=os.environ | environment, check=True)  # noqa: S603 our own

    @all_users()
    def _measure(self, *, seconds: float, clients: int, users: int, **_options: Any) -> None:
        before = os.getloadavg()[0]
        with served(worker=False) as site:
            load = Load(site, clients, users)
            search, cards = load.contexts(search=True), load.contexts(search=False)
            load.run(search, seconds / 4, 1, "")  # loads what reads texts
            figures: dict[str, Any] = {
                "ingest": load.run(load.messages, seconds, PER_REQUEST, "messages"),
                "extract": _extracted(seconds),
                "context": load.run(search, seconds, 1, "contexts"),
                "cards": load.run(cards, seconds, 1, "contexts"),
                "stored": _stored(),
            }
        told = {"cores": os.cpu_count(), "load_before": round(before, 1), "clients": clients}
        told |= {"cells": len(cells.names()[1:]), "users": users}
        self.stdout.write(json.dumps(told | figures))


@contextmanager
def _servers(number: int) -> Iterator[str]:
    """So many servers that run until the end of the block, each with an empty database, as MIO_CELLS
    names them."""
    with TemporaryDirectory(prefix="mio-cells-") as folder, ExitStack() as running:
        named = []
        for cell in (f"c{n}" for n in range(1, number + 1)):
            home = Path(folder) / cell
            server.ensure_running(home)
            running.callback(server.leave, home)
            at = server.connection(home)
            where = {"host": at["HOST"], "port": at["PORT"]}
            secret = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
            database = f"mio_bench_{cell}"
            address = f"postgres://{secret}@/{{}}?{urlencode(where)}"
            with psycopg.connect(address.format(at["NAME"]), autocommit=True) as own:
                own.execute(f"CREATE DATABASE {database}")
            named.append(f"{cell}={address.format(database)}")
        yield ",".join(named)


class Load:
    """Clients that each ask again as soon as they are answered."""

    def __init__(self, site: Site, clients: int, users: int) -> None:
        self._site, self._clients = site, clients
        # Beside each other these are thread safe, and no two threads get the same.
        self._numbers = count(1)
        self._users = cycle([f"user-{number}" for number in range(users)])
        self._lock = threading.Lock()

    def run(
        self, ask: Callable[[Client, int, str], int], seconds: float, each: int, what: str
    ) -> dict[str, Any]:
        """How many requests a second were answered well (times ``each``), and how long they took."""
        took: list[float] = []
        refused: list[int] = []
        until = time.monotonic() + seconds

        def client() -> None:
            mine = self._site.client()
            while time.monotonic() < until:
                with self._lock:
                    number, user = next(self._numbers), next(self._users)
                started = time.perf_counter()
                status = ask(mine, number, user)
                if status < 300:
                    took.append((time.perf_counter() - started) * 1000)
                else:
                    refused.append(status)

        started, spent = time.monotonic(), _processor_s()
        threads = [threading.Thread(target=client) for _ in range(self._clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        passed, spent = time.monotonic() - started, _processor_s() - spent
        cuts = statistics.quantiles(took, n=20, method="inclusive") if len(took) > 1 else [0.0] * 19
        return {
            f"{what}_per_s": round(len(took) * each / passed, 1),
            "processor_ms_each": round(1000 * spent / max(len(took) * each, 1), 2),
            "p50_ms": round(cuts[9], 1),
            "p95_ms": round(cuts[18], 1),
            "refused": len(refused),
        }

    def messages(self, client: Client, number: int, user: str) -> int:
        said = [
            SAID[n % len(SAID)].format(who=PEOPLE[n % len(PEOPLE)], n=n)
            for n in range(number * PER_REQUEST, (number + 1) * PER_REQUEST)
        ]
        body = {"messages": [{"role": "user", "content": one} for one in said]}
        return client.call("POST", f"users/{user}/messages/", body).status

    def contexts(self, *, search: bool) -> Callable[[Client, int, str], int]:
        include = ["cards", "linked", "search"] if search else ["cards"]

        def ask(client: Client, number: int, user: str) -> int:
            who = PEOPLE[number % len(PEOPLE)]
            message = ASKED[number % len(ASKED)].format(who=who, n=number)
            body = {"message": message, "include": include}
            return client.call("POST", f"users/{user}/context/", body).status

        return ask


def _extracted(seconds: float) -> dict[str, Any]:
    """How many messages a second a worker reads while nobody calls, and what all processes hold."""
    worker = serve.Child(
        "worker", [sys.executable, "-m", "mio_site.child", str(os.getpid()), "worker"]
    )
    worker.start()
    try:
        begun = time.monotonic()
        while _read() < WARM * PER_REQUEST and time.monotonic() - begun < LOADED_WITHIN:
            time.sleep(0.2)
        read, started, spent = _read(), time.monotonic(), _processor_s()
        while time.monotonic() - started < seconds and OrmQ.objects.exists():
            time.sleep(0.5)
        read, passed, spent = _read() - read, time.monotonic() - started, _processor_s() - spent
        return {
            "messages_per_s": round(read / passed, 1),
            "processor_ms_each": round(1000 * spent / max(read, 1), 2),
            "memory_mb": dict(_resident()),
        }
    finally:
        serve.end([worker])


def _read() -> int:
    """How many messages stand in batches that are done."""
    done = Batch.objects.filter(state=Work.State.DONE)
    read = Sum(F("last_seq") - F("first_seq") + 1)
    return sum(done.using(cell).aggregate(read=read)["read"] or 0 for cell in _each_cell())


def _each_cell() -> Iterator[str]:
    """The cells, each of them entered while it is looked at."""
    for cell in cells.names():
        with cells.entered(cell):
            yield cell


def _resident() -> Iterator[tuple[str, float]]:
    """The memory of each process that we started, its share of what it shares included (PSS), in MB."""
    for pid, command in _ours():
        if b"mio_site.child" in command:
            told = Path(f"/proc/{pid}/smaps_rollup").read_text()
            size = next(line for line in told.splitlines() if line.startswith("Pss:")).split()[1]
            yield f"{'web' if b'web' in command else 'worker'} {pid}", round(int(size) / 1024, 1)


def _processor_s() -> float:
    """What the processes that we started and the sessions at our database took so far."""
    ticks = 0
    for pid, _ in _ours():
        with suppress(OSError):
            told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, told[11:13]))  # in the process and for it in the kernel
    return ticks / os.sysconf("SC_CLK_TCK")


def _ours() -> Iterator[tuple[int, bytes]]:
    """The processes that we started, and the sessions at our database, with their commands."""
    parents, commands = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
            commands[int(folder.name)] = (folder / "cmdline").read_bytes()
    ours = [f" {connections[cell].settings_dict['NAME']} ".encode() for cell in cells.names()]
    for pid, command in sorted(commands.items()):
        served_here = command.startswith(b"postgres:") and any(name in command for name in ours)
        if served_here or os.getpid() in _above(pid, parents):
            yield pid, command


def _above(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid


def _stored() -> dict[str, float]:
    """Rows, and bytes of a memory and of a message with their indexes."""
    sizes: Counter[str] = Counter()
    memories = messages = 0
    for cell in _each_cell():
        with connections[cell].cursor() as cursor:
            cursor.execute(
                "SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c "
                "WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace"
            )
            sizes.update(dict(cursor.fetchall()))
        memories += Memory.objects.count()
        messages += Message.objects.count()

    def of(*tables: str) -> int:
        return sum(size for name, size in sizes.items() if name.startswith(tables))

    about = of(
        "memories_memory", "memories_vector", "memories_posting", "memories_link", "memories_edge"
    )
    return {
        "memories": memories,
        "messages": messages,
        "bytes_per_memory": round(about / max(memories, 1)),
        "bytes_per_message": round(of("memories_message") / max(messages, 1)),
        "database_mb": round(sum(sizes.values()) / 2**20, 1),
    }
