"""Somebody was called by a wrong name: 不是小红，是小虹; sorry, not Jon, John."""

import re
from dataclasses import replace

from contacts.segmentation import tagged
from memories.providers.offline.draft import Draft, Piece
from memories.providers.offline.lexicons import english_places, relations, surnames
from memories.providers.offline.people import Someone
from memories.providers.offline.talk import Part
from memories.types import Turn

_LATIN = re.compile(r"[A-Z][a-zÀ-ÿ'’-]+(?:\s[A-Z][a-zÀ-ÿ'’-]+)?")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,4}")


class Misnamed(Part):
    """Gives what was said of somebody to whom it was meant for."""

    def person(self, name: str) -> Someone | None:
        """Who is called exactly ``name``."""
        known = self.book.by_name(name)
        return known if known is not None and known.named else None

    def is_name(self, words: str, old: Someone) -> bool:
        """Whether ``words`` are nothing but the name of a person, to stand for ``old``'s."""
        if self.person(words) is not None:
            return True
        if words in relations() or self.book.is_banned(words):
            return False
        if _LATIN.fullmatch(words):
            return words not in english_places()
        if not _HAN.fullmatch(words) or any(flag == "ns" for _, flag in tagged(words)):
            return False
        alike = len(words) == len(old.name) and bool(set(words) & set(old.name))
        return alike or (words[0] in surnames() and len(words) > 1)

    def rename(self, turn: Turn, old: Someone, name: str) -> bool:
        """What was last said of ``old`` was said of ``name``; False when nothing was."""
        told = [d for d in self.drafts if d.turn.id != turn.id and old in d.people()]
        if not told:
            return False
        new = self.person(name) or self.book.meet(name, named=True)
        wrong = [d for d in told if d.turn.id == told[-1].turn.id]
        if not new.relationship and any(
            old.word and old.word in piece.text for d in wrong for piece in d.pieces
        ):
            new.relationship, new.relation, new.word = old.relationship, old.relation, old.word
            new.gender = new.gender or old.gender
        for draft in wrong:
            self._give(draft, old, new)
            if draft.turn.id not in self.wanted and draft.turn.id not in self.retracted:
                self.retracted.append(draft.turn.id)
            draft.extra_turns.append(turn.id)
        if old.contact_id is None and len(wrong) == len(told):
            self.book.people.remove(old)
            self.book.recent[:] = [person for person in self.book.recent if person is not old]
        self.at.topic = new
        self.book.touch(new, turn.id)
        return True

    def _give(self, draft: Draft, old: Someone, new: Someone) -> None:
        draft.subject = new if draft.subject is old else draft.subject
        draft.introduces = new if draft.introduces is old else draft.introduces
        draft.side_facts = [
            (new if who is old else who, key, value) for who, key, value in draft.side_facts
        ]
        for piece in draft.pieces:
            _rewrite(piece, old, new)


def _rewrite(piece: Piece, old: Someone, new: Someone) -> None:
    """Every place of ``old`` in a clause becomes one of ``new``; what follows moves along."""
    for spot in piece.spots:
        if spot.who is not old:
            continue
        spot.who = new
        words = spot.text.replace(old.name, new.name)
        end, shift = spot.end, len(words) - len(spot.text)
        piece.text = piece.text[: spot.start] + words + piece.text[end:]
        spot.text, spot.end = words, end + shift
        for other in piece.spots:
            if other is not spot and other.start >= end:
                other.start, other.end = other.start + shift, other.end + shift
        piece.values[:] = [
            replace(v, start=v.start + shift, end=v.end + shift) if v.start >= end else v
            for v in piece.values
        ]
