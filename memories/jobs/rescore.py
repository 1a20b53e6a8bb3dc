"""The importance of all of a user's memories, computed by the database in one statement.

The formula, its numbers and what they rest on are in ``memories.scoring``; the statement that
explains a memory's importance is the text that rescoring runs. What holds whatever the
formula says:

- a memory that a profile speaks for stays at 0.05 (the database insists on that as well);
- a profile memory keeps its 0.8: it sums up many memories, and is found by its person;
- an importance that a person has set (``metadata["pinned_importance"]``) stays as set.

Archived memories are left alone: nobody looks there.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import EndUser
from memories import scoring
from memories.budget import Budget
from memories.models import CONSOLIDATED_IMPORTANCE, PROFILE_IMPORTANCE, Memory
from memories.scoring import Parts

# A smaller change moves no result; not writing it leaves no dead row behind.
LEAST_CHANGE = 0.0005

# The columns of Parts, in their order, after the memory's id.
_COLUMNS = (
    "id, effective_access, value, hub, entity_hub, mention, newness, recency, temporal,"
    " trailoff, raw, by_formula, fixed, COALESCE(fixed, by_formula) AS importance"
)


def _asked(column: str) -> str:
    """The memories that are asked about, all of them without ids."""
    return f"(%(ids)s::uuid[] IS NULL OR {column} = ANY (%(ids)s::uuid[]))"


# One text for explaining and for rescoring. A cast at every number: a bare one is a numeric,
# with which PostgreSQL calculates a hundred times more slowly.
_PARTS = f"""
WITH memory AS (
    SELECT m.id, m.kind, m.access_count, m.mention_count, m.consolidated_into_id,
        GREATEST(0, u.activity_days - m.learnt_day) AS age,
        GREATEST(0, u.activity_days - COALESCE(m.last_accessed_day, m.learnt_day)) AS idle,
        (m.happens_at AT TIME ZONE %(zone)s)::date - %(today)s::date AS event_in_days,
        (EXTRACT(EPOCH FROM %(now)s::timestamptz - m.expires_at) / 86400)::float8 AS expired_days,
        CASE WHEN jsonb_typeof(m.metadata -> 'pinned_importance') = 'number'
            THEN LEAST(1, GREATEST(0, (m.metadata ->> 'pinned_importance')::float8))
        END AS pinned
    FROM memories_memory m JOIN accounts_enduser u ON u.id = m.end_user_id
    WHERE m.end_user_id = %(end_user)s AND m.status <> 'archived' AND {_asked("m.id")}
), inbound AS (
    SELECT target_id AS id, count(*) AS links FROM memories_edge
    WHERE end_user_id = %(end_user)s AND NOT inverse AND NOT kind LIKE ANY (%(no_hub)s)
        AND {_asked("target_id")}
    GROUP BY 1
), spoken AS (
    SELECT l.entity_id, count(*)::float8 AS memories
    FROM memories_entitylink l JOIN memories_memory m ON m.id = l.memory_id
    WHERE l.end_user_id = %(end_user)s AND m.kind = 'fact' AND m.status <> 'archived'
        AND (%(ids)s::uuid[] IS NULL OR l.entity_id IN (
            SELECT entity_id FROM memories_entitylink WHERE memory_id = ANY (%(ids)s::uuid[])))
    GROUP BY 1
), corpus AS MATERIALIZED (
    -- The facts that are not archived: all rows but those that small indexes tell. It is
    -- counted only where some entity asks for it.
    SELECT ((SELECT count(*) FROM memories_memory WHERE end_user_id = %(end_user)s)
        - (SELECT count(*) FROM memories_memory
           WHERE end_user_id = %(end_user)s AND content_hash >= 'profile')
        - (SELECT count(*) FROM memories_memory
           WHERE end_user_id = %(end_user)s AND status = 'archived' AND kind = 'fact')
        )::float8 AS memories
), connected AS (
    SELECT l.memory_id AS id, sum(
        4 * ln(s.memories) * ln(c.memories / s.memories) / ln(c.memories) ^ 2) AS sum
    FROM memory m JOIN memories_entitylink l ON l.memory_id = m.id
        JOIN spoken s ON s.entity_id = l.entity_id
        CROSS JOIN LATERAL (SELECT (SELECT memories FROM corpus) AS memories) c
    WHERE m.kind = 'fact' AND s.memories > 1 AND s.memories < c.memories
    GROUP BY 1
), measured AS (
    SELECT m.*, COALESCE(i.links, 0) AS links,
        GREATEST(0, COALESCE(i.links, 0) - %(hub_linear)s) AS links_beyond,
        GREATEST(0, m.mention_count - %(mention_linear)s) AS mentions_beyond,
        COALESCE(c.sum, 0) AS connected,
        m.access_count * %(momentum)s::float8 ^ LEAST(m.idle, 9999)::float8 AS effective_access
    FROM memory m LEFT JOIN inbound i ON i.id = m.id LEFT JOIN connected c ON c.id = m.id
), components AS (
    SELECT id, effective_access,
        ln(1 + effective_access / GREATEST(%(least_age)s, age) / %(baseline)s::float8)
            * %(value)s::float8 AS value,
        LEAST(links, %(hub_linear)s) * %(hub)s::float8 + links_beyond * %(hub_beyond)s::float8
            / (1 + links_beyond * %(hub_damping)s::float8) AS hub,
        %(entity_limit)s::float8 * connected / (1 + connected) AS entity_hub,
        LEAST(mention_count, %(mention_linear)s) * %(mention)s::float8
            + %(mention_beyond)s::float8 * ln(1 + mentions_beyond::float8) AS mention,
        GREATEST(0, %(newness)s::float8 - age * %(newness_decay)s::float8) AS newness,
        1 / (1 + idle * %(recency)s::float8) AS recency,
        (CASE WHEN event_in_days IS NULL OR event_in_days < 0 THEN 1
            {" ".join(f"WHEN event_in_days <= {days} THEN {lift}" for days, lift in scoring.TEMPORAL)}
            ELSE 1 END)::float8 AS temporal,
        CASE WHEN expired_days IS NULL THEN 1
            ELSE LEAST(1, GREATEST(0, 1 - expired_days / %(trailoff)s::float8)) END AS trailoff,
        CASE WHEN consolidated_into_id IS NOT NULL THEN LEAST(pinned, %(consolidated)s::float8)
            WHEN pinned IS NOT NULL THEN pinned
            WHEN kind = 'profile' THEN %(profile)s::float8 END AS fixed
    FROM measured
), summed AS (
    SELECT *, (value + hub + entity_hub + mention + newness) * recency * temporal * trailoff AS raw
    FROM components
), scored AS (
    SELECT *, CASE WHEN trailoff > 0 THEN 1 / (1 + exp(%(centre)s::float8 - raw)) ELSE 0 END
        AS by_formula
    FROM summed
)"""  # noqa: S608 made of this project's own constants only
_EXPLAIN = f"{_PARTS} SELECT {_COLUMNS} FROM scored"  # noqa: S608
# A row that another statement holds is skipped: a nightly job neither waits nor deadlocks.
_RESCORE = f"""{_PARTS}, final AS (SELECT {_COLUMNS} FROM scored
), held AS (
    SELECT m.id, f.importance FROM memories_memory m JOIN final f ON f.id = m.id
    WHERE abs(m.importance - f.importance) > %(least_change)s
    FOR NO KEY UPDATE OF m SKIP LOCKED
)
UPDATE memories_memory m SET importance = held.importance FROM held WHERE m.id = held.id
"""  # noqa: S608


@transaction.atomic
def rescore(end_user: EndUser | int, *, now: datetime | None = None) -> int:
    """Brings the importance of a user's memories up to date; returns how many it changed.

    Two statements, whatever the number of memories. ``updated_at`` stays: nothing that was
    learnt has changed.
    """
    pk = end_user if isinstance(end_user, int) else end_user.pk
    if EndUser.objects.lock(pk) is None:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_RESCORE, _parameters(pk, None, now))
        return cursor.rowcount


def users_due() -> list[int]:
    """All end users with memories: what time does to a score leaves no other trace."""
    with_memories = Memory.objects.filter(end_user=OuterRef("pk"))
    users = EndUser.objects.filter(Exists(with_memories)).order_by("pk")
    return list(users.values_list("pk", flat=True))


def rescore_user(end_user_id: int, budget: Budget) -> dict[str, int]:
    """``rescore`` as a job does it; returns how many importances ``changed``."""
    changed = rescore(end_user_id)
    budget.spend(rows=changed)
    return {"changed": changed}


def parts(
    end_user: EndUser | int, memory_ids: Collection[UUID], *, now: datetime | None = None
) -> dict[UUID, Parts]:
    """Why these memories are as important as they are; archived ones and those of others
    are left out. One statement."""
    if not memory_ids:
        return {}
    pk = end_user if isinstance(end_user, int) else end_user.pk
    with connection.cursor() as cursor:
        cursor.execute(_EXPLAIN, _parameters(pk, memory_ids, now))
        return {row[0]: Parts(*row[1:]) for row in cursor.fetchall()}


def _parameters(
    end_user_id: int, memory_ids: Collection[UUID] | None, now: datetime | None
) -> dict[str, Any]:
    now = now or timezone.now()
    return {
        "end_user": end_user_id,
        "ids": None if memory_ids is None else list(memory_ids),
        "now": now,
        "today": timezone.localdate(now),
        "zone": timezone.get_current_timezone_name(),
        "least_change": LEAST_CHANGE,
        "consolidated": CONSOLIDATED_IMPORTANCE,
        "profile": PROFILE_IMPORTANCE,
        "no_hub": list(scoring.NO_HUB),
        "hub_linear": scoring.HUB_LINEAR,
        "hub": scoring.HUB_WEIGHT,
        "hub_beyond": scoring.HUB_BEYOND,
        "hub_damping": scoring.HUB_DAMPING,
        "mention_linear": scoring.MENTION_LINEAR,
        "mention": scoring.MENTION_WEIGHT,
        "mention_beyond": scoring.MENTION_BEYOND,
        "entity_limit": scoring.ENTITY_LIMIT,
        "momentum": scoring.MOMENTUM,
        "baseline": scoring.BASELINE_ACCESS_RATE,
        "value": scoring.VALUE_WEIGHT,
        "least_age": scoring.LEAST_AGE,
        "newness": scoring.NEWNESS,
        "newness_decay": scoring.NEWNESS_DECAY,
        "recency": scoring.RECENCY_DECAY,
        "trailoff": scoring.TRAILOFF_DAYS,
        "centre": scoring.CENTRE,
    }
