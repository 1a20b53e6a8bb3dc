"""The versions of a memory: what it stated before, and when and why it changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.cells import fetch
from accounts.models import EndUser
from memories.models import Edge, Memory
from memories.search.sql import statement

Status = Memory.Status

# A longer chain is read in part: bounds the cost of one request.
LONGEST = 500
_TOUCHES, _CHAIN = statement(__file__, "touches.sql"), statement(__file__, "chain.sql")
_COLUMNS = ("content", "status", "source_message_ids", "quote")


@dataclass(frozen=True, slots=True)
class Version:
    """What a memory of the chain stated from ``since`` until ``until`` (None: still). ``who`` and
    ``why`` describe what began it: the speaker of the memory, or the actor of ``change_id``.
    ``source_message_ids`` and ``quote`` are the words on which it rested."""

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


def versions(end_user: EndUser, memory_id: UUID) -> list[Version]:
    """Returns the whole chain of a memory, the earliest first: its versions, what it superseded and
    what superseded it, each with its edits. Three statements; empty if there is no such memory."""
    kinds = [Edge.Kind.SUPERSEDES, Edge.Kind.PART_OF]
    params = {"memory": memory_id, "kinds": [*map(str, kinds)], "longest": LONGEST}
    ids = [pk for (pk,) in fetch(_CHAIN, params)]
    memories = list(Memory.objects.of(end_user).filter(pk__in=ids).defer("tokens"))
    if all(memory.pk != memory_id for memory in memories):
        return []
    touches: dict[str, list[Any]] = {}
    of_memories = [end_user.pk, [str(memory.pk) for memory in memories]]
    for row_id, *touch in fetch(_TOUCHES, of_memories):
        touches.setdefault(row_id, []).append(touch)
    chain = [
        version
        for memory in memories
        for version in _versions_of(memory, touches.get(str(memory.pk), []))
    ]
    return sorted(chain, key=lambda version: (version.since, version.memory_id != memory_id))


def _versions_of(memory: Memory, touches: Sequence[Any]) -> list[Version]:
    """Returns the versions of a memory, the earliest first, going back from its current state."""
    values: dict[str, Any] = {name: getattr(memory, name) for name in _COLUMNS}
    who, why, change_id = memory.speaker, "", None
    backwards: list[Version] = []
    for change, actor, reason, at, changed in reversed(touches):
        # A plain cursor does not decode JSON.
        old_values = json.loads(changed) if isinstance(changed, str) else changed
        if old_values is None:
            who, why, change_id = actor, reason, change
        elif not {"content", "status"}.isdisjoint(old_values):
            backwards.append(_version(memory, values, at, actor, reason, change))
        values |= {name: value for name, value in (old_values or {}).items() if name in _COLUMNS}
    if values["status"] == Status.OUTDATED:
        # Every memory began as true; the change that outdated it was scrubbed.
        values["status"] = Status.ACTIVE
        if not backwards:
            at = memory.outdated_at or memory.said_at
            backwards.append(
                _version(memory, values | {"status": Status.OUTDATED}, at, "", "", None)
            )
    backwards.append(_version(memory, values, memory.said_at, who, why, change_id))
    dated: list[Version] = []
    for version in reversed(backwards):
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
