"""How often people used to be spoken of, and for how long they have not been: for operators and
apps to see, never injected."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from accounts.cells import connection
from accounts.models import EndUser

MOST_MEMORIES = 300  # of each person, the latest
LEAST_DAYS = 5  # on which somebody was spoken of, before there is a rhythm
# Quiet is who was not spoken of for two weeks and three times as long as usual.
QUIET_DAYS, QUIET_TIMES = 14, 3

_DAYS = """
WITH told AS (
    SELECT DISTINCT latest.contact_id,
           ((m.said_at AT TIME ZONE 'UTC') + m.said_offset * interval '1 minute')::date AS day
    FROM unnest(%s::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT contact_id, memory_id FROM memories_link
        WHERE contact_id = wanted.id AND NOT rejected AND end_user_id = %s
        ORDER BY id DESC LIMIT %s) latest
    JOIN memories_memory m ON m.id = latest.memory_id
    WHERE m.kind = 'fact' AND m.status <> 'archived'
), gaps AS (
    SELECT contact_id, day, day - lag(day) OVER (PARTITION BY contact_id ORDER BY day) AS gap
    FROM told
)
SELECT contact_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY gap), %s::date - max(day)
FROM gaps GROUP BY contact_id HAVING count(*) >= %s
"""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """``usual_days`` is the median of days between two on which somebody was spoken of,
    ``silent_days`` are those since the last. ``quiet``: much longer than usual."""

    usual_days: int
    silent_days: int

    @property
    def quiet(self) -> bool:
        return self.silent_days >= max(QUIET_DAYS, QUIET_TIMES * self.usual_days)

    @property
    def silent_weeks(self) -> int:
        return self.silent_days // 7


def rhythms(end_user: EndUser, contact_ids: Collection[UUID]) -> dict[UUID, Rhythm]:
    """The rhythm of each of these contacts that has one. One statement, however many."""
    with connection.cursor() as cursor:
        cursor.execute(
            _DAYS, [list(contact_ids), end_user.pk, MOST_MEMORIES, end_user.today, LEAST_DAYS]
        )
        return {
            pk: Rhythm(max(1, round(usual)), max(0, silent))
            for pk, usual, silent in cursor.fetchall()
        }
