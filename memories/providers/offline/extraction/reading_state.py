"""The state of one reading: who is known, what it is about now, what has been drafted."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from contacts.types import Entry
from memories.providers.offline.extraction.draft import Draft
from memories.providers.offline.extraction.referents import Book, Someone
from memories.types import ExtractionRequest, ForgetRequest


@dataclass(eq=False, slots=True)
class Reading:
    """What the steps of one pass over a request's turns know and leave behind."""

    request: ExtractionRequest
    book: Book
    contacts: Mapping[str, list[Entry]]  # the known contacts by name key
    wanted: frozenset[int]  # ids of the turns to extract; the others are context

    # What comes out.
    drafts: list[Draft] = field(default_factory=list)
    retracted: list[int] = field(default_factory=list)
    own_names: list[str] = field(default_factory=list)
    forget: list[ForgetRequest] = field(default_factory=list)

    # The turn being read and what it names.
    turn_ids: tuple[int, ...] = ()
    entries: list[Entry] = field(default_factory=list)
    named_in_turn: set[Hashable] = field(default_factory=set)
    making: bool = False  # the rest of the turn belongs to a text to be written
    stale: str = ""  # the wrong words that a correction has just replaced
    identified: Someone | None = None
    introduced: Someone | None = None

    # The discourse up to here.
    topic: Someone | None = None
    awaiting: Someone | None = None  # spoken of without a name, which may follow
    asked: str = ""  # the assistant's last question
    asked_name: bool = False
    asked_people: bool = False
    pasted: str = ""
    things: list[str] = field(default_factory=list)
    in_story: bool = False
    session: str = ""
    said_at: datetime | None = None
    before_id: int = 0
    asked_to_forget: int = -9  # the book's clock then
