"""The product, served at a database of its own: what the storm and the fuzz are let loose on."""

import json
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django_q.models import Failure, OrmQ

from accounts.models import ApiKey, App, EndUser
from memories.doctor import invariants
from memories.jobs import sweep
from memories.models import Batch, Consolidation, Work
from mio_site import serve
from mio_site.management.commands.serve import processes
from tools.bench.scratch import scratch_database

READY = 60.0  # seconds until the web process answers
CLIENT_TIMEOUT = 120.0  # seconds that a client waits: longer is a finding
SETTLE = 180.0  # seconds in which something that waits is ended once nobody calls
UNFINISHED = (Work.State.PENDING, Work.State.RUNNING, Work.State.FAILED, Work.State.QUARANTINED)


@dataclass(frozen=True)
class Answer:
    """``body`` is decoded where it is JSON, else text."""

    status: int
    body: Any
    retry_after: int


class Client:
    """Calls the API with a key over one connection, opened again when it was lost."""

    def __init__(self, port: int, secret: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=CLIENT_TIMEOUT)
        self._headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}

    def call(self, method: str, address: str, body: Any = None) -> Answer:
        """``address`` is below /api/v1/; a ``body`` of bytes is sent as it is. Raises OSError and
        http.client.HTTPException when no answer comes."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        try:
            self._connection.request(method, f"/api/v1/{address}", body, self._headers)
            reply = self._connection.getresponse()
            text = reply.read().decode()
        except BaseException:
            self._connection.close()
            raise
        is_json = (reply.headers["Content-Type"] or "").startswith("application/json")
        wait = int(reply.headers["Retry-After"] or 0)
        return Answer(reply.status, json.loads(text) if is_json and text else text, wait)


@dataclass(frozen=True)
class Site:
    """Where the API answers, and the secret of a key of its only app."""

    port: int
    secret: str

    def client(self) -> Client:
        return Client(self.port, self.secret)


@contextmanager
def served(*, worker: bool = True) -> Iterator[Site]:
    """The web process, and the worker, at an empty database and the cells that are set beside it,
    until the end of the block."""
    with scratch_database():
        call_command("install_schedules", verbosity=0)
        for cell in settings.MIO_CELLS:
            call_command("cells", "add", cell, verbosity=0)
        _, secret = ApiKey.issue(App.objects.create(name="storm"))
        given = os.environ.get("DATABASE_URL")
        os.environ["DATABASE_URL"] = _database_url()
        listener = serve.reserve("127.0.0.1", 0)
        stop = serve.Stop()
        children = processes(listener)[: None if worker else 1]
        site = threading.Thread(target=serve.supervise, args=(children, stop, lambda: None))
        site.start()
        try:
            port = listener.getsockname()[1]
            deadline = time.monotonic() + READY
            while not serve.answers("127.0.0.1", port, "/readyz"):
                if time.monotonic() > deadline:
                    raise TimeoutError("The web process does not answer.")
                time.sleep(0.1)
            yield Site(port, secret)
        finally:
            stop.request()
            site.join()
            listener.close()
            os.environ.pop("DATABASE_URL")
            if given is not None:
                os.environ["DATABASE_URL"] = given


def _database_url() -> str:
    at = connection.settings_dict
    secret = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}"
    server = urlencode({"host": at["HOST"], **({"port": at["PORT"]} if at["PORT"] else {})})
    return f"postgres://{secret}@/{quote(at['NAME'])}?{server}"


def problems_left() -> Iterator[str]:
    """What is wrong once the workers have nothing to do any more, though a sweep has looked for
    what was left: work that is stuck, and what the doctor finds."""
    yield from _settled()
    sweep.sweep()
    yield from _settled()
    for task in Failure.objects.order_by("started"):
        yield f"the task {task.name} failed: {task.result.splitlines()[0]}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        if deadlocks := cursor.fetchone()[0]:
            yield f"{deadlocks} deadlocks"
    invariants.GRACE = timedelta(0)  # nobody is about to do anything
    for check in invariants.CHECKS:
        for finding in check():
            yield f"doctor: {check.__name__}: {finding.problem} ({finding.subject})"


def _settled() -> list[str]:
    """What is unfinished when nothing more of it ends for a while."""
    deadline, least = time.monotonic() + SETTLE, math.inf
    while (queued := OrmQ.objects.count()) or list(_unfinished()):
        if queued < least:
            deadline, least = time.monotonic() + SETTLE, queued
        if time.monotonic() > deadline:
            # A task stays in its row until its worker is done with it.
            return [
                *_unfinished(),
                *([f"{queued} tasks are queued or under way"] if queued else []),
            ]
        time.sleep(0.5)
    return []


def _unfinished() -> Iterator[str]:
    for model in (Batch, Consolidation):
        for row in model.objects.filter(state__in=UNFINISHED).order_by("pk"):
            yield f"{model.__name__.lower()} {row.pk} is {row.state}: {row.error}"


def extract_all(client: Client) -> Iterator[str]:
    """Has everything processed that the users of the app said; yields what was answered but 200."""
    for end_user in EndUser.objects.order_by("pk"):
        address = f"users/{quote(end_user.external_id, safe='')}/process/"
        deadline = time.monotonic() + SETTLE
        while True:
            answer = client.call("POST", address, {"wait": True})
            if answer.status not in (409, 429, 503) or time.monotonic() > deadline:
                break
            time.sleep(min(2, answer.retry_after or 1))  # the server drops idle connections
        if answer.status != 200:
            yield f"process of user {end_user.pk} answered {answer.status}: {answer.body}"
