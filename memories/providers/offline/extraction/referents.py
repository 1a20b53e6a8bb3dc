"""The people of one extraction: who is known, who is met, and whom a role word means."""

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from uuid import UUID

from contacts.resolution import namesakes
from contacts.roles import is_anothers
from contacts.text import HAN, normalise
from contacts.types import Person
from memories.providers.offline.extraction.name_contexts import OPENING
from memories.providers.offline.extraction.relation_words import (
    is_vague,
    key_of,
    plain_english,
    relation_name,
    relationship_label,
)
from memories.providers.offline.lexicons import Relation, chinese_relation_words, relations
from memories.types import ExtractedPerson, Subtype

NOT_YET = -9  # the clock when somebody was last seen who wasn't
Span = tuple[int, int]
JUST_NOW = 2  # turns of the user for which a bare name means whoever was spoken of by it


@dataclass(eq=False, slots=True)
class Someone:
    """A person under construction. ``owner`` and ``kind`` say whose what they are when they
    are known only through somebody else (the sister of 小沈); ``named`` once a name is known."""

    ref: str
    name: str
    named: bool
    relationship: str = ""
    relation: Relation | None = None
    word: str = ""
    gender: str = ""
    contact_id: UUID | None = None
    aliases: list[str] = field(default_factory=list)
    owner: "Someone | None" = None
    owned_as: str = ""
    social: Subtype | None = None
    turn_ids: list[int] = field(default_factory=list)
    seen: int = NOT_YET
    namesake: bool = False  # met here, beside another of this name

    @property
    def is_contact(self) -> bool:
        """A named person, or the user's own relation; not the unnamed child of a friend."""
        if (
            self.contact_id is None
            and not self.named
            and self.relation is not None
            and self.relation.kind == "parents"
        ):
            return False
        return self.contact_id is not None or self.named or self.owner is None

    @property
    def subtype(self) -> Subtype:
        if self.relation is not None and self.owner is None:
            return self.relation.subtype
        return self.social or Subtype.OTHER

    @property
    def subtype_of_kind(self) -> Subtype:
        """What kind of tie binds them to whoever they belong to."""
        return self.relation.subtype if self.relation is not None else Subtype.OTHER

    def add_alias(self, alias: str) -> None:
        if alias and alias != self.name and alias not in self.aliases:
            self.aliases.append(alias)

    def give_name(self, name: str) -> None:
        """Call them by a name learnt now; a role they were called by so far stays findable."""
        if name == self.name:
            return
        before = self.name
        self.name = name
        if name in self.aliases:
            self.aliases.remove(name)
        if self.owner is None or self.named:
            self.add_alias(before)
        self.named = True

    def with_owners(self) -> Iterator["Someone"]:
        """Whoever they belong to, and those in turn, outermost first; then themself."""
        line: list[Someone] = []
        one: Someone | None = self
        while one is not None and not any(one is met for met in line):  # each other's sister
            line.append(one)
            one = one.owner
        yield from reversed(line)

    def extracted(self) -> ExtractedPerson:
        return ExtractedPerson(
            ref=self.ref,
            name=self.name,
            contact_id=self.contact_id,
            aliases=tuple(self.aliases),
            relationship=self.relationship,
            gender=self.gender,
            namesake=self.namesake and self.contact_id is None,
        )


def find_relation(words: str) -> Relation | None:
    """The relation that a relationship text speaks of, by its longest known word."""
    text = normalise(words).replace("-", " ")
    table = relations()
    if text in table:
        return table[text]
    hits = [
        word for word in table if (HAN.search(word) or f" {word} " in f" {text} ") and word in text
    ]
    return table[max(hits, key=len)] if hits else None


class Book:
    """Everybody in reach, found by name, alias or what they are to the user."""

    def __init__(self, known: Iterable[Person], user_names: Iterable[str]) -> None:
        self.people: list[Someone] = []
        self.banned: set[str] = {normalise(name) for name in user_names}
        self.recent: list[Someone] = []
        self.clock = 0
        self.renewing = True  # False while reading what an earlier batch has taken in
        self._by_id: dict[Hashable, Someone] = {}
        known = tuple(known)
        for number, person in enumerate(known, start=1):
            through_other = is_anothers(person.relationship)
            someone = Someone(
                ref=f"k{number}",
                name=person.name,
                named=find_relation(person.name) is None or person.name not in relations(),
                relationship=person.relationship,
                relation=None
                if through_other
                else find_relation(person.relationship) or relations().get(normalise(person.name)),
                gender=person.gender,
                contact_id=person.id if isinstance(person.id, UUID) else None,
                aliases=list(person.aliases),
            )
            someone.word = person.relationship
            if not someone.gender and someone.relation is not None:
                someone.gender = someone.relation.gender
            self.people.append(someone)
            self._by_id[person.id] = someone

    def foresee(self, met: Iterable[Someone]) -> None:
        """Know the names of people who are met later in what is being read. They count as
        met only once they are spoken of."""
        here = {person.ref: person for person in self.people}
        for person in (someone for each in met for someone in each.with_owners()):
            if person.ref not in here:
                ref = f"f{len(self.people)}"
                copy = replace(
                    person, turn_ids=[], aliases=list(person.aliases), ref=ref, seen=NOT_YET
                )
                self.people.append(copy)
                here[person.ref] = copy
        for person in self.people:
            if person.owner is not None:
                person.owner = here[person.owner.ref]

    def ban(self, name: str) -> None:
        """``name`` is a pet, a celebrity, somebody in a story: never a contact."""
        self.banned.add(normalise(name))
        for someone in [person for person in self.people if person.contact_id is None]:
            if normalise(someone.name) == normalise(name):
                self.people.remove(someone)
                self.recent = [person for person in self.recent if person is not someone]

    def is_banned(self, name: str) -> bool:
        return normalise(name) in self.banned

    def by_name(self, name: str) -> Someone | None:
        """Who is called ``name``; the one spoken of last when there are several."""
        hits = sorted(self._called(name), key=self.rank)
        return hits[0] if hits else None

    def _called(self, name: str) -> list[Someone]:
        wanted = normalise(name)
        return [p for p in self.people if wanted in {normalise(p.name), *map(normalise, p.aliases)}]

    def bearer(self, name: str, word: str = "", *, another: bool = False) -> Someone | None:
        """Who is called ``name`` and is the user's ``word``, if that is said; None when nobody
        is or it must be somebody else, as where the words say that it's ``another``."""
        hits = sorted(self._called(name), key=self.rank)
        if another:
            hits.sort(key=lambda person: not person.namesake)
            if hits and hits[0].namesake:
                hits = hits[:1]
                another = False
        place = namesakes.meant([p.relationship for p in hits], word, another=another)
        return hits[place] if place is not None else None

    def is_shared(self, name: str) -> bool:
        """Whether several people are called ``name``."""
        return len(self._called(name)) > 1

    def spoken_last(self, known: Someone, name: str) -> Someone:
        """``known``, or another called ``name``: whom the talk was about just now, or else
        the first of the known people."""
        called = self._called(name)
        just_now = [p for p in called if self.clock - p.seen <= JUST_NOW]
        first = next((p for p in called if p.contact_id is not None), known)
        return min(just_now, key=self.rank, default=first)

    def by_id(self, contact_id: Hashable) -> Someone | None:
        """The known contact with this id."""
        return self._by_id.get(contact_id)

    def rank(self, person: Someone) -> int:
        return self.recent.index(person) if person in self.recent else len(self.recent)

    def by_relation(
        self, word: str, owner: Someone | None = None, *, but: Someone | None = None
    ) -> Someone | None:
        """The user's (or ``owner``'s) own ``word``, e.g. 老板, other than ``but``: latest first,
        no former ones."""
        wanted = relations().get(normalise(word).replace("-", " "))
        if wanted is None:
            return None
        hits = [
            person
            for person in self.people
            if person.owner is owner
            and person is not but
            and person.relation is not None
            and _same_kind(person.relation.kind, wanted.kind)
            and _same_word(person, word, wanted)
        ]
        hits.sort(key=self.rank)
        return hits[0] if hits else None

    def meet(
        self, name: str, *, named: bool, word: str = "", owner: Someone | None = None
    ) -> Someone:
        """A new person, or the one already met under this name."""
        relation = relations().get(normalise(word).replace("-", " ")) if word else None
        someone = Someone(
            ref=f"p{len(self.people) + 1}",
            name=name,
            named=named,
            relation=relation,
            word=word,
            gender=relation.gender if relation else "",
            owner=owner,
        )
        self.people.append(someone)
        return someone

    def touch(self, someone: Someone, turn_id: int | None = None) -> None:
        """``someone`` was spoken of now."""
        if someone in self.recent:
            self.recent.remove(someone)
        self.recent.insert(0, someone)
        someone.seen = self.clock
        if turn_id is not None and turn_id not in someone.turn_ids:
            someone.turn_ids.append(turn_id)

    def merge(self, kept: Someone, other: Someone) -> None:
        """The two are one person: everything of ``other`` becomes ``kept``'s."""
        if kept is other:
            return
        if other.contact_id is not None and kept.contact_id is None:
            kept.contact_id = other.contact_id
        kept.relation = kept.relation or other.relation
        kept.relationship = kept.relationship or other.relationship
        kept.word = kept.word or other.word
        kept.gender = kept.gender or other.gender
        kept.social = kept.social or other.social
        kept.namesake = kept.namesake or other.namesake
        kept.turn_ids += [turn for turn in other.turn_ids if turn not in kept.turn_ids]
        if other.owner is None or other.named:
            kept.add_alias(other.name)
        for alias in other.aliases:
            kept.add_alias(alias)
        self.people.remove(other)
        self.recent = [person for person in self.recent if person is not other]
        for person in self.people:
            if person.owner is other:
                person.owner = kept

    def call(self, who: Someone, name: str, formal: bool, *, another: bool = False) -> None:
        """``who`` is called ``name``, ``formal`` where it is more than a nickname; ``another``
        where they aren't the one who is known by it."""
        other = None if who in self._called(name) else self.by_name(name)
        if other is not None and who.owner is None:
            other = self.bearer(name, who.relationship, another=another)
            who.namesake = other is None
        if other is not None:
            self.merge(who, other)
        if not who.named:
            if formal or not HAN.search(name) or who.relation is None:
                who.give_name(name)
            else:
                who.add_alias(name)
                if who.owner is not None or who.relation is None:
                    who.give_name(name)
        elif (
            formal and HAN.search(name) and not (HAN.search(who.name) and len(who.name) > len(name))
        ) or (formal and " " in name):
            before = who.name
            who.name = name
            who.add_alias(before)
            if name in who.aliases:
                who.aliases.remove(name)
        else:
            who.add_alias(name)

    def latest(self, gender: str = "", *, exclude: Iterable[Someone] = ()) -> Someone | None:
        """The person spoken of last whom a pronoun of ``gender`` may mean."""
        shut = list(exclude)
        if gender:
            sure = [
                p
                for p in self.recent
                if p.gender == gender and p not in shut and self.clock - p.seen <= 1
            ]
            beside = next(iter(p for p in self.recent if p not in shut), None)
            # Who was spoken of in this very sentence is nearer than whom the last one told of.
            near = beside is not None and not beside.gender and beside.seen == self.clock
            other = beside is not None and beside.namesake and not beside.gender
            if sure and near and sure[0].seen < self.clock:
                return beside
            if sure and not (other and beside is not None and beside.name == sure[0].name):
                return sure[0]
        for person in self.recent:
            if person in shut:
                continue
            if not gender or not person.gender or person.gender == gender:
                return person
        return None


def _same_kind(left: str, right: str) -> bool:
    """mother = mother; a sister may be the elder sister."""
    return left == right or left.endswith(" " + right) or right.endswith(" " + left)


def _same_word(person: Someone, word: str, wanted: Relation) -> bool:
    """Kinds with many holders (同学, cousin) match by word, unique ones (mother) by kind."""
    if wanted.subtype in {Subtype.FAMILY, Subtype.PARTNER} or person.word == word:
        return True
    return former(word) == former(person.word or person.relationship) and wanted.bare


def former(word: str) -> bool:
    """Whether ``word`` speaks of a relation that is over (前老板, ex-boss)."""
    folded = normalise(word)
    return folded.startswith(("前", "ex-", "ex ", "former", "old boss"))


# What is said when somebody takes over a role.
_ARRIVES = re.compile(
    r"叫|名字|姓|是(?=[\u4e00-\u9fffA-Z])|来了|换了|上任|到岗|入职|空降|报到|接任|接手|来自|明天来|下周|周一"
    r"|\b(?:named|called|name|starts?|started|joined|joins|arrives?|arrived|took over|is)\b|,\s?[A-Z]",
    re.I,
)


@dataclass(slots=True)
class Spot:
    """A place in a clause that means a person; ``who`` None is the end user. ``how`` is name,
    role, owned (somebody else's relation), pronoun or group; ``new`` when met right here."""

    start: int
    end: int
    who: Someone | None
    how: str
    text: str
    new: bool = False
    after_has: bool = False


def foreseen(book: Book, word: str) -> Someone | None:
    """Whoever is going to be introduced as ``word`` later on."""
    who = book.by_relation(word)
    return who if who is not None and who.contact_id is None and not who.turn_ids else None


def role_holder(book: Book, word: str, text: str) -> Someone | None:
    """Who is the user's ``word``; a new one where ``text`` tells of an arrival or names
    somebody else (新老板叫…, the new boss started)."""
    known = book.by_relation(word)
    if known is None or not book.renewing or not word.lower().startswith(("new ", "新")):
        return known
    relation = known.relation
    if known.contact_id is None and known.word.startswith(("new", "新")):
        return known
    same = any(name in text for name in (known.name, *known.aliases) if known.named)
    if relation is None or relation.subtype is not Subtype.COLLEAGUE or same:
        return known
    return renew_holder(book, word) if _ARRIVES.search(text) else known


def renew_holder(book: Book, word: str) -> Someone:
    """The new holder of a role; who held it before becomes the former one."""
    relation = relations()[key_of(word)]
    holders = [
        p
        for p in book.people
        if p.owner is None and p.relation is not None and p.relation.kind == relation.kind
    ]
    fresh = next(
        (p for p in holders if p.contact_id is None and p.word.startswith(("new", "新"))), None
    )
    before = book.by_relation(key_of(word), but=fresh)
    if before is not None and fresh is None and not before.named:
        return before
    if before is not None and relation.subtype is Subtype.COLLEAGUE:
        label = before.relationship or before.word
        before.relationship = f"前{label}" if HAN.search(label) else f"former {label}"
        before.word = before.relationship
    return fresh or meet_role(book, word)


def meet_role(book: Book, word: str) -> Someone:
    """A new person of whom only the role is known."""
    relation = relations()[key_of(word)]
    family = relation.subtype in {Subtype.FAMILY, Subtype.PARTNER}
    name = relation_name(word)
    who = book.meet(re.sub(r"^(?:new |新)", "", name), named=False, word=key_of(word))
    who.relationship = relationship_label(word)
    if not family and HAN.search(word) is None:
        who.name = plain_english(word)
    return who


def person_named(
    book: Book, name: str, word: str = "", *, another: bool = False
) -> tuple[Someone, bool]:
    """The person called ``name`` who is a ``word``; met now or known already. ``another``
    where the words say that it's somebody else than the one known by this name."""
    who = book.bearer(name, word, another=another)
    if who is None:
        taken = book.by_name(name) is not None
        unnamed = book.by_relation(word) if word else None
        if unnamed is not None and not unnamed.named and not is_vague(word):
            unnamed.give_name(name)
            unnamed.namesake = taken
            return unnamed, True
        who = book.meet(name, named=True, word=key_of(word) if word else "")
        who.namesake = taken
        if word:
            who.relationship = relationship_label(word)
        return who, True
    if word:
        relate_to_user(who, word)
    return who, False


def relate_to_user(who: Someone, word: str) -> None:
    """``who`` is the user's ``word``, if that says more than is known."""
    relation = relations().get(key_of(word))
    if relation is None:
        return
    if who.relation is None or not who.relationship or who.owner is not None:
        who.relation, who.relationship, who.word = (
            relation,
            relationship_label(word),
            key_of(word),
        )
        who.owner, who.owned_as = None, ""
        who.gender = who.gender or relation.gender


def role_holder_before(book: Book, text: str, end: int) -> Someone | None:
    """Somebody known by a role word that ends right before ``end`` (老师叫 Nora)."""
    for word in chinese_relation_words():
        if len(word) > 1 and text[:end].rstrip().endswith(word):
            head = text[:end].rstrip()[: -len(word)]
            if head and not OPENING.search(head):
                return None
            return book.by_relation(word) or meet_role(book, word)
    return None


def relative_of(book: Book, owner: Someone, word: str) -> Someone:
    """``owner``'s ``word``: known already or met now."""
    who = book.by_relation(word, owner)
    if who is None:
        chinese = HAN.search(word) is not None
        name = f"{owner.name}的{word}" if chinese else f"{owner.name}'s {word}"
        who = book.meet(name, named=False, word=key_of(word), owner=owner)
        who.owned_as = word
        who.relationship = name
    return who


def name_relative(book: Book, owned: Someone, name: str) -> None:
    """Somebody's relative is called ``name``; they become one with who is known by it."""
    known = book.by_name(name)
    if known is not None and known is not owned:
        if known.owner is None and not known.relationship:
            known.owner, known.owned_as, known.relation = (
                owned.owner,
                owned.owned_as,
                owned.relation,
            )
            known.relationship = owned.relationship
        book.merge(known, owned)
    else:
        owned.give_name(name)


def is_free(spots: list[Spot], start: int, end: int) -> bool:
    """Whether no spot covers any of the place."""
    return all(end <= spot.start or start >= spot.end for spot in spots)


def add_spot(spots: list[Spot], spot: Spot) -> bool:
    """Keep a spot where none is yet; whether it was kept."""
    free = is_free(spots, spot.start, spot.end)
    if free:
        spots.append(spot)
    return free


def mark(
    spots: list[Spot], text: str, span: Span, who: Someone | None, how: str, new: bool = False
) -> None:
    """Keep a place of ``text`` as one that means ``who``, where none is yet."""
    add_spot(spots, Spot(*span, who, how, text[slice(*span)], new))


def mark_name(
    book: Book, text: str, spots: list[Spot], span: Span, start: int, word: str = ""
) -> tuple[Someone, bool]:
    """Keep ``span`` as the place of whoever is called what stands there from ``start`` on and
    is a ``word``; met now or known already."""
    who, new = person_named(book, text[start : span[1]], word)
    mark(spots, text, span, who, "name", new)
    return who, new
