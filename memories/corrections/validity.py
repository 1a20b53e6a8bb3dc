"""When it was learnt that a memory is no longer true, and how certain that is."""

from datetime import datetime

from django.utils import timezone

from memories.models import Memory

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
    memory: Memory, actor: str, at: datetime | None = None, certainty: float | None = None
) -> None:
    """When it was learnt that the memory (unsaved) is no longer true, and how certainly."""
    memory.outdated_at = min(at or timezone.now(), timezone.now())
    memory.valid_to = memory.valid_to or at or memory.outdated_at
    known = CERTAINTY.get(actor.partition(":")[0], MACHINE)
    memory.outdated_confidence = known if certainty is None else min(max(certainty, 0.0), 1.0)


def follow_status(memory: Memory, actor: str, at: datetime | None) -> None:
    """Lets what outdating writes on a memory (unsaved) follow a status that was edited."""
    if memory.status == Status.OUTDATED and memory.outdated_at is None:
        note(memory, actor, at)
    elif memory.status == Status.ACTIVE and memory.outdated_at is not None:
        if memory.valid_to == memory.outdated_at:
            memory.valid_to = None
        memory.outdated_at, memory.outdated_confidence = None, 1.0
