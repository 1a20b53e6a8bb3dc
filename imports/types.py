"""Types that the parsers of files return: frozen, and free of Django."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from accounts.reasons import CodedError, Reason, Skipped

Role = Literal["user", "assistant", ""]


class NotReadable(CodedError):
    """The file can't be imported; the reason says what to do."""

    def __init__(self, code: str | Reason, **params: object) -> None:
        super().__init__(code if isinstance(code, Reason) else Reason(code, **params))


class DayOrderUnknown(NotReadable):
    """The file does not show whether 3/4 is in March or in April."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of an export. ``speaker`` is the name in the file; ``key`` distinguishes speakers
    (an account, else the name), ``aliases`` are the speaker's other names. ``role`` is empty if the
    file does not say whether the owner wrote it. ``at`` has a zone if the file has one, else it is
    by the owner's clock; None if unknown. ``chat`` distinguishes conversations."""

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
    """A person named on the card of another; ``kind`` is in English, or the card's own words."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One person of an address book. ``number`` is the place in the file, from 1; ``name`` is empty
    if the card has none (a company, a bare telephone number)."""

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
    """A memory in a file. ``of`` are the numbers of the entries that it is about, ``of_user`` says
    whether it is about the user; ``ident`` is its id among the memories of its program."""

    text: str
    ident: str
    of: tuple[int, ...] = ()
    of_user: bool = False
    at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tie:
    """A relation of two entries: the entry number ``subject`` is the ``kind`` of ``object``."""

    subject: int
    kind: str
    object: int


@dataclass(frozen=True, slots=True)
class Dump:
    """People and memories of another program. ``owners`` are those who may be the user, if somebody
    has to say so, with the number of the file's statements about each; ``may_be_none`` says whether
    the user may be none of them. ``left_out`` counts memories of others and expired ones; what
    can't be read is in ``skipped``."""

    format: str
    entries: tuple[Entry, ...]
    statements: tuple[Statement, ...] = ()
    ties: tuple[Tie, ...] = ()
    owners: Mapping[str, int] = field(default_factory=dict)
    may_be_none: bool = False
    left_out: int = 0
    skipped: Skipped = field(default_factory=Skipped)
