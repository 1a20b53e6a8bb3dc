"""What a memory said before, when and why it changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.cells import connection
from accounts.models import EndUser
from memories.models import Edge, Memory

Status = Memory.Status

# A chain longer than this is read in part: bounds the cost of one request.
LONGEST = 500
_TOLD = ("content", "status", "source_message_ids", "quote")


@dataclass(frozen=True, slots=True)
class Version:
    """What a memory of the chain said from ``since`` until ``until`` (None: still).

    ``who`` and ``why`` tell of what began it: the speaker of a memory that was told, or the
    actor of ``change_id``. ``source_message_ids`` and ``quote`` are the words it rested on.
    """

    memory_id: UUID
    content: str
    status: str
    since: datetime
    until: datetime | None
    who: str
    why: str
    change_id: UUID | None
    source_message_ids: tuple[int, ...]
    quote: str


# What changes did to memories, the earliest first; undone ones never count. When a memory became
# outdated is when that was learnt.
_TOUCHES = """
SELECT row->>'id', c.id, c.actor, c.why,
    COALESCE((SELECT min(CASE
                  WHEN r->'after'->>'status' = 'outdated' THEN r->'after'->>'outdated_at'
                  WHEN c.verb = 'outdate' THEN (
                      SELECT max(ended #>> '{}')
                      FROM jsonb_path_query(r->'after', '$.facts[*].outdated_at') ended) END)
              FROM jsonb_array_elements(c.rows) r WHERE r->>'model' = 'memories.memory'
             )::timestamptz, c.created_at) AS at,
    row->'before'
FROM accounts_change c CROSS JOIN LATERAL jsonb_array_elements(c.rows) row
WHERE c.end_user_id = %s AND c.undone_at IS NULL AND row->>'model' = 'memories.memory'
    AND row->>'id' = ANY(%s)
ORDER BY c.created_at, c.id
"""


# What came before a memory: what it supersedes, was merged from, or is a piece of; and the
# other way what came after. Each row of an edge has its mirror, so source is enough.
_CHAIN = """
WITH RECURSIVE earlier (id) AS (
    SELECT %(memory)s::uuid
    UNION
    SELECT step.id FROM earlier CROSS JOIN LATERAL (
        SELECT e.target_id AS id FROM memories_edge e
        WHERE e.source_id = earlier.id AND e.kind = ANY(%(kinds)s) AND NOT e.inverse
        UNION ALL
        SELECT m.id FROM memories_memory m WHERE m.merged_into_id = earlier.id) step
), later (id) AS (
    SELECT %(memory)s::uuid
    UNION
    SELECT step.id FROM later CROSS JOIN LATERAL (
        SELECT e.target_id AS id FROM memories_edge e
        WHERE e.source_id = later.id AND e.kind = ANY(%(kinds)s) AND e.inverse
        UNION ALL
        SELECT m.merged_into_id FROM memories_memory m
        WHERE m.id = later.id AND m.merged_into_id IS NOT NULL) step
)
SELECT id FROM earlier UNION SELECT id FROM later LIMIT %(longest)s
"""


def versions(end_user: EndUser, memory_id: UUID) -> list[Version]:
    """The whole chain of a memory, the earliest first: what it was, what it took the place of
    and what took its place, each with its edits. Three statements; empty when there is no
    such memory."""
    kinds = [Edge.Kind.SUPERSEDES, Edge.Kind.PART_OF]
    with connection.cursor() as cursor:
        cursor.execute(
            _CHAIN, {"memory": memory_id, "kinds": [*map(str, kinds)], "longest": LONGEST}
        )
        ids = [pk for (pk,) in cursor.fetchall()]
    memories = list(Memory.objects.of(end_user).filter(pk__in=ids).defer("tokens"))
    if all(memory.pk != memory_id for memory in memories):
        return []
    touches: dict[str, list[Any]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_TOUCHES, [end_user.pk, [str(memory.pk) for memory in memories]])
        for row_id, *touch in cursor.fetchall():
            touches.setdefault(row_id, []).append(touch)
    chain = [
        version
        for memory in memories
        for version in _versions_of(memory, touches.get(str(memory.pk), []))
    ]
    return sorted(chain, key=lambda version: (version.since, version.memory_id != memory_id))


def _versions_of(memory: Memory, touches: Sequence[Any]) -> list[Version]:
    """What a memory said, the earliest first, by going back from what it says now."""
    values: dict[str, Any] = {name: getattr(memory, name) for name in _TOLD}
    who, why, change_id = memory.speaker, "", None
    found: list[Version] = []
    for change, actor, reason, at, changed in reversed(touches):
        # A plain cursor leaves the decoding of JSON to its reader.
        before = json.loads(changed) if isinstance(changed, str) else changed
        if before is None:
            who, why, change_id = actor, reason, change
        elif not {"content", "status"}.isdisjoint(before):
            found.append(_version(memory, values, at, actor, reason, change))
        values |= {name: value for name, value in (before or {}).items() if name in _TOLD}
    if values["status"] == Status.OUTDATED:
        # Every memory was told as true; a change that says since when it is not is gone (scrubbed).
        values["status"] = Status.ACTIVE
        if not found:
            at = memory.outdated_at or memory.said_at
            found.append(_version(memory, values | {"status": Status.OUTDATED}, at, "", "", None))
    found.append(_version(memory, values, memory.said_at, who, why, change_id))
    dated: list[Version] = []
    for version in reversed(found):
        since = max(version.since, dated[-1].since) if dated else version.since
        if dated:
            dated[-1] = replace(dated[-1], until=since)
        dated.append(replace(version, since=since))
    return dated


def _version(
    memory: Memory, values: Mapping[str, Any], since: datetime, who: str, why: str, change: Any
) -> Version:
    ids = tuple(values["source_message_ids"])
    return Version(
        memory_id=memory.pk, since=since, until=None, who=who, why=why, change_id=change,
        **{**values, "source_message_ids": ids},
    )  # fmt: skip
