"""What: messages, the memories drawn from them, and whom these are about."""

from memories.models.ledger import Erasure, Injected, JobRun, ModelCall, Retrieval
from memories.models.links import Edge, Entity, EntityLink, Link, LinkQuerySet
from memories.models.memory import (
    CONSOLIDATED_IMPORTANCE,
    INITIAL_IMPORTANCE,
    PROFILE_IMPORTANCE,
    Memory,
    MemoryQuerySet,
)
from memories.models.work import (
    Batch,
    Consolidation,
    Message,
    RemoteBatch,
    Work,
    WorkQuerySet,
)

__all__ = [
    "CONSOLIDATED_IMPORTANCE",
    "INITIAL_IMPORTANCE",
    "PROFILE_IMPORTANCE",
    "Batch",
    "Consolidation",
    "Edge",
    "Entity",
    "EntityLink",
    "Erasure",
    "Injected",
    "JobRun",
    "Link",
    "LinkQuerySet",
    "Memory",
    "MemoryQuerySet",
    "Message",
    "ModelCall",
    "RemoteBatch",
    "Retrieval",
    "Work",
    "WorkQuerySet",
]
