"""What: messages, the memories drawn from them, and whom these are about."""

from memories.models.ledger import ModelCall, Retrieval
from memories.models.links import Edge, Link, LinkQuerySet
from memories.models.memory import (
    CONSOLIDATED_IMPORTANCE,
    INITIAL_IMPORTANCE,
    PROFILE_IMPORTANCE,
    Memory,
    MemoryQuerySet,
)
from memories.models.work import Batch, Consolidation, Message, Work, WorkQuerySet

__all__ = [
    "CONSOLIDATED_IMPORTANCE",
    "INITIAL_IMPORTANCE",
    "PROFILE_IMPORTANCE",
    "Batch",
    "Consolidation",
    "Edge",
    "Link",
    "LinkQuerySet",
    "Memory",
    "MemoryQuerySet",
    "Message",
    "ModelCall",
    "Retrieval",
    "Work",
    "WorkQuerySet",
]
