"""Carrying out what the user asks to forget, in what is being read and for what was kept."""

from uuid import UUID

from memories.providers.offline import forgetting, forgetting_scope
from memories.providers.offline.draft import Draft
from memories.providers.offline.people import Someone
from memories.providers.offline.talk import Part
from memories.text import forget_intent
from memories.types import ForgetRequest, Turn

REPEATED = 2  # user turns within which a second, bare request only repeats the first


class Wipes(Part):
    """Drops what is to be forgotten from the drafts, and asks for the rest to be hidden."""

    def ask(self, turn: Turn, text: str, *, alone: bool) -> None:
        """One request. Without a person or a matter it means all that is kept where it says
        so, else the last statement; not ``alone``, that is the rest of its own sentence, which
        nobody has read."""
        spots = [spot for spot in self.talk.known_spots(text) if spot.who is not None]
        people = list(dict.fromkeys(spot.who for spot in spots if spot.who is not None))
        called = [spot.text for spot in spots]
        matter = forgetting.matter(text, called)
        if not (people or matter.keys) and forget_intent.needs_somebody(text):
            return
        self.asked_in = turn.id
        self.dropped: list[int] = [] if alone else [turn.id]
        if matter.words or matter.keys:
            self._matter(people, matter)
        elif matter.kin and not people and forgetting_scope.whole_person(text, called):
            self._matter([], forgetting.Request(matter.kin, ()))
        elif not people and forgetting_scope.everything(text):
            self._everything()
        elif people and forgetting_scope.whole_person(text, called):
            for person in people:
                self._person(person)
        elif alone:
            self._last(turn, people)
        if self.dropped:
            self._request(turn_ids=tuple(dict.fromkeys(self.dropped)))
        self.talk.asked_to_forget = self.book.clock

    def _request(
        self,
        contact_id: UUID | None = None,
        words: tuple[str, ...] = (),
        keys: tuple[str, ...] = (),
        turn_ids: tuple[int, ...] = (),
        *,
        everything: bool = False,
    ) -> None:
        """A request of an earlier batch has been carried out, and perhaps taken back since."""
        if self.asked_in in self.wanted:
            asked = ForgetRequest(contact_id, words, keys, turn_ids, self.asked_in, everything)
            self.talk.forget.append(asked)

    def _matter(self, people: list[Someone], matter: forgetting.Request) -> None:
        """What was said of one matter, of these people if any are named."""
        for draft in list(self.drafts):
            about = not people or any(p in people for p in draft.people())
            text = draft.text().lower()
            said = any(word.lower() in text for word in matter.words)
            keys = {value.key for piece in draft.pieces for value in piece.values}
            own = not people and not draft.people()
            if about and (said or ((people or own) and keys & set(matter.keys))):
                self._drop(draft)
        known = [person.contact_id for person in people if person.contact_id is not None]
        targets: list[UUID | None] = [*known] or [None]
        for contact_id in targets:
            if contact_id is not None or matter.words or not people:
                names = () if known else tuple(p.name for p in people)
                words = (*names, *matter.words)
                self._request(contact_id, words, matter.keys)

    def _everything(self) -> None:
        """All that was said so far, of anybody."""
        for draft in list(self.drafts):
            self._drop(draft)
        for person in self.book.people:
            person.turn_ids.clear()
        self.at.topic = None
        self._request(everything=True)

    def _person(self, person: Someone) -> None:
        """Everything about a person; they are met again only if spoken of again."""
        names = [n.lower() for n in (person.name, *person.aliases) if len(n) > 1]
        for draft in list(self.drafts):
            text = draft.text().lower()
            if person in draft.people() or any(name in text for name in names):
                self._drop(draft)
        person.turn_ids.clear()
        if self.at.topic is person:
            self.at.topic = None
        words = () if person.contact_id else (person.name, *person.aliases)
        self._request(person.contact_id, words)

    def _last(self, turn: Turn, people: list[Someone]) -> None:
        """The latest statement: of this turn, else of the one before it."""
        if not people and self.book.clock - self.talk.asked_to_forget <= REPEATED:
            return
        drafts = [d for d in self.drafts if not people or any(p in people for p in d.people())]
        if people:
            turns = {draft.turn.id for draft in drafts}
        elif any(draft.turn.id == turn.id for draft in drafts):
            turns = {turn.id}
        else:
            turns = {self.at.before_id}
            self.dropped += [self.at.before_id] if self.at.before_id else []
        for draft in list(self.drafts):
            if draft.turn.id in turns and (not people or draft in drafts):
                self._drop(draft)

    def _drop(self, draft: Draft) -> None:
        """Nothing is kept of the turns of a draft; what an earlier batch kept is hidden."""
        self.drafts.remove(draft)
        for person in draft.people():
            if draft.turn.id in person.turn_ids:
                person.turn_ids.remove(draft.turn.id)
        self.dropped += [draft.turn.id, *draft.extra_turns]
