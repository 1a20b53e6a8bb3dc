"""The discourse model: everyone a conversation has mentioned, when, as what, and whose."""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from contacts.coreference import role_features
from contacts.coreference.syntax import Role
from contacts.lexicon import words
from contacts.names import name_key
from contacts.roles import roles_of
from contacts.types import Person

Kind = Literal["person", "someone", "pet", "group"]

_RANK: tuple[Role, ...] = ("subject", "possessor", "object", "oblique")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[A-Za-z][a-z'’]{2,}")
_STEM = 5
# Function words say nothing about whose sentence it is.
_STOP_ZH = words("grammar_zh", "discourse_stop")
_STOP_EN = words("stopwords", "discourse")


def clues(text: str) -> frozenset[str]:
    """What a sentence is about, roughly: its Chinese bigrams and English word stems."""
    grams: set[str] = set()
    for run in _HAN_RUN.findall(text):
        grams.update(
            run[at : at + 2]
            for at in range(len(run) - 1)
            if run[at] not in _STOP_ZH and run[at + 1] not in _STOP_ZH
        )
    words = (word.lower() for word in _WORD.findall(text))
    grams.update(word[:_STEM] for word in words if word not in _STOP_EN)
    return frozenset(grams)


@dataclass(slots=True)
class Referent:
    """One who was brought up; ``person`` is None for those who are no contact. ``turn``,
    ``clause`` and ``order`` say where last, ``role`` as what, and the flags how: see the
    weights of the same names. ``associates``: a household named after them (亮子他们一家)."""

    key: Hashable
    kind: Kind
    person: Person | None = None
    gender: str = ""
    turn: int = -1
    clause: int = -1
    order: int = 0
    role: Role = "object"
    turns: set[int] = field(default_factory=set)
    grams: set[str] = field(default_factory=set)
    goal: bool = False
    presented: bool = False
    denied: bool = False
    addressee: bool = False
    source: bool = False
    in_passing: bool = False
    associates: bool = False
    by_pronoun: bool = False
    last_session: bool = False

    def distance(self, focus: "Focus") -> int:
        """Turns since it was spoken of; what the last session left is as fresh as at its end."""
        return (focus.session_end if self.last_session else focus.turn) - self.turn

    def is_in(self, focus: "Focus", clause: int) -> bool:
        """Whether it was last spoken of in this clause of the turn being read."""
        return (self.turn, self.clause) == (focus.turn, clause)


class Focus:
    """The referents of a conversation up to the turn being read."""

    def __init__(self) -> None:
        self.turn = -1
        self.session_end = -1
        self.referents: dict[Hashable, Referent] = {}
        self._order = 0
        self._turns: list[tuple[int, list[Hashable]]] = []

    def begin_turn(self) -> None:
        self.turn += 1
        self._turns.append((self.turn, []))

    def begin_session(self) -> None:
        """What was read so far is the last session."""
        self.session_end = self.turn
        for one in self.referents.values():
            one.last_session = True

    def person(self, person: Person) -> Referent:
        """The referent of a contact, made when new."""
        known = self.referents.get(person.id)
        if known is None:
            known = Referent(person.id, "person", person, role_features.person_gender(person))
            self.referents[person.id] = known
        return known

    def other(self, kind: Kind, word: str, gender: str, owner: Hashable) -> Referent:
        """The referent of one who is no contact; the same word means the same one."""
        key = (kind, word.lower(), owner)
        if key not in self.referents:
            self.referents[key] = Referent(key, kind, None, gender)
        return self.referents[key]

    def touch(self, one: Referent, role: Role, clause: int, grams: frozenset[str]) -> None:
        """``one`` is spoken of now. Within a clause the better role stays (Tom lent Ann his
        car: Tom is its subject)."""
        if not one.is_in(self, clause):
            one.goal = one.presented = one.denied = one.addressee = one.source = False
            one.in_passing = one.associates = one.last_session = False
            one.role = role
        elif _RANK.index(role) < _RANK.index(one.role):
            one.role = role
        self._order += 1
        one.turn, one.clause, one.order = self.turn, clause, self._order
        one.turns.add(self.turn)
        one.grams |= grams
        keys = self._turns[-1][1]
        if one.key not in keys:
            keys.append(one.key)

    def turns_back(self) -> Iterator[tuple[int, list[Referent]]]:
        """The turns, the one being read first, each with those it brought up in order."""
        for turn, keys in reversed(self._turns):
            if keys:
                yield turn, [self.referents[key] for key in keys]


_STATED = re.compile(r"^(?P<owner>.+?)(?:的|家的|['’]s?\s+)(?P<kind>.++)$")


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
            match = _STATED.match(text)
            owners = named.get(name_key(match["owner"]), ()) if match else ()
            if match and len(owners) == 1 and owners[0].id != person.id and roles_of(match["kind"]):
                found.append(Relation(person, match["kind"], owners[0]))
    return found
