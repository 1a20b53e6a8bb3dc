"""The processes that run queued tasks, and the one that keeps them alive.

Each takes its tasks from the table, and no two share a lock. In a cluster of django-q2 they share that of
a multiprocessing.Queue: if its holder is killed, no other worker gets a task again."""

import logging
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from multiprocessing.sharedctypes import RawValue
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature
from django.db import Error, connections
from django_q.brokers import Broker, get_broker
from django_q.conf import Conf
from django_q.monitor import monitor
from django_q.scheduler import scheduler
from django_q.signing import SignedPackage
from django_q.worker import worker

from mio_site.readiness import still_seconds
from mio_site.serve import TICK, Stop

log = logging.getLogger(__name__)

SCHEDULES_EVERY = 30.0  # seconds
# Seconds that a process keeps a session of the database.
KEPT_S = 60
LOOK_EVERY = 1.0  # seconds between looks at the clock of the schedules, and at the queue
BEAT_EVERY = 1.0  # seconds
SPARE = 30.0  # seconds after its time limit in which a task can still end
STORE_TRIES = 20  # a second apart
RESTART_DELAY = 0.5  # seconds before a process that ended is started again
STANDS_STILL = 75  # exit code of the process that sees it: EX_TEMPFAIL of sysexits.h

_fork = get_context("fork")


@contextmanager
def _logged(problem: str) -> Iterator[None]:
    """Logs an error of the database that ends the block, and continues after it."""
    try:
        yield
    except Error:
        log.exception(problem)


class Pulse:
    """When a process last worked: one number that a thread of it writes, without a lock that a
    killed process would keep."""

    def __init__(self) -> None:
        self._at = RawValue("d", time.monotonic())
        self._until = 0.0

    def allow(self, seconds: float) -> None:
        """Lets the main thread be silent for this long; then the pulse stops."""
        self._until = time.monotonic() + seconds

    def start(self) -> None:
        """Starts the thread that beats, which stands still if the process does."""
        self.allow(settings.MIO_QUEUE_STUCK_S)
        threading.Thread(target=self._beat, daemon=True).start()

    def age(self) -> float:
        """Returns the seconds since the last beat."""
        return time.monotonic() - self._at.value

    def _beat(self) -> None:
        while time.monotonic() < self._until:
            self._at.value = time.monotonic()
            time.sleep(BEAT_EVERY)


class Tasks:
    """The queue, as ``django_q.worker`` reads tasks from it and gives results to it."""

    def __init__(self, broker: Broker, stop: Stop, pulse: Pulse) -> None:
        self._broker, self._stop, self._pulse = broker, stop, pulse

    def get(self) -> dict[str, Any] | str:
        """Returns the next task, taken from the table; "STOP" once the end was requested."""
        while not self._stop.requested:
            self._pulse.allow(settings.MIO_QUEUE_STUCK_S)
            for pk, payload in self._take():
                try:
                    task: dict[str, Any] = SignedPackage.loads(payload)
                except (TypeError, BadSignature):
                    log.exception("task %s of the queue can't be read; it is dropped", pk)
                    self._broker.fail(pk)
                    continue
                self._pulse.allow(task.get("timeout", Conf.TIMEOUT) + SPARE)
                return {**task, "cluster": Conf.CLUSTER_NAME, "ack_id": pk}
        return "STOP"

    def _take(self) -> list[tuple[int, str]]:
        with _logged("the queue can't be read"):
            return self._broker.dequeue() or []
        time.sleep(Conf.POLL)
        return []

    def put(self, task: dict[str, Any]) -> None:
        """Stores the result and deletes the task from the queue. Tries again while the database is
        away; if that lasts, the task stays and runs again."""
        for _ in range(STORE_TRIES):
            results: queue.SimpleQueue[dict[str, Any] | str] = queue.SimpleQueue()
            results.put(dict(task))
            results.put("STOP")
            with _logged(f"the end of task {task['id']} can't be stored"):
                monitor(results, self._broker)
                return
            time.sleep(1)


def _broker(stop: Stop, pulse: Pulse) -> Broker:
    """Returns the queue, once its database answers. Ends the process if its end is requested first."""
    while not stop.requested:
        pulse.allow(settings.MIO_QUEUE_STUCK_S)
        with _logged("the queue can't be read"):
            return get_broker()
        time.sleep(Conf.POLL)
    sys.exit(0)


def run_tasks(stop: Stop, pulse: Pulse) -> None:
    """Runs tasks one after the other."""
    tasks = Tasks(_broker(stop, pulse), stop, pulse)
    timer = SimpleNamespace(value=-1, get_lock=nullcontext)  # the supervisor goes by the pulse
    worker(tasks, tasks, timer, Conf.TIMEOUT)


def keep_schedules(stop: Stop, pulse: Pulse) -> None:
    """Queues what is due by the schedules. Exits with STANDS_STILL if nobody takes tasks."""
    broker, began, next_at = _broker(stop, pulse), time.monotonic(), 0.0
    while not stop.requested:
        pulse.allow(settings.MIO_QUEUE_STUCK_S)
        if time.monotonic() >= next_at:
            next_at = time.monotonic() + SCHEDULES_EVERY
            with _logged("the schedules can't be read"):
                scheduler(broker)
        still = 0.0
        with _logged("the queue can't be read"):
            connections[Conf.ORM].close_if_unusable_or_obsolete()
            still = still_seconds(connections[Conf.ORM])
        if min(still, time.monotonic() - began) > settings.MIO_QUEUE_STUCK_S:
            sys.exit(STANDS_STILL)
        time.sleep(LOOK_EVERY)


class Member:
    """A process to keep alive. ``run`` ends when its Stop is requested."""

    def __init__(self, run: Callable[[Stop, Pulse], None]) -> None:
        self._run = run
        self._start_at = 0.0
        self.process: Any = None

    def look(self) -> int | None:
        """Starts the process if it does not run, kills it if its pulse has stopped; returns its
        exit code once it has ended."""
        if self.process is None:
            if time.monotonic() >= self._start_at:
                self._start()
            return None
        if (code := self.process.exitcode) is not None:
            self._start_at = time.monotonic() + RESTART_DELAY
            self.process = None
        elif (age := self._pulse.age()) > settings.MIO_QUEUE_STUCK_S:
            log.critical(
                "process %s of the worker does nothing for %.0f s; killed", self.process.pid, age
            )
            self.kill()
        return code

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()

    def end(self) -> None:
        """Asks the process to end, and waits until it has, with its current task."""
        while self.process is not None and self.process.is_alive():
            self.process.terminate()
            self.process.join(1)

    def _start(self) -> None:
        connections.close_all()
        self._pulse = Pulse()
        self.process = _fork.Process(target=self._begin, args=(self._pulse,))
        self.process.start()

    def _begin(self, pulse: Pulse) -> None:
        stop = Stop()
        for database in connections.all():  # one session for many tasks and looks at the queue
            database.settings_dict["CONN_MAX_AGE"] = KEPT_S
        signal.signal(signal.SIGTERM, lambda *_: stop.request())
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's goes to the supervisor too
        pulse.start()
        self._run(stop, pulse)


def supervise(stop: Stop) -> None:
    """Keeps the workers and the schedules alive until ``stop`` is requested, and restarts all
    workers if the queue stands still. Sends no statement itself."""
    workers = [Member(run_tasks) for _ in range(Conf.WORKERS)]
    schedules = Member(keep_schedules)
    members = [*workers, schedules]
    while not stop.requested:
        for member in members:
            code = member.look()
            if code == STANDS_STILL:
                log.critical("tasks are due and none is taken; the worker is started anew")
                for one in workers:
                    one.kill()
            elif code is not None:
                log.error("a process of the worker ended with code %s; started again", code)
        time.sleep(TICK)
    for member in members:
        if member.process is not None:
            member.process.terminate()
    for member in members:
        member.end()
