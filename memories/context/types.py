"""What a context consists of, and how it came about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from accounts.reasons import Reason
from memories.context.render import Block, InjectedContact, InjectedDate, InjectedMemory
from memories.models import Erasure, Memory
from memories.search.recall import Hit
from understanding.types import Mention


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What the user asked in a chat to forget: ``hidden``, then ``erased``. While it is hidden
    an undo of ``change_id`` restores it, until ``erased_after``. ``memories`` and ``contacts``
    are counts; ``undecided`` counts messages and contacts that may be about forgotten people.
    State ``not_found``: nothing stored was meant; ``unclear``: it is unknown what is meant.
    ``missing``: the words of the request for which nothing is stored."""

    id: UUID
    state: str
    memories: int
    contacts: int
    undecided: int
    missing: list[str]
    requested_at: datetime
    erased_after: datetime
    change_id: UUID | None


def forgetting(erasure: Erasure) -> Forgetting:
    """Returns an erasure as apps see it."""
    pending = erasure.state == Erasure.State.PENDING
    return Forgetting(
        id=erasure.id,
        state="hidden" if pending else erasure.state,
        memories=len(erasure.memory_ids),
        contacts=len(erasure.contact_ids),
        undecided=len(erasure.unsure_message_ids) + len(erasure.unsure_contact_ids),
        missing=erasure.missing,
        requested_at=erasure.requested_at,
        erased_after=erasure.due_at if pending else erasure.finished_at or erasure.due_at,
        change_id=erasure.change_id,
    )


@dataclass(frozen=True, slots=True)
class Injection:
    """``system_prompt`` is empty if there is nothing to say. ``resolved`` says what decided who is
    meant (:data:`memories.context.who.Resolved`), ``timing`` how long each step took, in
    milliseconds. ``searched``: ``yes``, ``words`` (the message could not be embedded),
    ``late`` (the search would have ended after the deadline and was left out) or ``no``."""

    system_prompt: str = ""
    user_card: str = ""
    contacts: tuple[InjectedContact, ...] = ()
    memories: tuple[InjectedMemory, ...] = ()
    forgetting: tuple[Forgetting, ...] = ()
    dates: tuple[InjectedDate, ...] = ()
    timing_ms: float = 0.0
    resolved: str = "fast"
    searched: str = "no"
    timing: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PersonMemory:
    """A memory about a person. ``score`` is in 0..1. ``names``: the contact, if not linked."""

    memory: Memory
    score: float
    reason: Reason
    names: UUID | None = None


@dataclass(frozen=True, slots=True)
class PeopleMemories:
    """Memories about people. ``unlinked``: the contacts with memories that name them unlinked."""

    found: list[PersonMemory]
    unlinked: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """How a memory was found: about a person in the message, by search, or both. ``kept``:
    it fits into the prompt; ``line``: it has a line of its own, not only one on a card."""

    memory: Memory
    injected: InjectedMemory
    found: PersonMemory | None
    hit: Hit | None
    kept: bool = False
    line: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """How an injection came about. ``block`` is its text in parts, None without a user;
    ``found_memories`` are the best first; ``about`` is None if nobody's memories were looked up."""

    injection: Injection
    block: Block | None = None
    mentions: tuple[Mention, ...] = ()
    found_memories: tuple[FoundMemory, ...] = ()
    about: PeopleMemories | None = None
