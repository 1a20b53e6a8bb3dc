"""What a context is asked for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memories.context import pace

ALL = ("user", "cards", "linked", "search", "dates")


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """``history`` are (role, content) turns before the message; what of the session is stored and
    older is read as well. ``limit`` bounds the memories, ``token_budget`` the whole text; cards come
    first. Whoever the talk is about keeps a compact card for ``keep_cards`` messages (default: as set).
    Where it is unsure who is meant, a model is asked, and waited for ``resolve_budget_ms`` at most:
    with ``resolve`` "auto" unless it turned out too slow, with "model" always, with "fast" never
    (default: as set). After ``deadline_ms`` (default: as set, 0 for none) no search is begun or
    waited for. ``heal``: edges to archived memories that are met are removed."""

    message: str
    session_id: str = ""
    history: Sequence[tuple[str, str]] = ()
    limit: int = 10
    token_budget: int = 1500
    include: Collection[str] = ALL
    keep_cards: int | None = None
    resolve: str | None = None
    resolve_budget_ms: int = pace.BUDGET_MS
    deadline_ms: int | None = None
    heal: bool = False
