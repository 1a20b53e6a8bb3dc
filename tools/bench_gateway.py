"""python -m tools bench_gateway: what the gateway adds to a chat, and many streams at once."""

import asyncio
import itertools
import json
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from tqdm import tqdm

from accounts.models import App
from accounts.scope import all_users, undeclared
from contacts.models import Contact
from gateway import upstreams
from mio_site import serve
from tools import large_end_user, model_stub
from tools.bench.measure import percentiles
from tools.served import served

USER = "crowded"
NONCES = itertools.count()
WARM = 10  # chats before any is measured
PIECES, PAUSE = 200, 0.1  # of a stream among many: twenty seconds
SPREAD = 10.0  # seconds in which many streams begin, if not at once
READY = 30.0  # seconds until the stub answers
PATHS = {"chat": "chat/completions", "responses": "responses"}


class Command(BaseCommand):
    help = (
        "Measure chats through the gateway side by side with the same chats sent straight to a "
        "model server that answers at once, each in processes and a database of their own; then "
        "many streams at once, compared byte by byte. The last line is JSON."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=200, help="chats of each kind")
        parser.add_argument("--streams", type=int, default=200, help="streams at once")
        parser.add_argument(
            "--think", type=int, default=200, help="milliseconds until the model server answers"
        )
        parser.add_argument("--contacts", type=int, default=500)
        parser.add_argument("--memories", type=int, default=10_000)

    @all_users()
    def handle(
        self,
        *,
        rounds: int,
        streams: int,
        think: int,
        contacts: int,
        memories: int,
        **_options: Any,
    ) -> None:
        if min(rounds, streams) < 2 or contacts < 100 or memories < 1000:
            raise CommandError("Measuring begins at 2 rounds, 100 contacts and 1,000 memories.")
        with served(worker=False) as site, stub() as upstream:
            app = App.objects.get()
            end_user = large_end_user.crowd(app, USER, contacts, memories, progress=True)
            upstreams.configure(app, upstream, key="sk-bench")
            known = list(Contact.objects.of(end_user).light().values_list("name", flat=True)[:100])
            gateway = f"http://127.0.0.1:{site.port}/v1"
            doors = Doors(upstream, gateway, site.secret, known, think / 1000)
            figures = asyncio.run(measure(doors, rounds, streams))
        self.stdout.write(
            json.dumps({"contacts": contacts, "memories": memories, "think_ms": think, **figures})
        )


@dataclass(frozen=True)
class Doors:
    """The model server itself, which thinks for so many seconds, and the gateway before it with a
    key of the app; ``known`` are people of whom is asked."""

    direct: str
    gateway: str
    secret: str
    known: list[str]
    think: float


@dataclass(frozen=True)
class Kind:
    """A kind of chat. A ``task`` is one that the client asks for itself: no memory."""

    api: str
    stream: bool = False
    task: bool = False


KINDS = {
    "chat": Kind("chat"),
    "chat, streamed": Kind("chat", stream=True),
    "response": Kind("responses"),
    "response, streamed": Kind("responses", stream=True),
    "without memory, streamed": Kind("chat", stream=True, task=True),
}


@dataclass(frozen=True)
class Heard:
    """Milliseconds to the first byte and to the last, and whether each byte was right."""

    first: float
    last: float
    whole: bool
    memory: str


@contextmanager
def stub() -> Iterator[str]:
    """The address of a model server in a process of its own."""
    listener = serve.reserve("127.0.0.1", 0)
    number, port = listener.fileno(), listener.getsockname()[1]
    command = [sys.executable, "-m", "tools.model_stub", str(number)]
    process = subprocess.Popen(command, cwd=serve.ROOT, pass_fds=(number,))  # noqa: S603 our own
    try:
        deadline = time.monotonic() + READY
        while not serve.answers("127.0.0.1", port, "/v1/models"):
            if time.monotonic() > deadline:
                raise TimeoutError("The model server does not answer.")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()
        listener.close()


async def measure(doors: Doors, rounds: int, streams: int) -> dict[str, Any]:
    """The figures of every kind of chat, and of many streams at once."""
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(trust_env=False, timeout=120, limits=limits) as http:
        await _side_by_side(http, doors, Kind("chat"), WARM)
        kinds = {
            name: await _side_by_side(http, doors, kind, rounds) for name, kind in KINDS.items()
        }
        crowds = {
            f"{name}, {how}": await _at_once(http, door, doors, streams, within)
            for how, within in (("at one moment", 0.0), ("in ten seconds", SPREAD))
            for name, door in (("direct", doors.direct), ("gateway", doors.gateway))
        }
    return {"rounds": rounds, "kinds": kinds, "streams": streams, "crowds": crowds}


async def _side_by_side(
    http: httpx2.AsyncClient, doors: Doors, kind: Kind, rounds: int
) -> dict[str, Any]:
    """The same chats sent straight and through the gateway, in turn."""
    heard: dict[str, list[Heard]] = {doors.direct: [], doors.gateway: []}
    for number in tqdm(range(rounds), desc=kind.api, leave=False, disable=None):
        for door in sorted(heard, reverse=bool(number % 2)):
            heard[door].append(await _ask(http, door, doors, kind))
    told = heard[doors.gateway]
    if not all(one.whole for both in heard.values() for one in both):
        raise CommandError("An answer is other than what the model server said.")
    figures = {
        name: {
            "first": percentiles([one.first for one in heard[door]]),
            "last": percentiles([one.last for one in heard[door]]),
        }
        for name, door in (("direct", doors.direct), ("gateway", doors.gateway))
    }
    pairs = zip(heard[doors.gateway], heard[doors.direct], strict=True)
    added = [through.first - direct.first for through, direct in pairs]
    return {
        **figures,
        "added_to_first": percentiles(added),
        "added_mean_ms": round(statistics.fmean(added), 3),
        "memory": {state: sum(one.memory == state for one in told) for state in _states(told)},
    }


def _states(heard: list[Heard]) -> set[str]:
    return {one.memory for one in heard}


async def _at_once(
    http: httpx2.AsyncClient, door: str, doors: Doors, streams: int, within: float
) -> dict[str, Any]:
    """So many streams, which begin ``within`` seconds and last longer than that."""

    async def one(number: int) -> Heard:
        await asyncio.sleep(within * number / streams)
        more = {"x_pieces": PIECES, "x_pause": PAUSE}
        return await _ask(http, door, doors, Kind("chat", stream=True), **more)

    watched = asyncio.create_task(_sessions())
    heard = await asyncio.gather(*map(one, range(streams)))
    return {
        "lost_or_changed": sum(not one.whole for one in heard),
        "first": percentiles([one.first for one in heard]),
        "last": percentiles([one.last for one in heard]),
        "memory": {state: sum(one.memory == state for one in heard) for state in _states(heard)},
        "database_sessions": await watched,
    }


async def _sessions() -> int:
    """The connections to the database that the web process holds in the midst of the streams."""
    await asyncio.sleep(PIECES * PAUSE * 0.8)
    return await asyncio.to_thread(_others)


@undeclared()
def _others() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE NONE")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        found: int = cursor.fetchone()[0]
    connection.close()
    return found


async def _ask(http: httpx2.AsyncClient, door: str, doors: Doors, kind: Kind, **more: Any) -> Heard:
    """One chat about somebody who is known, as a conversation of its own."""
    number = next(NONCES)
    said = f"{doors.known[number % len(doors.known)]}最近怎么样? {number}"
    messages = [{"role": "user", "content": said}]
    field = {"messages": messages} if kind.api == "chat" else {"input": said}
    body = {"model": "stub", "stream": kind.stream, "x_nonce": number, "x_think": doors.think,
            **field, **more}  # fmt: skip
    headers = {"Authorization": f"Bearer {doors.secret}", "X-Mio-User": USER}
    headers |= {"X-Mio-Task": "title"} if kind.task else {}
    begun, first, came = time.perf_counter(), 0.0, bytearray()
    try:
        async with http.stream(
            "POST", f"{door}/{PATHS[kind.api]}", json=body, headers=headers
        ) as answer:
            async for piece in answer.aiter_raw():
                first = first or time.perf_counter()
                came += piece
            memory = answer.headers.get("x-mio-memory", "")
    except httpx2.TransportError:
        memory = "lost"
    ended = time.perf_counter()
    return Heard(
        1000 * ((first or ended) - begun),
        1000 * (ended - begun),
        bytes(came) == b"".join(model_stub.pieces(body)),
        memory,
    )
