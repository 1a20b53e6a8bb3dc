"""A memory under construction: clauses of one subject, rendered once everybody is named."""

import re
from dataclasses import dataclass, field

from contacts.attributes import is_single
from contacts.text import HAN
from memories.providers.offline.extraction import third_person
from memories.providers.offline.extraction.referents import Book, Someone, Spot
from memories.providers.offline.extraction.stated_values import Value
from memories.types import Turn

MAX_CHARS = 90


@dataclass(eq=False, slots=True)
class Piece:
    """A clause with the people and values in it; ``explicit`` when it names its subject."""

    text: str
    spots: list[Spot]
    values: list[Value]
    explicit: bool


@dataclass(eq=False, slots=True)
class Draft:
    """``subject`` None is the end user."""

    turn: Turn
    subject: Someone | None
    pieces: list[Piece]
    quote: str = ""
    confidence: float = 1.0
    extra_turns: list[int] = field(default_factory=list)
    introduces: Someone | None = None
    side_facts: list[tuple[Someone, str, str]] = field(default_factory=list)

    def takes(self, piece: Piece) -> bool:
        """Whether a clause joins this memory: not when it states a single-valued attribute
        beside another one, so that each can become outdated alone."""
        if len(self.text()) + len(piece.text) > MAX_CHARS:
            return False
        mine = {v.key for p in self.pieces for v in p.values if is_single(v.key)}
        theirs = {v.key for v in piece.values if is_single(v.key)}
        return not (mine and theirs)

    def text(self) -> str:
        """The user's words."""
        mark = "，" if any(HAN.search(piece.text) for piece in self.pieces) else ", "
        return mark.join(piece.text for piece in self.pieces)

    def people(self) -> list[Someone]:
        """Everybody the memory is about, its subject first."""
        found: list[Someone] = [self.subject] if self.subject is not None else []
        for piece in self.pieces:
            for spot in piece.spots:
                if spot.who is not None and spot.who not in found:
                    found.append(spot.who)
        return found

    def content(self, book: Book, chinese: bool) -> str:
        """The memory in the third person."""
        named: set[str] = set()
        parts: list[str] = []
        for number, piece in enumerate(self.pieces):
            zh = HAN.search(piece.text) is not None
            spots = [s for s in piece.spots if s.who is None or s.who in book.people]
            _mark_possessives(piece.text, spots)
            text = third_person.replace_spots(
                piece.text,
                spots,
                chinese=chinese and zh,
                named=named,
            )
            if number == 0 and not piece.explicit:
                text = self._opened(text, piece, spots, chinese)
            parts.append(text)
        mark = "，" if any(HAN.search(part) for part in parts) else ", "
        out = re.sub(r"\s{2,}", " ", mark.join(parts)).strip(" ,，")
        out = re.sub(r"用户们?用户", "用户", out).replace(",,", ",")
        return out[:1].upper() + out[1:] if out[:4] == "the " else out

    def _opened(self, text: str, piece: Piece, spots: list[Spot], chinese: bool) -> str:
        if self.subject is None:
            if any(s.who is None and s.start < 3 for s in spots) or not HAN.search(piece.text):
                return text
            return third_person.with_subject(text, "用户" if chinese else "The user", chinese)
        name = third_person.display(self.subject, chinese)
        if name in text and text.index(name) < 6:
            return text
        return third_person.with_subject(text, name, chinese)


def _mark_possessives(text: str, spots: list[Spot]) -> None:
    """ "her" before a noun is possessive; before the end, a preposition or a pronoun, not."""
    for spot in spots:
        if spot.how == "pronoun" and spot.text.lower() == "her":
            spot.new = bool(
                re.match(
                    r"\s(?!(?:to|that|in|on|at|as|for|with|and|but|when|if|about|from|by|a|the|my|is|was|not|up|out|off)\b)[a-z]+",
                    text[spot.end :],
                    re.I,
                )
            )
