"""Detects a queue that stands still: tasks are due, and no worker takes any."""

from datetime import timedelta

from django.db.backends.base.base import BaseDatabaseWrapper
from django_q.conf import Conf

# A task whose worker died counts as under way for so long.
ALIVE = timedelta(minutes=10)

# A task is locked for Conf.RETRY when it is taken, and its row is deleted when it has ended.
_STILL = """
SELECT extract(epoch FROM now() - greatest(
    min(lock), (SELECT max(stopped) FROM django_q_task), pg_postmaster_start_time()))
FROM django_q_ormq WHERE lock <= now() AND NOT EXISTS (
    SELECT FROM django_q_ormq WHERE lock > greatest(
        now(), now() + %(left)s::interval, pg_postmaster_start_time() + %(retry)s::interval))
HAVING count(*) > 0
"""


def still_seconds(database: BaseDatabaseWrapper) -> float:
    """Seconds since when tasks are due and none was taken or ended; 0.0 while one is under way, since
    its worker may be busy, and while none is due."""
    retry = timedelta(seconds=Conf.RETRY)
    with database.cursor() as cursor:
        cursor.execute(_STILL, {"left": str(retry - ALIVE), "retry": str(retry)})
        row = cursor.fetchone()
    return max(0.0, float(row[0])) if row else 0.0
