"""What a context is, and how it came about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from memories.context import linked
from memories.context.render import Block, InjectedContact, InjectedDate, InjectedMemory
from memories.context.timing import Step
from memories.models import Memory
from memories.search.ranking import Hit
from understanding.types import Mention


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What the user asked in a chat to forget: ``hidden``, then ``erased``. While it is hidden
    an undo of ``change_id`` brings it back, until ``erased_after``. ``memories`` and
    ``contacts`` are how many; ``undecided`` are so many messages and contacts that may be
    about forgotten people. ``not_found``: nothing that is kept was meant. ``unclear``: what
    is meant could not be told. ``missing``: of what was asked for, this is not kept."""

    id: UUID
    state: str
    memories: int
    contacts: int
    undecided: int
    missing: list[str]
    requested_at: datetime
    erased_after: datetime
    change_id: UUID | None


@dataclass(frozen=True, slots=True)
class Injection:
    """``system_prompt`` is empty when there is nothing to say. ``resolved`` says whose answer it is
    who is meant (:data:`memories.context.model_resolution.Resolved`), ``timing`` what each step
    took, in milliseconds. ``searched``: ``yes``, ``words`` (the message could not be embedded),
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
class Way:
    """How a memory was found: about a person in the message, by search, or both. ``kept``:
    it found room; ``line``: it has a line of its own, not only one on a card."""

    memory: Memory
    injected: InjectedMemory
    found: linked.Found | None
    hit: Hit | None
    kept: bool = False
    line: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """How an injection came about. ``block`` is its text in parts, None for nobody's; ``ways`` are all
    memories found, the best first; ``about`` is None where nobody's memories were looked for."""

    injection: Injection
    block: Block | None = None
    mentions: tuple[Mention, ...] = ()
    ways: tuple[Way, ...] = ()
    steps: tuple[Step, ...] = ()
    about: linked.About | None = None
