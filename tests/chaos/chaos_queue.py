"""`make run` whose worker loses a process, a session or the database server 200 times while tasks flow."""

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from tests.chaos.chaos_server import Site
from tests.mio_site.waiting import eventually

KILLS, LOOK_EVERY = 200, 10
WAYS = {"child": 75, "session": 20, "server": 5}
# Whose worker ends five times in a minute, `serve` gives up, by design.
WORKER_EVERY = 40


def below(parent: int) -> list[int]:
    """The processes that a process started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(stat.rpartition(")")[2].split()[1]) == parent:
            found.append(int(folder.name))
    return found


def worker_of(site: Site) -> int | None:
    """The process that supervises the site's worker."""
    for pid in below(site.process.pid):
        try:
            if b"worker" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                return pid
        except FileNotFoundError:
            continue
    return None


def kill_one(site: Site, way: str, chance: random.Random) -> None:
    if way == "session":
        site.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'mio' "
            "AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1"
        )
        return
    worker = worker_of(site)
    if way == "server":
        victims = [int((site.home / "postgres/data/postmaster.pid").read_text().split()[0])]
    elif worker is None:
        return
    else:
        victims = [worker] if way == "worker" else below(worker)
    if victims:
        with suppress(ProcessLookupError):
            os.kill(chance.choice(victims), signal.SIGKILL)


def say(site: Site, user: str) -> bool:
    said = {"messages": [{"id": "1", "role": "user", "content": "My friend Nora lives in Oslo."}]}
    return (
        site.ask(f"users/{user}/messages/", said) == 202
        and site.ask(f"users/{user}/process/", {}) == 202
    )


def extracted(site: Site) -> set[str]:
    rows = site.sql(
        "SELECT u.external_id FROM accounts_enduser u JOIN memories_batch b ON b.end_user_id = u.id "
        "WHERE b.state = 'done'"
    )
    return {user for (user,) in rows}


def last_end(site: Site) -> float:
    """When the last task ended, in seconds; 0 where none has."""
    return float(
        site.sql("SELECT coalesce(extract(epoch FROM max(stopped)), 0) FROM django_q_task")[0][0]
    )


def ended_after(site: Site, moment: float) -> bool:
    try:
        return last_end(site) > moment
    except psycopg.Error:
        return False  # the server is starting


def test_the_queue_moves_after_each_of_many_kills(tmp_path: Path, figures: dict[str, Any]) -> None:
    chance, site = random.Random(28), Site(tmp_path / "home", workers=2)
    kills: Counter[str] = Counter()
    waited, before = list[float](), 0.0
    try:
        sent = []
        for number in range(KILLS):
            if say(site, user := f"u{number}"):
                sent.append(user)
            time.sleep(chance.uniform(0, 0.3))
            way = chance.choices(list(WAYS), list(WAYS.values()))[0]
            way = "worker" if number % WORKER_EVERY == 0 else way
            try:
                kill_one(site, way, chance)
            except (psycopg.Error, FileNotFoundError, ValueError):
                continue  # the server is starting
            kills[way] += 1
            if number % LOOK_EVERY == LOOK_EVERY - 1:
                began = time.monotonic()
                with suppress(psycopg.Error):
                    before = last_end(site)
                assert eventually(partial(say, site, f"late{number}"), 60)
                assert eventually(partial(ended_after, site, before), 60), (number, kills)
                waited.append(time.monotonic() - began)
        assert eventually(site.ready, 60)
        # What killed workers held is due again after its lease.
        site.sql("UPDATE django_q_ormq SET lock = now()")
        site.sql("UPDATE memories_batch SET leased_until = now() WHERE state = 'running'")
        while left := set(sent) - extracted(site):
            before = last_end(site)
            assert eventually(partial(ended_after, site, before), 60), left
        site.sql("UPDATE memories_consolidation SET leased_until = now() WHERE state = 'running'")
        assert eventually(site.ready, 60)
    finally:
        site.end()
    figures.update(kills=dict(kills), users=len(sent), lost=0, longest_wait_s=round(max(waited), 1))
