"""The request for a context."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memories.context import pace

ALL = ("user", "cards", "linked", "search", "dates")


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """``history`` are (role, content) turns before the message; older turns of the stored session
    are read as well. ``limit`` bounds the memories, ``token_budget`` the whole text; cards come
    first. People whom the conversation is still about keep a compact card for ``keep_cards``
    messages. If it is uncertain who is meant, a model is asked and waited for at most
    ``resolve_budget_ms``: with ``resolve`` "auto" unless it was too slow before, with "model"
    always, with "fast" never. After ``deadline_ms`` (0: none) no search is begun or waited for.
    None means the server's setting. ``heal``: edges met to archived memories are removed."""

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
