"""Corrections and retractions."""

from contacts.text import HAN
from memories.dates import find_dates
from memories.providers.offline import corrections
from memories.providers.offline.acts import is_joke_confession
from memories.providers.offline.draft import Draft
from memories.providers.offline.facts_zh import Value
from memories.providers.offline.misnamed import Misnamed
from memories.providers.offline.statements import Statements
from memories.providers.offline.talk import Part, Talk
from memories.providers.offline.wipes import Wipes
from memories.text import forget_intent
from memories.text.sentences import Sentence
from memories.types import Turn


class Takebacks(Part):
    """Puts right or takes back what was said before."""

    def __init__(self, talk: Talk, statements: Statements) -> None:
        super().__init__(talk)
        self.statements = statements
        self.wipes = Wipes(talk)
        self.misnamed = Misnamed(talk)

    def takes_back(self, turn: Turn, sentence: Sentence, rest: list[Sentence]) -> bool:
        """Corrections and retractions; True when the sentence did nothing else."""
        text = sentence.text
        if forget_intent.asks(text):
            alone = forget_intent.stands_alone(text)
            self.wipes.ask(turn, forget_intent.request(text), alone=alone)
            return True
        if is_joke_confession(text):
            joked = corrections.joked_about(text)
            if joked:
                self._forget(turn, joked)
            else:
                self._retract_last(turn)
            return True
        if corrections.cancels(text):
            planned = [
                d
                for d in self.drafts
                if d.turn.id != turn.id and find_dates(d.text(), d.turn.said_at, True)
            ]
            if planned:
                self._drop(planned[-1])
            return len(text) < 8
        replaced = corrections.replacement(text)
        if replaced is not None:
            return self._correct(turn, sentence, replaced)
        if corrections.is_mistake(text):
            about = corrections.about(text)
            if about or not any(corrections.replacement(s.text) for s in rest):
                self._forget(turn, about or "", last=not about and not rest)
            return corrections.only_mistake(text)
        return False

    def _retract_last(self, turn: Turn) -> None:
        earlier = [d for d in self.drafts if d.turn.id != turn.id] or self.drafts
        if earlier:
            last = earlier[-1].turn.id
            for draft in [d for d in self.drafts if d.turn.id == last]:
                self._drop(draft)

    def _drop(self, draft: Draft) -> None:
        if draft in self.drafts:
            self.drafts.remove(draft)
        if draft.turn.id not in self.retracted:
            self.retracted.append(draft.turn.id)

    def _forget(self, turn: Turn, words: str, *, last: bool = False) -> None:
        """Drop what was said about ``words``; with nothing named, what was said last."""
        keys = corrections.keywords(words)
        spots = self.talk.known_spots(words) if words else []
        people = {id(spot.who) for spot in spots}
        hit = False
        for draft in list(self.drafts):
            text = " ".join(piece.text for piece in draft.pieces)
            about = not people or any(id(p) in people for p in draft.people())
            if keys and about and any(key.lower() in text.lower() for key in keys):
                self._drop(draft)
                hit = True
        if not hit and people and not keys:
            for draft in [d for d in self.drafts if any(id(p) in people for p in d.people())]:
                self._drop(draft)
                hit = True
        if not hit and last:
            self._retract_last(turn)

    def _correct(self, turn: Turn, sentence: Sentence, change: corrections.Replacement) -> bool:
        """Put the right value where the wrong one stood, the right person where a wrong one."""
        mistaken = self.misnamed.person(change.old) if change.old else None
        if mistaken is not None and self.misnamed.is_name(change.new, mistaken):
            return self.misnamed.rename(turn, mistaken, change.new) and change.whole
        for draft in reversed(self.drafts):
            if change.moved and (
                draft.turn.id == turn.id
                or not corrections.same_event(draft.text(), sentence.text, turn.id - draft.turn.id)
            ):
                continue
            if corrections.apply(draft, change):
                if draft.turn.id not in self.wanted and draft.turn.id not in self.retracted:
                    self.retracted.append(draft.turn.id)
                self.drafts.remove(draft)
                draft.extra_turns.append(turn.id)
                self.drafts.append(draft)
                subject = draft.subject
                if subject is not None:
                    self.at.topic = subject
                    self.book.touch(subject)
                return change.whole
        if change.moved:
            return False
        if change.old and change.new and mistaken is None and HAN.search(sentence.text):
            self._state_right(turn, sentence, change)
            return True
        return False

    def _state_right(self, turn: Turn, sentence: Sentence, change: corrections.Replacement) -> None:
        """What is corrected was never noted: the right value is a statement of its own."""
        self.at.stale = change.old
        head = sentence.text[: change.start]
        text = head + corrections.restated(sentence.text, change)
        self.statements.statement(turn, Sentence(text, sentence.start), quote=sentence.text)
        last = self.drafts[-1] if self.drafts else None
        if (
            corrections.names_employer(sentence.text, change)
            and last is not None
            and last.turn.id == turn.id
            and last.subject is not None
            and last.pieces
            and not last.pieces[0].values
        ):
            last.pieces[0].values.append(Value("company", change.new.removeprefix("在"), 0, 0))
