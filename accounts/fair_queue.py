"""The order of the task queue: at most one task of an end user at a time, and apps in turn.

A task's key has its end user's id after the cluster's name. The app with the fewest tasks under way
is served first, then the older task; a user's task waits while another one of theirs is under way."""

import logging
from datetime import timedelta
from functools import partial
from time import sleep

from django.db import Error, connections
from django.db.models import Count, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.tasks import async_task

from accounts import cells, placement
from accounts.scope import all_users
from accounts.sql_files import sql_pieces

_SQL = sql_pieces(__file__)

log = logging.getLogger(__name__)

# A task whose worker died counts as under way for this long.
ALIVE = timedelta(minutes=10)
# After this time a task is tried again whose end user is being moved, or whose cell is away.
AGAIN = timedelta(seconds=5)


class FairQueue(ORM):
    """The broker of the queue, which is a table of the database. Tasks are due after ``delay``."""

    delay = timedelta()

    @staticmethod
    def get_connection(list_key: str | None = None) -> QuerySet[OrmQ]:  # noqa: ARG004 the broker's
        """Returns the rows, and replaces a stale connection that is in no transaction."""
        connection = connections[Conf.ORM]
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        return OrmQ.objects.using(Conf.ORM)

    def enqueue(self, task: str) -> int:
        due = timezone.now() + self.delay
        row = self.get_connection().create(key=self.list_key, payload=task, lock=due)
        return int(row.pk)

    def dequeue(self) -> list[tuple[int, str]]:
        """Returns a list with the next task; after a short sleep an empty one, if none can be had."""
        try:
            tasks = self._take()
        except Error as error:
            log.warning("the queue could not be read: %s", type(error).__name__)
            tasks = []
        if not tasks:
            sleep(Conf.POLL)
        return tasks

    def _take(self) -> list[tuple[int, str]]:
        rows = self.get_connection()  # closes a connection that is stale
        now, retry = timezone.now(), timedelta(seconds=Conf.RETRY)
        with all_users(), connections[Conf.ORM].cursor() as cursor:
            # The app of a user is in their row or, with several cells, in their placement.
            users = "accounts_enduser u ON u.id"
            placements = "accounts_placement u ON u.user_pk"
            statement = _SQL["next"].format(of_users=placements if cells.several() else users)
            alive = now + retry - ALIVE
            cursor.execute(
                statement, {"name": self.list_key, "now": now, "retry": str(retry), "alive": alive}
            )
            row = cursor.fetchone()
        if row is None:
            return []
        pk, payload, lock = row
        is_claimed = rows.filter(pk=pk, lock=lock).update(lock=self.timeout(None))
        return [(pk, payload)] if is_claimed else []


def put(
    function: str,
    *args: int | str,
    end_user_id: int | None = None,
    name: str = "",
    delay: timedelta = timedelta(),
) -> None:
    """Queues a function as a task of the end user whose work it is. With one cell the task is
    stored with the transaction that queues it, or not at all. With several it is stored after the
    commit and runs in the user's cell; the sweep finds one that is lost on the way."""
    name = name or f"{function.rpartition('.')[2]} {' '.join(map(str, args))}"[:100]
    cluster = Conf.CLUSTER_NAME
    queue = FairQueue(f"{cluster}:{end_user_id}" if end_user_id else cluster)
    queue.delay = delay
    if not cells.several():
        async_task(function, *args, task_name=name, broker=queue)
        return
    payload = (cells.entered_cell(), end_user_id, name, function, *args)
    run = "accounts.fair_queue.run_in_cell"
    queued = partial(async_task, run, *payload, task_name=name, broker=queue)
    if cells.current() == cells.SHARED:
        queued()
    else:
        cells.on_commit(queued)


def run_in_cell(
    cell: str | None, end_user_id: int | None, name: str, function: str, *args: int | str
) -> None:
    """Runs a task in its cell, or its user's; queues a user's task again during a move or outage."""
    again = partial(put, function, *args, end_user_id=end_user_id, name=name)
    if end_user_id is not None:
        cell = placement.cell_of(end_user_id)
    if cell is None:
        import_string(function)(*args)
        return
    with cells.entered(cell):
        try:
            if cells.is_away(cell) or (end_user_id and placement.is_moving(end_user_id)):
                raise cells.Moving
            import_string(function)(*args)
        except cells.Moving:
            if end_user_id is not None:  # the rest is found by a sweep
                again(delay=AGAIN)
            return
    if end_user_id is not None and placement.cell_of(end_user_id) != cell:
        again()


def users_waiting(tasks: int = 1) -> set[int]:
    """Returns the end users who have at least this number of tasks that wait for a worker."""
    waiting = OrmQ.objects.filter(key__startswith=f"{Conf.CLUSTER_NAME}:", lock__lte=timezone.now())
    counted = waiting.values("key").annotate(count=Count("pk")).filter(count__gte=tasks)
    return {int(key.partition(":")[2]) for key in counted.values_list("key", flat=True)}
