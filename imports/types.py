"""What the parsers of chat exports hand on: frozen, typed, free of Django."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from accounts.reasons import CodedError, Reason

Role = Literal["user", "assistant", ""]


class NotReadable(CodedError):
    """The file can't be taken in; the reason says what to do. Nothing of it was."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(Reason(code, **params))


class DayOrderUnknown(NotReadable):
    """Whether 3/4 is in March or in April can't be told from the file."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of an export. ``speaker`` is the name that the file gives, ``key`` what tells
    speakers apart (an account, else the name), ``aliases`` are other names of theirs. ``role`` is
    empty where the file does not say whether the owner wrote it. ``at`` has a zone where the file
    has one, else it is by the owner's clock; None: unknown. ``chat`` tells conversations apart.
    """

    speaker: str
    text: str
    at: datetime | None
    chat: str = ""
    role: Role = ""
    key: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def who(self) -> str:
        return self.key or self.speaker


@dataclass(frozen=True, slots=True)
class Options:
    """What a file does not say and a person does. ``day_first``: whether its dates are D/M/Y;
    None: by the evidence of the whole file."""

    day_first: bool | None = None


NO_OPTIONS = Options()
