"""Models of messages, memories, and links to the people whom memories are about."""

from memories.models.links import Edge, Entity, EntityLink, Link, LinkedContact, LinkQuerySet
from memories.models.memory import (
    CONSOLIDATED_IMPORTANCE,
    INITIAL_IMPORTANCE,
    PROFILE_IMPORTANCE,
    Memory,
    MemoryQuerySet,
)
from memories.models.records import (
    Claim,
    Erasure,
    GatewayTurn,
    Injected,
    JobRun,
    ModelCall,
    Outage,
    Receipt,
    Retrieval,
    SlowModel,
    Tally,
)
from memories.models.search_index import AROUND_SHARE, Corpus, Posting, Vector
from memories.models.work import (
    Batch,
    Consolidation,
    Message,
    MessageQuerySet,
    ProcessJob,
    Work,
    WorkQuerySet,
)
