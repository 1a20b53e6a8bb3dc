"""Who calls over the Model Context Protocol."""

from contextvars import ContextVar
from dataclasses import dataclass

from accounts.models import App


@dataclass(frozen=True, slots=True)
class Caller:
    """The app and end user whose memory is open, and the address of this server, for links."""

    app: App
    external_id: str
    base: str = ""

    @property
    def actor(self) -> str:
        """The author of a change."""
        return f"app:{self.app.name}"[:100]


caller: ContextVar[Caller] = ContextVar("caller")
