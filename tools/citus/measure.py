"""What Mio does on Citus, beside the same Mio on PostgreSQL alone, at the cluster of this folder.

    .venv/bin/python tools/citus/measure.py move      a cell goes to the other worker while it is used
    .venv/bin/python tools/citus/measure.py compare   contexts and storing on both, in turns

The schema ``measured`` of both databases is made anew. The last line is one JSON object.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

ROOT = Path(__file__).parents[2]
HOME = Path(os.environ["CITUS_HOME"])
PASSWORD = (HOME / "data" / "password").read_text(encoding="utf-8").strip()
SERVERS = {"citus": 9700, "plain": 9703}
WORKERS = (9701, 9702)
SCHEMA = "measured"
NAMES = "小红 王芳 老李 Anna Bea Cleo Dora 赵磊 陈静 Emil 孙悦 周杰 Gina 吴敏 郑爽 Hugo 钱多 冯远 Ines 林娜".split()
PLACES = "Ghent Leeds 杭州 Turin 上海 York 成都 Porto".split()
JOBS = "nurse cook 律师 pilot 老师 engineer".split()
SAYINGS = (
    "My friend {name} moved to {place}.",
    "我朋友{name}在{place}当{job}。",
    "{name} works as a {job} and likes climbing.",
    "{name}下周要去{place}出差。",
)
QUESTIONS = ("{name}最近怎么样了", "What is {name} up to in {place}?", "Is {name} still a {job}?")
USERS = 4
WRITERS = 4


def connect(server: str) -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1", port=SERVERS[server], dbname="mio", user="mio", password=PASSWORD,
        autocommit=True, options=f"-c search_path={SCHEMA},public",
    )  # fmt: skip


def environment(server: str, role: str = "mio_app") -> dict[str, str]:
    address = f"postgres://{role}:{quote(PASSWORD)}@127.0.0.1:{SERVERS[server]}/mio"
    return {
        **os.environ,
        "DATABASE_URL": f"{address}?options=-c%20search_path%3D{SCHEMA},public",
        "MIO_HOME": str(HOME / "home"),
        "OMP_NUM_THREADS": "1",
        "DEBUG": "1",
        "MIO_LLM": "offline",
        "MIO_CONTEXT_DEADLINE_MS": "0",
    }


def manage(server: str, *arguments: str, role: str = "mio_app") -> str:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(server, role), check=True, capture_output=True, text=True
    )
    return done.stdout


def prepare(server: str) -> str:
    """Makes the cell anew, and returns the secret of a key."""
    with connect(server) as database:
        database.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        database.execute(f"CREATE SCHEMA {SCHEMA}")
    manage(server, "migrate", "--verbosity", "0", role="mio")
    return manage(server, "create_app", "measured").split()[-1]


class Client:
    """The API over one connection, which is opened again when it was lost."""

    def __init__(self, port: int, secret: str) -> None:
        self._http = HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}

    def call(self, method: str, address: str, body: Any = None) -> tuple[int, Any]:
        """Raises OSError and http.client.HTTPException when no answer comes."""
        try:
            text = None if body is None else json.dumps(body).encode()
            self._http.request(method, f"/api/v1/users/{address}", text, self._headers)
            reply = self._http.getresponse()
            return reply.status, json.loads(reply.read() or b"null")
        except BaseException:
            self._http.close()
            raise


@contextmanager
def served(server: str, port: int) -> Iterator[None]:
    log = (HOME / f"serve-{server}.log").open("w")
    command = [sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(port)]
    site = subprocess.Popen(command, cwd=ROOT, env=environment(server), stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 90
        while not _answers(port):
            if time.monotonic() > deadline:
                raise TimeoutError(f"Mio on {server} does not answer; see {log.name}.")
            time.sleep(0.2)
        yield
    finally:
        site.terminate()
        site.wait()


def _answers(port: int) -> bool:
    http = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        http.request("GET", "/readyz")
        return http.getresponse().status == 200
    except OSError:
        return False
    finally:
        http.close()


def said(random: random.Random, forms: tuple[str, ...] = SAYINGS) -> str:
    return random.choice(forms).format(
        name=random.choice(NAMES), place=random.choice(PLACES), job=random.choice(JOBS)
    )


def fill(client: Client, user: str, messages: int = 80) -> float:
    """Seconds that it takes to receive, extract, link and consolidate so many messages."""
    chance = random.Random(user)
    told = [{"role": "user", "content": said(chance), "id": f"{user}-{n}"} for n in range(messages)]
    began = time.perf_counter()
    for status, answer in (
        client.call("POST", f"{user}/messages/", {"messages": told}),
        client.call("POST", f"{user}/process/", {"wait": True}),
    ):
        if status >= 300:
            raise RuntimeError(f"{status}: {answer}")
    return time.perf_counter() - began


# A cell that moves while it is used


class Load:
    """Clients that write messages and memories and ask for contexts, each noting what was
    acknowledged."""

    def __init__(self, port: int, secret: str) -> None:
        self.answers: Counter[str] = Counter()
        self.messages: list[tuple[str, str]] = []
        self.memories: list[tuple[str, str]] = []
        self.longest = 0.0
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(Client(port, secret), n))
            for n in range(WRITERS)
        ]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, client: Client, number: int) -> None:
        chance, user = random.Random(number), f"user-{number % USERS}"
        count = 0
        while not self._stop.is_set():
            count += 1
            name, text = f"move-{number}-{count}", said(chance)
            sent = {"messages": [{"role": "user", "content": text, "id": name}]}
            if self._ask(client, "POST", f"{user}/messages/", sent) == 202:
                self.messages.append((user, name))
            content = f"{text} ({name})"
            if self._ask(client, "POST", f"{user}/memories/", {"content": content}) == 201:
                self.memories.append((user, content))
            self._ask(client, "POST", f"{user}/context/", {"message": said(chance, QUESTIONS)})

    def _ask(self, client: Client, method: str, address: str, body: Any) -> int:
        began = time.perf_counter()
        try:
            status, _ = client.call(method, address, body)
        except OSError:
            status = 0
        self.longest = max(self.longest, time.perf_counter() - began)
        self.answers[str(status)] += 1
        return status


def move() -> dict[str, Any]:
    secret = prepare("citus")
    with served("citus", 8711), connect("citus") as database:
        client = Client(8711, secret)
        for n in range(USERS):
            fill(client, f"user-{n}")
        source, target = _place(database)
        with Load(8711, secret) as load:
            time.sleep(5)
            seconds = _move(database, target)
            time.sleep(5)
        client = Client(8711, secret)  # the server has closed one that was quiet
        for n in range(USERS):
            client.call("POST", f"user-{n}/process/", {"wait": True})
        stored_once = _stored_once(database, load)
    doctor = json.loads(manage("citus", "doctor", "--json").splitlines()[-1])
    with connect("citus") as database:
        before = checksums(database)
        _move(database, source)
        unequal = {name for name, sum_ in checksums(database).items() if sum_ != before[name]}
    return {
        "move_s": round(seconds, 1),
        "answers": dict(load.answers),
        "longest_s": round(load.longest, 2),
        "acknowledged": len(load.messages) + len(load.memories),
        "stored_once": stored_once,
        "doctor": doctor,
        "tables": len(before),
        "unequal_tables": sorted(unequal),
    }


def _place(database: psycopg.Connection) -> tuple[int, int]:
    """The port of the worker that has the cell, and that of the other."""
    row = database.execute(
        "SELECT DISTINCT nodeport FROM citus_shards WHERE table_name::text LIKE %s", [f"{SCHEMA}.%"]
    ).fetchone()
    if row is None:
        row = database.execute(
            "SELECT DISTINCT nodeport FROM citus_shards WHERE table_name = 'accounts_app'::regclass"
        ).fetchone()
    here = row[0] if row else WORKERS[0]
    return here, next(port for port in WORKERS if port != here)


def _move(database: psycopg.Connection, port: int) -> float:
    began = time.perf_counter()
    database.execute("SELECT citus_schema_move(%s, '127.0.0.1', %s)", [SCHEMA, port])
    return time.perf_counter() - began


def _stored_once(database: psycopg.Connection, load: Load) -> int:
    """How many of the acknowledged writes are there exactly once."""
    with database.transaction():
        database.execute("SET LOCAL mio.scope = 'all'")
        messages = database.execute(
            "SELECT external_id, client_id FROM memories_message m "
            "JOIN accounts_enduser u ON u.id = m.end_user_id"
        ).fetchall()
        memories = database.execute(
            "SELECT external_id, content FROM memories_memory m "
            "JOIN accounts_enduser u ON u.id = m.end_user_id"
        ).fetchall()
    known = Counter(messages), Counter(memories)
    return sum(known[0][one] == 1 for one in load.messages) + sum(
        known[1][one] == 1 for one in load.memories
    )


def checksums(database: psycopg.Connection) -> dict[str, Any]:
    """Of every table of the cell: its rows, and a hash of them."""
    names = database.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace "
        "AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1",
        [SCHEMA],
    ).fetchall()
    found = {}
    for (name,) in names:
        with database.transaction():
            database.execute("SET LOCAL mio.scope = 'all'")
            found[name] = database.execute(
                f"SELECT count(*), md5(string_agg(line, '' ORDER BY line)) "
                f'FROM (SELECT md5(t::text) AS line FROM "{name}" t) lines'
            ).fetchone()
    return found


# Citus and PostgreSQL alone, in turns

IN_PROCESS = """
import json, sys, time
import manage
manage.prepare_database(migrate=False)
from accounts.models import EndUser
from accounts import scope
from memories.context import build
with scope.all_users():
    end_user = EndUser.objects.get(external_id="user-0")
for line in sys.stdin:
    began = time.perf_counter()
    with scope.user_scope(end_user):
        build.build(end_user, json.loads(line))
    print((time.perf_counter() - began) * 1000, flush=True)
"""


def compare(rounds: int) -> dict[str, Any]:
    ports = {"citus": 8711, "plain": 8713}
    chance = random.Random(1)
    found: dict[str, dict[str, float]] = {name: {} for name in SERVERS}
    secrets = {name: prepare(name) for name in SERVERS}
    with served("citus", ports["citus"]), served("plain", ports["plain"]):
        filled: dict[str, list[float]] = {name: [] for name in SERVERS}
        for n in range(USERS):
            for name in SERVERS:
                filled[name].append(fill(Client(ports[name], secrets[name]), f"user-{n}"))
        clients = {name: Client(ports[name], secrets[name]) for name in SERVERS}
        http: dict[str, list[float]] = {name: [] for name in SERVERS}
        for n in range(rounds):
            body = {"message": said(chance, QUESTIONS) + f" {n}"}
            for name, client in clients.items():
                began = time.perf_counter()
                client.call("POST", "user-0/context/", body)
                http[name].append((time.perf_counter() - began) * 1000)
    inside = _in_process(rounds, chance)
    for name in SERVERS:
        found[name] = {
            "http_p50_ms": round(statistics.median(http[name][5:]), 2),
            "in_process_p50_ms": round(statistics.median(inside[name][5:]), 2),
            "filled_messages_per_s": round(80 / statistics.median(filled[name]), 1),
        }
    ratios = {key: round(found["citus"][key] / found["plain"][key], 3) for key in found["citus"]}
    return {"rounds": rounds, **found, "citus_to_plain": ratios}


def _in_process(rounds: int, chance: random.Random) -> dict[str, list[float]]:
    children = {
        name: subprocess.Popen(
            [sys.executable, "-c", IN_PROCESS], cwd=ROOT, env=environment(name), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for name in SERVERS
    }  # fmt: skip
    times: dict[str, list[float]] = {name: [] for name in SERVERS}
    for n in range(rounds):
        question = json.dumps(said(chance, QUESTIONS) + f" {n}") + "\n"
        for name, child in children.items():
            assert child.stdin
            assert child.stdout
            child.stdin.write(question)
            child.stdin.flush()
            times[name].append(float(child.stdout.readline()))
    for child in children.values():
        child.communicate()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["move", "compare"])
    parser.add_argument("--rounds", type=int, default=200, help="questions to each, of compare")
    given = parser.parse_args()
    print(json.dumps(move() if given.what == "move" else compare(given.rounds), ensure_ascii=False))


if __name__ == "__main__":
    main()
