"""Types that the parsers of files return: frozen, and free of Django."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from accounts.reasons import CodedError, Reason, Skipped

Role = Literal["user", "assistant", ""]


class NotReadable(CodedError):
    """The file can't be taken in; the reason says what to do. Nothing of it was."""

    def __init__(self, code: str | Reason, **params: object) -> None:
        super().__init__(code if isinstance(code, Reason) else Reason(code, **params))


class DayOrderUnknown(NotReadable):
    """Whether 3/4 is in March or in April can't be told from the file."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of an export. ``speaker`` is the name that the file gives, ``key`` what tells
    speakers apart (an account, else the name), ``aliases`` are other names of theirs. ``role`` is
    empty where the file does not say whether the owner wrote it. ``at`` has a zone where the file
    has one, else it is by the owner's clock; None: unknown. ``chat`` tells conversations apart."""

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
class Related:
    """Another person named on a card; ``kind`` is in English, or the card's own words."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One person of an address book. ``number`` is the place in the file, from 1; ``name`` is
    empty when the card has none (a company, a bare telephone number)."""

    number: int
    name: str
    aliases: tuple[str, ...] = ()
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    relationship: str = ""
    gender: str = ""
    related: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    namesake: int = 0


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory that a file holds. ``of`` are the numbers of the entries that it is about, and
    ``of_user`` says whether it is about the user; ``ident`` tells it from others of its program."""

    text: str
    ident: str
    of: tuple[int, ...] = ()
    of_user: bool = False
    at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tie:
    """The entry ``subject`` is the ``kind`` of the entry ``object``, by their numbers."""

    subject: int
    kind: str
    object: int


@dataclass(frozen=True, slots=True)
class Dump:
    """People and memories of another program, as a file holds them. ``owners``: who may be the
    user, where somebody has to say so, with how many things the file says of them; ``may_be_none``
    whether it may be none of them.
    ``left_out`` counts memories of somebody else, or that have expired; what is ``skipped`` can't
    be read."""

    format: str
    entries: tuple[Entry, ...]
    statements: tuple[Statement, ...] = ()
    ties: tuple[Tie, ...] = ()
    owners: Mapping[str, int] = field(default_factory=dict)
    may_be_none: bool = False
    left_out: int = 0
    skipped: Skipped = field(default_factory=Skipped)
