"""When it was learnt that a memory is no longer true, and how certain that is."""

from collections.abc import Collection
from datetime import UTC, datetime
from uuid import UUID

from django.utils import timezone

from memories.models import Memory
from memories.types import StoredFact

Status = Memory.Status
# How certain it is that a memory which was outdated is no longer true (TiMemory, "forgetting
# confidence"), by who says so. Chosen for Mio; the search gives way to a likely mistake later.
CERTAINTY = {
    "operator": 1.0,  # a person looked at it
    "app": 1.0,  # the app knows its user
    "user": 0.95,  # taken back in so many words; what "that" means was read from the chat
}
MACHINE = 0.9  # any other part of Mio: it compared two memories, and may have erred

# The columns that outdating writes.
FIELDS = ["status", "valid_to", "outdated_at", "outdated_confidence"]


def note(
    memory: Memory,
    actor: str,
    at: datetime | None = None,
    certainty: float | None = None,
    until: datetime | None = None,
) -> None:
    """When it was learnt that the memory (unsaved) is no longer true, and how certainly; it
    held ``until`` then (default: that moment), at least when it was said."""
    memory.outdated_at = min(at or timezone.now(), timezone.now())
    held = max(until, memory.said_at) if until else at or memory.outdated_at
    memory.valid_to = memory.valid_to or held
    known = CERTAINTY.get(actor.partition(":")[0], MACHINE)
    memory.outdated_confidence = known if certainty is None else min(max(certainty, 0.0), 1.0)


def end_facts(
    memory: Memory,
    ended: Collection[StoredFact],
    at: datetime | None = None,
    until: datetime | None = None,
    by: UUID | None = None,
) -> None:
    """Marks facts of a memory (unsaved) as no longer true since ``until``, as was learnt ``at``
    some time (default: now), from the memory ``by``."""
    learnt = min(at or timezone.now(), timezone.now())
    gone = {(fact.key, fact.value, fact.person) for fact in ended}
    facts = []
    for row in memory.facts:
        fact = memory.stored_fact(row)
        if (fact.key, fact.value, fact.person) in gone and not fact.outdated:
            times = {
                "valid_from": fact.valid_from or memory.began_at,
                "valid_to": fact.valid_to or max(until or learnt, memory.said_at),
                "outdated_at": learnt,
            }
            row = {**row, **{name: at.astimezone(UTC).isoformat() for name, at in times.items()}}
            row |= {"superseded_by": str(by)} if by else {}
        facts.append(row)
    memory.facts = facts


def stand_again(memory: Memory, by: Collection[UUID]) -> None:
    """Takes the marks off the facts of a memory (unsaved) that these memories ended."""
    marks = {str(pk) for pk in by}
    for row in memory.facts:
        if row.get("superseded_by") not in marks:
            continue
        for name in ("superseded_by", "outdated_at", "valid_to"):
            del row[name]
        if row["valid_from"] == memory.began_at.astimezone(UTC).isoformat():
            del row["valid_from"]


def follow_status(memory: Memory, actor: str, at: datetime | None) -> None:
    """Lets what outdating writes on a memory (unsaved) follow a status that was edited."""
    if memory.status == Status.OUTDATED and memory.outdated_at is None:
        note(memory, actor, at)
    elif memory.status == Status.ACTIVE and memory.outdated_at is not None:
        if memory.valid_to and memory.said_at <= memory.valid_to <= memory.outdated_at:
            memory.valid_to = None  # as ``note`` had it, not as it was told
        memory.outdated_at, memory.outdated_confidence = None, 1.0
