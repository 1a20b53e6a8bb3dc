"""What has been drafted of a batch so far, and what of it was taken back."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memories.providers.offline.reading.circle import PersonDraft
from memories.providers.offline.reading.discourse_reading import Discourse
from memories.providers.offline.reading.quoting import Draft
from memories.types import ForgetRequest


@dataclass(slots=True)
class DraftBook:
    """``retracted`` are turns whose statements the user took back; ``clock`` counts the user's
    turns, ``asked_at`` is when they last asked to forget something, ``before_id`` their turn
    before the one being read."""

    discourse: Discourse
    drafts: list[Draft] = field(default_factory=list)
    retracted: list[int] = field(default_factory=list)
    forget: list[ForgetRequest] = field(default_factory=list)
    clock: int = 0
    asked_at: int = -9
    before_id: int = 0

    def drop(self, draft: Draft) -> None:
        """The user took it back."""
        if draft in self.drafts:
            self.drafts.remove(draft)
        self.retract(draft)

    def retract(self, draft: Draft) -> None:
        """What an earlier batch kept of the draft's turn no longer holds."""
        if draft.turn_id not in self.retracted:
            self.retracted.append(draft.turn_id)

    def wipe(self, draft: Draft) -> None:
        """Nothing is kept of its turns, nor who was met in them alone."""
        self.drafts.remove(draft)
        for person in draft.people():
            if draft.turn_id in person.turns:
                person.turns.remove(draft.turn_id)

    def about(self, people: Sequence[PersonDraft]) -> list[Draft]:
        """The drafts about one of ``people``; all where none are given."""
        return [d for d in self.drafts if not people or any(p in people for p in d.people())]
