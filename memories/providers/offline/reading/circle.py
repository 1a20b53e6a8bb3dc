"""The people of a batch, known and new, found by the words that refer to them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import NAMESPACE_OID, UUID, uuid5

from memories.types import ExtractedPerson, Subtype
from understanding.lexicon import rows, words
from understanding.names import name_key
from understanding.people.mentions import candidate_keys, entries_of, find_mentions
from understanding.roles import is_relation_of_other, kinship, person_gender, terms
from understanding.same_person.name_types import is_full, title_of
from understanding.same_person.relationships import ONE_AT_A_TIME
from understanding.text import HAN, normalise, simplified
from understanding.types import Entry, Mention, Person


@dataclass(eq=False, slots=True)
class PersonDraft:
    """A person under construction. ``role`` is their relation to ``owner``, or to the user if that
    is None; ``named`` if a name is known; ``by_pronoun`` while it is unresolved whose relative they
    are (her brother). ``certainty`` is the probability that the words for them mean a person of the
    user's life; ``turns`` are the ids of the turns with such words."""

    ref: str
    id: UUID
    name: str
    named: bool
    contact_id: UUID | None = None
    aliases: list[str] = field(default_factory=list)
    role: str = ""
    gender: str = ""
    owner: "PersonDraft | None" = None
    certainty: float = 1.0
    namesake: bool = False
    by_pronoun: bool = False
    turns: list[int] = field(default_factory=list)
    # Further relations beside ``role``, each with its owner.
    ties: list[tuple[str, "PersonDraft"]] = field(default_factory=list)

    @property
    def relationship(self) -> str:
        """The relation to the user in the user's words, through the owner if there is one; "" if it
        isn't known whose relative they are."""
        if self.by_pronoun:
            return ""
        if self.owner is None or not self.role:
            return self.role
        if HAN.search(self.role):
            return f"{self.owner.name}的{self.role}"
        return f"{self.owner.name}'s {self.role}"

    @property
    def subtype(self) -> Subtype:
        unclear = self.owner or self.by_pronoun or is_relation_of_other(self.role)
        role = None if unclear else kinship(self.role or self.name)
        return Subtype(role.subtype) if role else Subtype.OTHER

    def person(self) -> Person:
        return Person(self.id, self.name, tuple(self.aliases), self.relationship, self.gender)

    def known_as(self) -> list[str]:
        return [self.name, *self.aliases]

    def add_name(self, name: str) -> None:
        """Adds a name; the fuller one becomes the main name. A role used as the name becomes an
        alias, except a word for anybody (the guy)."""
        name = written(name) if kinship(name) is None else name
        if name in self.known_as():
            return
        is_fuller = bool(title_of(name_key(self.name))[1]) and is_full(name)
        if not self.named or is_fuller or extends(name, self.name):
            name, self.name = self.name, name
            self.named = True
        if name not in self.aliases and normalise(name) not in (normalise(self.name), *ANYBODY):
            self.aliases.append(name)

    def extracted(self) -> ExtractedPerson:
        person = self.person()
        return ExtractedPerson(
            ref=self.ref,
            name=self.name,
            contact_id=self.contact_id,
            aliases=tuple(self.aliases),
            relationship=self.relationship,
            gender=person_gender(person),
            namesake=self.namesake and self.contact_id is None,
        )


def written(name: str) -> str:
    """Returns a name with capitals, if it was typed without."""
    return name.title() if name.islower() else name


def extends(full: str, short: str) -> bool:
    """Whether a name is ``short`` with a surname or given name added (陳雅婷 and 雅婷)."""
    one, other = simplified(normalise(full)), simplified(normalise(short))
    if HAN.search(one) and HAN.search(other):
        return 2 <= len(other) < len(one) <= 4 and one.endswith(other)
    if not one.isascii() or " " not in one or " " in other:
        return False
    return other in (one.split(" ")[0], one.split(" ")[-1]) and not title_of(one)[1]


def _may_be_one(name: str, other: str) -> bool:
    """Whether one of two names is the other with a surname, given name or title added, or has the
    same title and only the initial (Mrs K, Mrs Kaur)."""
    pairs = ((name, other), (other, name))
    (first, title), (second, other_title) = title_of(name_key(name)), title_of(name_key(other))
    is_initial = title == other_title != "" and 1 in (len(first), len(second)) and first.isascii()
    if is_initial and first[:1] == second[:1]:
        return True
    return any(extends(a, b) or title_of(name_key(a))[0] == name_key(b) for a, b in pairs)


# Nouns for anybody, which state no role.
ANYBODY = frozenset(row["word"] for row in rows("heads")) - terms().keys()


class Circle:
    """The people whom a batch may mention, found by name, alias, or role and owner."""

    def __init__(self, known: Iterable[Person], user_names: Iterable[str]) -> None:
        self.people: list[PersonDraft] = []
        self.banned = {normalise(name) for name in user_names} | {*map(normalise, _MACHINES)}
        self._index: dict[str, list[Entry]] | None = None
        self._new_count = 0
        self._merged: dict[str, PersonDraft] = {}
        for number, person in enumerate(known, start=1):
            self.people.append(
                PersonDraft(
                    ref=f"k{number}",
                    id=person.id,
                    name=person.name,
                    named=normalise(person.name) not in terms(),
                    contact_id=person.id if isinstance(person.id, UUID) else None,
                    aliases=list(person.aliases),
                    role=person.relationship,
                    gender=person.gender,
                )
            )

    def meet(
        self, name: str, *, named: bool, role: str = "", owner: PersonDraft | None
    ) -> PersonDraft:
        """Adds and returns a new person."""
        self._new_count += 1
        name = written(name) if named else name
        ref = f"p{self._new_count}"
        # The same batch gives the same ids.
        person = PersonDraft(ref, uuid5(NAMESPACE_OID, ref), name, named, role=role, owner=owner)
        person.gender = person_gender(Person(person.id, name, (), role))
        self.people.append(person)
        self.changed()
        return person

    def changed(self) -> None:
        """Discards the index of names, after a person's names changed."""
        self._index = None

    def by_id(self, pk: UUID) -> PersonDraft | None:
        return next((one for one in self.people if one.id == pk), None)

    def mentions(self, text: str) -> list[Mention]:
        """Returns the mentions of these people in ``text``."""
        if self._index is None:
            index = defaultdict(list)
            for entry in entries_of([one.person() for one in self.people]):
                index[entry.key.key].append(entry)
            self._index = index
        entries = [e for key in sorted(candidate_keys(text)) for e in self._index.get(key, ())]
        return find_mentions(text, entries) if entries else []

    def bearers(self, name: str) -> list[PersonDraft]:
        """Returns people called ``name``, else by a longer or shorter form of it, latest first."""
        wanted = normalise(name)
        exact = [p for p in self.people if wanted in map(normalise, p.known_as())]
        if exact:
            return _latest_first(exact)
        parts = [
            p
            for p in self.people
            if p.named and any(_may_be_one(name, known) for known in p.known_as())
        ]
        return _latest_first(parts)

    def holders(self, role: str, owner: PersonDraft | None) -> list[PersonDraft]:
        """Returns the people who are the ``role`` of ``owner`` (None: the user), latest first."""
        wanted, word = kinship(role), normalise(role)
        holders = []
        for one in self.people:
            if one.owner is not owner or one.by_pronoun or not (one.role or not one.named):
                continue
            own_role = one.role or one.name
            if normalise(own_role) == word or word in map(normalise, one.aliases):
                holders.append(one)
                continue
            known = kinship(own_role)
            if (
                wanted is None
                or known is None
                or wanted.level == "common"
                or is_relation_of_other(own_role)
            ):
                continue
            # Of a role that one may have several of, a vaguer word may mean the known person, but a
            # narrower one (older brother, or 二姨, second aunt, if an aunt is known) another.
            as_narrow = wanted.kind in ONE_AT_A_TIME or (
                wanted.gender == known.gender and wanted.tags <= known.tags
            )
            fits = wanted.fits(known) or known.fits(wanted)
            if fits and as_narrow and one.gender in ("", wanted.gender or one.gender):
                holders.append(one)
        return _latest_first(holders)

    def merge(self, kept: PersonDraft, other: PersonDraft) -> PersonDraft:
        """Merges two people who are one, and returns them: the contact, or the one with a name."""
        if kept is other:
            return kept
        if (other.contact_id is not None, other.named) > (kept.contact_id is not None, kept.named):
            kept, other = other, kept
        # A role that was used only to say who somebody is (she's my cousin) becomes no name.
        if other.named or (other.owner is None and set(other.turns) - set(kept.turns)):
            for name in other.known_as():
                kept.add_name(name)
        if not kept.role:
            kept.role, kept.owner = other.role, other.owner if other.owner is not kept else None
        elif other.role and other.owner is None and kept.owner is not None:
            # The relation to the user becomes the main one.
            kept.ties.append((kept.role, kept.owner))
            kept.role, kept.owner = other.role, None
        elif other.role and other.owner not in (None, kept, kept.owner):
            kept.ties.append((other.role, other.owner))
        kept.ties += [tie for tie in other.ties if tie[1] is not kept]
        kept.gender = kept.gender or other.gender
        kept.certainty = max(kept.certainty, other.certainty)
        kept.turns = sorted({*kept.turns, *other.turns})
        self.people.remove(other)
        self._merged[other.ref] = kept
        for one in self.people:
            if one.owner is other:
                one.owner = kept if one is not kept else None
            one.ties = [(role, kept if to is other else to) for role, to in one.ties]
        self.changed()
        return kept

    def now(self, one: PersonDraft | None) -> PersonDraft | None:
        """Returns the person into whom ``one`` was merged, or ``one``."""
        while one is not None and one.ref in self._merged:
            one = self._merged[one.ref]
        return one

    def ban(self, name: str) -> None:
        """Reserves ``name`` for the user, removing new people with it, unless a contact has it."""
        if any(one.contact_id for one in self.bearers(name)):
            return
        self.banned.add(normalise(name))
        self.people = [
            one for one in self.people if normalise(one.name) != normalise(name) or one.contact_id
        ]
        self.changed()


_MACHINES = words("assistants")


def _latest_first(people: Sequence[PersonDraft]) -> list[PersonDraft]:
    return sorted(people, key=lambda one: -(one.turns[-1] if one.turns else -1))


def called(role: str) -> str:
    """Returns the name for a person known only by role: 妈妈 (mum) for 妈, else the role itself."""
    word = " ".join(role.split())
    if word.endswith("儿") and word[:-1] in terms():  # as it is spoken in the north
        word = word[:-1]
    if len(word) == 1 and word * 2 in terms():
        return word * 2
    return word


def in_order(people: Iterable[PersonDraft]) -> list[PersonDraft]:
    """Returns the people, each after their owner; owners who are not among them are added."""
    ordered: dict[PersonDraft, None] = {}
    for one in people:
        chain = [one]
        while chain[-1].owner is not None and chain[-1].owner not in chain:
            chain.append(chain[-1].owner)
        ordered |= dict.fromkeys(reversed(chain))
    return list(ordered)
