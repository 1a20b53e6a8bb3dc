"""The queue's order: at most one task of an end user at a time, and apps in turn.

A queued task bears the end user's id behind the cluster's name in its key. Whoever has the
fewest tasks under way is served first, the older task among equals; a task of a user who has
one under way stays where it is, so that it neither waits in a worker nor is lost.
"""

import logging
from datetime import timedelta
from time import sleep

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.db import InterfaceError, OperationalError, connections
from django.db.models import Count
from django.utils import timezone
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ

from accounts.scope import all_users

log = logging.getLogger(__name__)

# A task whose worker died counts as under way for so long.
ALIVE = timedelta(minutes=10)

_NEXT = """
WITH tasks AS (
    SELECT task.id, task.key, task.payload, task.lock, u.app_id
    FROM django_q_ormq task
    LEFT JOIN accounts_enduser u ON u.id = nullif(split_part(task.key, ':', 2), '')::bigint
    WHERE task.key = %(name)s OR task.key LIKE %(name)s || ':%%'
), under_way AS MATERIALIZED (
    SELECT key, app_id FROM tasks
    WHERE lock > %(alive)s AND lock > pg_postmaster_start_time() + %(retry)s::interval
), apps AS (
    SELECT app_id, count(*) AS busy FROM under_way GROUP BY app_id
)
SELECT waiting.id, waiting.payload, waiting.lock FROM tasks waiting
LEFT JOIN apps ON apps.app_id IS NOT DISTINCT FROM waiting.app_id
WHERE waiting.lock < %(now)s AND (waiting.key = %(name)s OR waiting.key NOT IN (
    SELECT key FROM under_way))
ORDER BY coalesce(apps.busy, 0), waiting.id LIMIT 1
"""


class FairQueue(ORM):
    """The broker of the queue, with the database as its table."""

    def dequeue(self) -> list[tuple[int, str]]:
        """The next task for a free worker, as a list of one; none after a short sleep, also
        while the database server is away."""
        try:
            taken = self._take()
        except (OperationalError, InterfaceError) as error:
            log.warning("the queue could not be read: %s", type(error).__name__)
            taken = []
        if not taken:
            sleep(Conf.POLL)
        return taken

    def _take(self) -> list[tuple[int, str]]:
        rows = self.get_connection()  # closes a connection that is stale
        now, retry = timezone.now(), timedelta(seconds=Conf.RETRY)
        with all_users(), connections[Conf.ORM].cursor() as cursor:
            alive = now + retry - ALIVE
            cursor.execute(
                _NEXT, {"name": self.list_key, "now": now, "retry": str(retry), "alive": alive}
            )
            found = cursor.fetchone()
        if found is None:
            return []
        pk, payload, lock = found
        mine = rows.filter(pk=pk, lock=lock).update(lock=self.timeout(None))
        return [(pk, _signed_today(payload))] if mine else []


def _signed_today(payload: str) -> str:
    """A task that was queued under a key of SECRET_KEY_FALLBACKS, as the queue takes it: it knows
    SECRET_KEY alone, and would drop the task. One that nobody signed stays as it is."""
    if not settings.SECRET_KEY_FALLBACKS:
        return payload
    signer = TimestampSigner(salt=Conf.PREFIX)
    try:
        return signer.sign(signer.unsign(payload))
    except BadSignature:
        return payload


def of_user(end_user_id: int) -> FairQueue:
    """Where tasks of an end user are queued."""
    return FairQueue(f"{Conf.CLUSTER_NAME}:{end_user_id}")


def users_waiting(tasks: int = 1) -> set[int]:
    """The end users of whom so many tasks or more wait for a worker."""
    waiting = OrmQ.objects.filter(key__startswith=f"{Conf.CLUSTER_NAME}:", lock__lte=timezone.now())
    counted = waiting.values("key").annotate(count=Count("pk")).filter(count__gte=tasks)
    return {int(key.partition(":")[2]) for key in counted.values_list("key", flat=True)}
