"""What a memory said before, when and why it changed."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Touch:
    """What a change did to a memory: ``before`` None made it. ``at`` is when it took effect: for
    a memory that became outdated, when that was learnt."""

    change_id: UUID
    actor: str
    why: str
    at: datetime
    row_id: str
    before: Mapping[str, Any] | None


# Undone changes never count.
_TOUCHES = """
SELECT c.id, c.actor, c.why,
    COALESCE((SELECT min(CASE
                  WHEN r->'after'->>'status' = 'outdated' THEN r->'after'->>'outdated_at'
                  WHEN c.verb = 'outdate' THEN (
                      SELECT max(ended #>> '{}')
                      FROM jsonb_path_query(r->'after', '$.facts[*].outdated_at') ended) END)
              FROM jsonb_array_elements(c.rows) r WHERE r->>'model' = 'memories.memory'
             )::timestamptz, c.created_at) AS at,
    row->>'id', row->'before'
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
    touched: dict[str, list[Touch]] = {}
    for touch in _touches(end_user, memories):
        touched.setdefault(touch.row_id, []).append(touch)
    found = [
        v for memory in memories for v in _versions_of(memory, touched.get(str(memory.pk), []))
    ]
    return sorted(found, key=lambda version: (version.since, version.memory_id != memory_id))


def _touches(end_user: EndUser, memories: Iterable[Memory]) -> list[Touch]:
    """What changes did to these memories, the earliest change first. One statement."""
    ids = [str(memory.pk) for memory in memories]
    with connection.cursor() as cursor:
        cursor.execute(_TOUCHES, [end_user.pk, ids])
        return [
            Touch(change_id, actor, why, at, row_id, _loaded(before))
            for change_id, actor, why, at, row_id, before in cursor.fetchall()
        ]


def _loaded(value: Any) -> Any:
    """A JSON value of a plain cursor, which leaves the decoding to its reader."""
    return json.loads(value) if isinstance(value, str) else value


def _versions_of(memory: Memory, touched: Sequence[Touch]) -> list[Version]:
    told = [_first(memory, touched), *_later(memory, touched)]
    if memory.status == Status.OUTDATED and told[-1].status != Status.OUTDATED:
        told.append(_unrecorded(memory, told[-1]))
    dated: list[Version] = []
    for version in told:
        since = max(version.since, dated[-1].since) if dated else version.since
        if dated:
            dated[-1] = replace(dated[-1], until=since)
        dated.append(replace(version, since=since))
    return dated


def _first(memory: Memory, touched: Sequence[Touch]) -> Version:
    values = _as_it_was(memory, touched)
    if values["status"] == Status.OUTDATED:  # every memory was told as true; see _unrecorded
        values["status"] = Status.ACTIVE
    made = touched[0] if touched and touched[0].before is None else None
    return Version(
        memory_id=memory.pk,
        since=memory.said_at,
        until=None,
        who=made.actor if made else memory.speaker,
        why=made.why if made else "",
        change_id=made.change_id if made else None,
        **values,
    )


_TOLD = ("content", "status", "source_message_ids", "quote")


def _as_it_was(memory: Memory, touched: Iterable[Touch]) -> dict[str, Any]:
    """What the memory said before these changes."""
    values = {name: getattr(memory, name) for name in _TOLD}
    for touch in reversed(list(touched)):
        values |= {name: value for name, value in (touch.before or {}).items() if name in _TOLD}
    return {**values, "source_message_ids": tuple(values["source_message_ids"])}


def _later(memory: Memory, touched: Sequence[Touch]) -> Iterator[Version]:
    """One version for each change after which the memory says or is something else."""
    for number, touch in enumerate(touched):
        if touch.before is None or {"content", "status"}.isdisjoint(touch.before):
            continue
        values = _as_it_was(memory, touched[number + 1 :])
        yield Version(
            memory_id=memory.pk,
            since=touch.at,
            until=None,
            who=touch.actor,
            why=touch.why,
            change_id=touch.change_id,
            **values,
        )


def _unrecorded(memory: Memory, last: Version) -> Version:
    """That it became outdated, where the change that says so is gone (scrubbed)."""
    since = memory.outdated_at or last.since
    return replace(last, status=memory.status, since=since, who="", why="", change_id=None)
