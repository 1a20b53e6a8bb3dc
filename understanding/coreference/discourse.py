"""The discourse model: everyone a conversation has mentioned, when, and whose."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from accounts.reasons import Reason
from understanding import roles
from understanding.certainty import FADES, MEANT
from understanding.lexicon.rules import patterns
from understanding.names import name_key
from understanding.roles import roles_of
from understanding.types import Mention, Person

lex = patterns(__file__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody was spoken of: ``order`` counts such places, ``pointed`` that it was by
    no name. Turn -1 is nowhere yet."""

    turn: int = -1
    clause: int = -1
    order: int = 0
    pointed: bool = False


@dataclass(slots=True)
class Referent:
    """One who was brought up; ``person`` is None for those who are no contact. ``last`` is where
    last, ``first_turn`` in which turn first, ``count`` in how many turns."""

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
class Said:
    """A turn as later ones see it: who said it, its text, and whom it brought up, in order."""

    speaker: str
    text: str
    session: int
    keys: list[Hashable] = field(default_factory=list)


class Focus:
    """The referents of a conversation up to the turn being read."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self._referents: dict[Hashable, Referent] = {}
        self._session = 0
        self._order = 0

    @property
    def turn(self) -> int:
        return len(self.said) - 1

    def is_subject(self, one: Referent, clause: int) -> bool:
        """Whether somebody may be the subject of a clause of this turn: they are the last it spoke of,
        no relative of theirs was spoken of after them."""
        return one.last == Place(self.turn, clause, self._order, one.last.pointed)

    def begin_turn(self, speaker: str, text: str) -> None:
        self.said.append(Said(speaker, text, self._session))

    def begin_session(self) -> None:
        """What was read so far is the last session."""
        self._session += 1

    def is_earlier(self, one: Referent) -> bool:
        """Whether it was not spoken of in this session."""
        return self.said[one.last.turn].session != self._session

    def before(self) -> Said | None:
        """The turn before the one being read, of the same session."""
        if len(self.said) < 2 or self.said[-2].session != self._session:
            return None
        return self.said[-2]

    def person(self, person: Person) -> Referent:
        """The referent of a contact, made when new."""
        known = self._referents.get(person.id)
        if known is None:
            known = Referent(person.id, person, roles.person_gender(person))
            self._referents[person.id] = known
        return known

    def other(self, word: str, gender: str, owner: Hashable) -> Referent:
        """The referent of one who is no contact; the same word means the same one."""
        key = (word.lower(), owner)
        if key not in self._referents:
            self._referents[key] = Referent(key, None, gender)
        return self._referents[key]

    def touch(self, one: Referent, clause: int, *, pointed: bool = False) -> None:
        """``one`` is spoken of now."""
        self._order += 1
        one.count += one.last.turn != self.turn
        one.last = Place(self.turn, clause, self._order, pointed)
        if one.first_turn < 0:
            one.first_turn = self.turn
        keys = self.said[-1].keys
        if one.key not in keys:
            keys.append(one.key)

    def near(self, turns: int) -> list[Referent]:
        """Those whom this and so many turns before it brought up, the latest first."""
        keys = {key for said in self.said[-1 - turns :] for key in said.keys}
        return sorted((self._referents[key] for key in keys), key=lambda one: -one.last.order)


@dataclass(frozen=True, slots=True)
class Relation:
    """``subject`` is the ``kind`` of ``object``: (小李, "partner", 小红), (Tom, "boss", Anna)."""

    subject: Person
    kind: str
    object: Person


def stated_relations(people: Sequence[Person]) -> list[Relation]:
    """The relations among ``people`` that a name, alias or relationship of one states by
    the name of another. Linear in their number."""
    named: dict[str, list[Person]] = {}
    for person in people:
        for text in {person.name, *person.aliases}:
            named.setdefault(name_key(text), []).append(person)
    found = []
    for person in people:
        for text in dict.fromkeys((person.name, *person.aliases, person.relationship)):
            match = lex.stated.match(text)
            owners = named.get(name_key(match["owner"]), ()) if match else ()
            if match and len(owners) == 1 and owners[0].id != person.id and roles_of(match["kind"]):
                found.append(Relation(person, match["kind"], owners[0]))
    return found


# Whom a conversation stays about: the attention of the centering theory (Grosz, Joshi and Weinstein
# 1995), kept as a small stack. A turn that speaks of somebody of the talk adds to it, one that speaks
# of others alone begins anew, and whoever is not meant again fades with the turns.
# So many people at most stay in the talk.
MOST = 3

_Talk = dict[UUID, tuple[int, Mention]]


def staying(
    turns: Sequence[Sequence[Mention]], message: Sequence[Mention], reach: int
) -> list[Mention]:
    """Who is still talked of in a message that does not mean them, the latest first.

    ``turns`` are the mentions of each of the user's turns before it, oldest first; ``reach`` is
    how many messages somebody stays for after the turn that meant them last. Nobody stays when
    the message means others alone.
    """
    talk: _Talk = {}
    for place, mentions in enumerate(turns):
        talk = _after(talk, place, mentions)
    meant = {mention.person.id for mention in message}
    if meant and not meant & talk.keys():
        return []
    back = [(len(turns) - at, mention) for pk, (at, mention) in talk.items() if pk not in meant]
    back = [(turns_ago, mention) for turns_ago, mention in back if turns_ago <= reach]
    return [_kept(mention, turns_ago) for turns_ago, mention in sorted(back, key=_nearest)[:MOST]]


def _after(talk: _Talk, place: int, mentions: Sequence[Mention]) -> _Talk:
    sure = {m.person.id: (place, m) for m in mentions if m.confidence >= MEANT}
    return talk | sure if talk.keys() & sure.keys() or not sure else sure


def _nearest(one: tuple[int, Mention]) -> tuple[int, float]:
    return one[0], -one[1].confidence


def _kept(mention: Mention, turns_ago: int) -> Mention:
    return replace(
        mention,
        start=0,
        end=0,
        how="conversation",
        confidence=mention.confidence * FADES**turns_ago,
        reason=Reason("meant_turns_ago", turns=turns_ago),
    )
