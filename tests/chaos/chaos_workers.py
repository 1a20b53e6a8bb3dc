"""Workers: many at once, killed anywhere, told things twice, with clocks that jump."""

import json
import os
import random
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ

from accounts.models import EndUser
from memories.doctor.invariants import CHECKS
from memories.models import Batch, Consolidation, Memory, Message
from memories.pipeline import run
from memories.pipeline.buffer import receive
from memories.tasks import extract
from tests.deploy.test_files import ROOT
from tests.factories import make_app
from tests.memories.pipeline.test_concurrency import INGEST_AND_EXTRACT, knowledge, undisturbed
from tests.memories.pipeline.worker_process import PROCESS, TALK, incoming
from tests.processes import database_url, end_other_sessions, start

pytestmark = pytest.mark.django_db(transaction=True)

PROCESSES, ROUNDS = 8, 100
KILLS, KILLS_OF_USER = 100, 4  # the fifth death quarantines, by design
# What says only that no worker has run yet.
WORKERS_DO = {"embeddings_are_current", "schedules_are_installed"}


def wrong() -> list[str]:
    """What the doctor finds."""
    return [
        f"{check.__name__}: {finding.problem}"
        for check in CHECKS
        if check.__name__ not in WORKERS_DO
        for finding in check()
    ]


def time_passes() -> None:
    """Leases run out, and tries are due."""
    past = timezone.now() - timedelta(seconds=1)
    for model in (Batch, Consolidation):
        model.objects.filter(state="running").update(leased_until=past)
        model.objects.filter(state="failed").update(retry_at=past)


def covered_once(end_user: EndUser) -> None:
    """Each message was read by exactly one batch."""
    seqs = list(Message.objects.of(end_user).order_by("seq").values_list("seq", flat=True))
    ranges = Batch.objects.of(end_user).values_list("first_seq", "last_seq")
    covered = sorted(seq for first, last in ranges for seq in range(first, last + 1))
    assert covered == seqs


def test_eight_processes_and_a_hundred_rounds_on_one_user(figures: dict[str, Any]) -> None:
    app, started = make_app(), time.monotonic()
    texts = (TALK * (ROUNDS // len(TALK) + 1))[:ROUNDS]
    told = json.dumps(texts, ensure_ascii=False)
    for worker in [start(INGEST_AND_EXTRACT, app.pk, n, told) for n in range(PROCESSES)]:
        worker.finish(600)
    end_user = EndUser.objects.get(app=app, external_id="ann")
    run.process(end_user.pk)
    # Of each round one message of its own a process, and one that all of them send.
    assert Message.objects.of(end_user).count() == (PROCESSES + 1) * ROUNDS
    covered_once(end_user)
    assert not Batch.objects.exclude(state="done").exists()
    active = Memory.objects.of(end_user).active().values_list("content_hash", flat=True)
    assert len(active) == len(set(active)) > 0
    assert knowledge(end_user)[0].keys() == undisturbed()[0].keys()
    assert wrong() == []
    figures.update(
        messages=(PROCESSES + 1) * ROUNDS, sent=2 * PROCESSES * ROUNDS, lost=0, doubled=0,
        seconds=round(time.monotonic() - started),
    )  # fmt: skip


def test_a_worker_killed_at_a_hundred_random_points(figures: dict[str, Any]) -> None:
    chance, app = random.Random(16), make_app()
    wanted = undisturbed()
    probe = receive(app, "probe", incoming()).end_user
    began = time.monotonic()
    start(PROCESS, probe.pk).finish()
    whole = time.monotonic() - began
    midway, kills = 0, 0
    for number in range(KILLS // KILLS_OF_USER):
        end_user = receive(app, f"user-{number}", incoming()).end_user
        for _ in range(KILLS_OF_USER):
            worker = start(PROCESS, end_user.pk)
            time.sleep(chance.uniform(0, whole))
            worker.kill()
            kills += 1
            with connection.cursor() as cursor:
                end_other_sessions(cursor)
            midway += any(
                m.objects.filter(state="running").exists() for m in (Batch, Consolidation)
            )
            time_passes()
        run.process(end_user.pk)
        assert knowledge(end_user) == wanted, number
        covered_once(end_user)
    assert wrong() == []
    figures.update(kills=kills, in_the_middle_of_work=midway, states_unlike_undisturbed=0)


def test_a_queue_that_delivers_everything_twice(figures: dict[str, Any]) -> None:
    app = make_app()
    end_user = receive(app, "ann", incoming()).end_user
    receive(app, "ann", incoming())  # the client's network did so too
    OrmQ.objects.all().delete()
    twice = [start(f"from memories.tasks import extract, process\n{name}({end_user.pk})\n{name}({end_user.pk})")
             for name in ("extract", "process") * 2]  # fmt: skip
    for worker in twice:
        worker.finish()
    extract(end_user.pk)
    run.process(end_user.pk)
    assert knowledge(end_user) == undisturbed()
    covered_once(end_user)
    assert wrong() == []
    figures.update(tasks=8, processes=4, doubled=0)


def test_clocks_that_jump(figures: dict[str, Any]) -> None:
    """Workers whose clocks are hours apart, some of them at work at once."""
    app = make_app()
    jumps = ["-3h", "+3h", "+0", "-1d", "+1d", "+11m"]
    for number in range(4):
        receive(app, f"user-{number}", incoming())
    env = {**os.environ, "DATABASE_URL": database_url(), "OMP_NUM_THREADS": "1"}
    code = (
        "import django; django.setup()\n"
        "from accounts.models import EndUser\nfrom accounts.scope import all_users\n"
        "from memories.pipeline import run\n"
        "with all_users():\n    [run.process(u.pk) for u in EndUser.objects.order_by('?')]"
    )
    for pair in zip(jumps[::2], jumps[1::2], strict=True):
        both = [
            subprocess.Popen(["faketime", "-f", jump, sys.executable, "-c", code], cwd=ROOT,
                             env={**env, "DJANGO_SETTINGS_MODULE": "mio_site.settings"})
            for jump in pair
        ]  # fmt: skip
        assert [process.wait(300) for process in both] == [0, 0]
    time_passes()
    for end_user in EndUser.objects.filter(app=app):
        run.process(end_user.pk)
        assert knowledge(end_user) == undisturbed()
        covered_once(end_user)
    assert wrong() == []
    figures.update(clocks=jumps, users=4, lost=0, doubled=0)
