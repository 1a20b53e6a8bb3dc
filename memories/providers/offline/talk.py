"""The state of one reading: who is known, what it is about now, what has been drafted."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from memories.providers.offline.draft import Draft
from memories.providers.offline.frames import Frames
from memories.providers.offline.meeting import Spot
from memories.providers.offline.mentions import Scanner
from memories.providers.offline.people import Book, Someone
from memories.types import ExtractionRequest, ForgetRequest


@dataclass(slots=True)
class Moment:
    """What the conversation is about at a point of it."""

    topic: Someone | None = None
    asked: str = ""
    said_at: datetime | None = None
    session: str = ""
    asked_name: bool = False
    asked_people: bool = False
    pasted: str = ""
    making: bool = False
    stale: str = ""
    identified: Someone | None = None
    introduced: Someone | None = None
    turn_ids: tuple[int, ...] = ()
    things: list[str] = field(default_factory=list)
    awaiting: Someone | None = None
    before_id: int = 0


class Talk:
    """Everything that the steps of one reading share."""

    def __init__(self, request: ExtractionRequest, met: Iterable[Someone]) -> None:
        self.request = request
        self.book = Book(request.people, request.user_names)
        self.book.foresee(met)
        self.scanner = Scanner(self.book, request.people)
        self.frames = Frames(self.book)
        self.at = Moment()
        self.drafts: list[Draft] = []
        self.retracted: list[int] = []
        self.own_names: list[str] = []
        self.forget: list[ForgetRequest] = []
        self.asked_to_forget = -9  # the book's clock then
        self.wanted = {turn.id for turn in request.turns}

    def known_spots(self, text: str) -> list[Spot]:
        """Known people in the assistant's words; nobody is met there."""
        before = list(self.book.people)
        mirrored = re.sub(r"你(?!们好)", "我", text)
        mirrored = re.sub(r"\byour\b", "my", mirrored, flags=re.I)
        spots = self.scanner.scan(mirrored, topic=self.at.topic)
        for person in [p for p in self.book.people if p not in before]:
            self.book.people.remove(person)
        known = set(map(id, before))
        return [spot for spot in spots if spot.who is not None and id(spot.who) in known]


class Part:
    """A step of the reading, with the shared state at hand."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.request = talk.request
        self.book = talk.book
        self.scanner = talk.scanner
        self.frames = talk.frames
        self.at = talk.at
        self.drafts = talk.drafts
        self.retracted = talk.retracted
        self.wanted = talk.wanted
