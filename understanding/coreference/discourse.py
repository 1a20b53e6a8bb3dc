"""The discourse model: the people that a conversation has mentioned, when, and whose they are."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from accounts.reasons import Reason
from understanding import roles
from understanding.certainty import FADES, MENTION_THRESHOLD
from understanding.lexicon.rules import patterns
from understanding.names import name_key
from understanding.roles import roles_of
from understanding.types import Mention, Person

lex = patterns(__file__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person was mentioned: ``order`` counts mentions. Turn -1 means not mentioned yet."""

    turn: int = -1
    clause: int = -1
    order: int = 0
    without_name: bool = False


@dataclass(slots=True)
class Referent:
    """A person who was mentioned; ``person`` is None if they are no contact. ``last`` is the last
    mention, ``first_turn`` the turn of the first one, ``count`` the number of turns with one."""

    key: Hashable
    person: Person | None = None
    gender: str = ""
    last: Place = Place()
    first_turn: int = -1
    count: int = 0

    @property
    def kind(self) -> str:
        return "person" if self.person else "someone"


@dataclass(slots=True)
class PastTurn:
    """A turn as later ones see it: speaker, text, session, and the people mentioned, in order."""

    speaker: str
    text: str
    session: int
    keys: list[Hashable] = field(default_factory=list)


class Focus:
    """The referents of a conversation up to the turn being read."""

    def __init__(self) -> None:
        self.past_turns: list[PastTurn] = []
        self._referents: dict[Hashable, Referent] = {}
        self._session = 0
        self._order = 0

    @property
    def turn(self) -> int:
        return len(self.past_turns) - 1

    def is_subject(self, one: Referent, clause: int) -> bool:
        """Whether ``one`` may be the subject of a clause: the last mention is theirs, in it."""
        return one.last == Place(self.turn, clause, self._order, one.last.without_name)

    def begin_turn(self, speaker: str, text: str) -> None:
        self.past_turns.append(PastTurn(speaker, text, self._session))

    def begin_session(self) -> None:
        """Starts a session; the turns read so far belong to earlier ones."""
        self._session += 1

    def is_earlier(self, one: Referent) -> bool:
        """Whether a person was last mentioned before this session."""
        return self.past_turns[one.last.turn].session != self._session

    def before(self) -> PastTurn | None:
        """Returns the turn before the one being read, if it is of the same session."""
        if len(self.past_turns) < 2 or self.past_turns[-2].session != self._session:
            return None
        return self.past_turns[-2]

    def person(self, person: Person) -> Referent:
        """Returns the referent of a contact, and creates it if necessary."""
        referent = self._referents.get(person.id)
        if referent is None:
            referent = Referent(person.id, person, roles.person_gender(person))
            self._referents[person.id] = referent
        return referent

    def other(self, word: str, gender: str, owner: Hashable) -> Referent:
        """Returns the referent of a person who is no contact, one per word and owner."""
        key = (word.lower(), owner)
        if key not in self._referents:
            self._referents[key] = Referent(key, None, gender)
        return self._referents[key]

    def touch(self, one: Referent, clause: int, *, without_name: bool = False) -> None:
        """Records that this clause mentions ``one``."""
        self._order += 1
        one.count += one.last.turn != self.turn
        one.last = Place(self.turn, clause, self._order, without_name)
        if one.first_turn < 0:
            one.first_turn = self.turn
        keys = self.past_turns[-1].keys
        if one.key not in keys:
            keys.append(one.key)

    def near(self, turns: int) -> list[Referent]:
        """Returns the people that this turn and ``turns`` before it mention, the latest first."""
        keys = {key for turn in self.past_turns[-1 - turns :] for key in turn.keys}
        return sorted((self._referents[key] for key in keys), key=lambda one: -one.last.order)


@dataclass(frozen=True, slots=True)
class Relation:
    """``subject`` is the ``kind`` of ``object``: (小李, "partner", 小红), (Tom, "boss", Anna)."""

    subject: Person
    kind: str
    object: Person


def stated_relations(people: Sequence[Person]) -> list[Relation]:
    """Returns the relations among ``people`` that a name, alias or relationship of one states with
    the name of another. Linear in their number."""
    by_name: dict[str, list[Person]] = {}
    for person in people:
        for text in {person.name, *person.aliases}:
            by_name.setdefault(name_key(text), []).append(person)
    relations = []
    for person in people:
        for text in dict.fromkeys((person.name, *person.aliases, person.relationship)):
            match = lex.stated.match(text)
            owners = by_name.get(name_key(match["owner"]), ()) if match else ()
            if match and len(owners) == 1 and owners[0].id != person.id and roles_of(match["kind"]):
                relations.append(Relation(person, match["kind"], owners[0]))
    return relations


# The people that a conversation is still about: the attention of centering theory (Grosz, Joshi and
# Weinstein 1995), as a small stack. A turn that mentions one of them adds its people, one that
# mentions only others replaces them, and people who are not mentioned again fade with the turns.
# The most people that stay.
MOST = 3

_Talk = dict[UUID, tuple[int, Mention]]


def staying(
    turns: Sequence[Sequence[Mention]], message: Sequence[Mention], reach: int
) -> list[Mention]:
    """Returns mentions of the people that the conversation is still about and the message does not
    mention, the latest first.

    ``turns`` are the mentions of each of the user's turns before it, oldest first; ``reach`` is for
    how many messages somebody stays after the last turn that mentioned them. Nobody stays if the
    message mentions others alone.
    """
    talk: _Talk = {}
    for place, mentions in enumerate(turns):
        talk = _updated(talk, place, mentions)
    mentioned = {mention.person.id for mention in message}
    if mentioned and not mentioned & talk.keys():
        return []
    back = [(len(turns) - at, mention) for pk, (at, mention) in talk.items() if pk not in mentioned]
    back = [(turns_ago, mention) for turns_ago, mention in back if turns_ago <= reach]
    back.sort(key=lambda one: (one[0], -one[1].confidence))
    return [
        replace(
            mention, start=0, end=0, how="conversation", confidence=mention.confidence * FADES**ago,
            reason=Reason("meant_turns_ago", turns=ago),
        )
        for ago, mention in back[:MOST]
    ]  # fmt: skip


def _updated(talk: _Talk, place: int, mentions: Sequence[Mention]) -> _Talk:
    likely = {m.person.id: (place, m) for m in mentions if m.confidence >= MENTION_THRESHOLD}
    return talk | likely if talk.keys() & likely.keys() or not likely else likely
