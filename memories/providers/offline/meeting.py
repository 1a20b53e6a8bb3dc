"""Meeting people: the person that a name or a relation word speaks of."""

import re
from dataclasses import dataclass

from contacts.text import HAN, normalise
from memories.providers.offline.lexicons import chinese_relation_words, relations
from memories.providers.offline.names import (
    doubled_name_at,
    name_beside_role,
)
from memories.providers.offline.names_latin import LATIN_NAME, latin_names
from memories.providers.offline.people import Book, Someone
from memories.providers.offline.places_of_names import OPENING, closes_name
from memories.providers.offline.relation_words import (
    is_vague,
    key_of,
    plain_english,
    relation_name,
    relationship_label,
)
from memories.types import Subtype

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


class Meeting:
    """Meets people: finds or makes the person that words speak of."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.renewing = True  # False while reading what an earlier batch has taken in

    def _foreseen(self, word: str) -> Someone | None:
        """Whoever is going to be introduced as ``word`` later on."""
        who = self.book.by_relation(word)
        return who if who is not None and who.contact_id is None and not who.turn_ids else None

    def holder(self, word: str, text: str) -> Someone | None:
        """Who is the user's ``word``; a new one where ``text`` tells of an arrival or names
        somebody else (新老板叫…, the new boss started)."""
        known = self.book.by_relation(word)
        if known is None or not self.renewing or not word.lower().startswith(("new ", "新")):
            return known
        relation = known.relation
        if known.contact_id is None and known.word.startswith(("new", "新")):
            return known
        same = any(name in text for name in (known.name, *known.aliases) if known.named)
        if relation is None or relation.subtype is not Subtype.COLLEAGUE or same:
            return known
        return self.renew(word) if _ARRIVES.search(text) else known

    def renew(self, word: str) -> Someone:
        """The new holder of a role; who held it before becomes the former one."""
        relation = relations()[key_of(word)]
        holders = [
            p
            for p in self.book.people
            if p.owner is None and p.relation is not None and p.relation.kind == relation.kind
        ]
        fresh = next(
            (p for p in holders if p.contact_id is None and p.word.startswith(("new", "新"))), None
        )
        before = self.book.by_relation(key_of(word), but=fresh)
        if before is not None and fresh is None and not before.named:
            return before
        if before is not None and relation.subtype is Subtype.COLLEAGUE:
            label = before.relationship or before.word
            before.relationship = f"前{label}" if HAN.search(label) else f"former {label}"
            before.word = before.relationship
        return fresh or self._meet_role(word)

    def _meet_role(self, word: str) -> Someone:
        relation = relations()[key_of(word)]
        family = relation.subtype in {Subtype.FAMILY, Subtype.PARTNER}
        name = relation_name(word)
        who = self.book.meet(re.sub(r"^(?:new |新)", "", name), named=False, word=key_of(word))
        who.relationship = relationship_label(word)
        if not family and HAN.search(word) is None:
            who.name = plain_english(word)
        return who

    def _name_after(self, text: str, end: int) -> tuple[int, int] | None:
        """The span of a name in apposition to a relation word that ends at ``end``."""
        gap = re.match(
            r"\s?[,，]\s?(?=[A-Z])|,?\s(?:is\s)?(?:called|named)\s|\s?[“\"‘']?", text[end:]
        )
        starts = [end + (gap.end() if gap else 0)]
        called = re.match(r",?\s(?:is\s)?(?:called|named)\s", text[end:])
        if called:
            starts = [end + called.end()]
        for start in starts:
            latin = re.compile(LATIN_NAME.pattern).match(text, start)
            if latin:
                from_list = [span for span in latin_names(text) if span[0] == start]
                if from_list and latin.group() not in {"I", "The", "She", "He"}:
                    full = re.match(r"\s[A-Z][a-z]+\b(?!\s[A-Z])", text[latin.end() :])
                    is_surname = full and normalise(full.group().strip()) not in {"said", "is"}
                    return start, latin.end() + (
                        full.end() if full and is_surname and len(full.group()) > 3 else 0
                    )
            stop = doubled_name_at(text, start) or name_beside_role(text, start)
            if stop is not None and closes_name(text, stop):
                return start, stop
        return None

    def _named(
        self, name: str, word: str, owner: Someone | None, *, another: bool = False
    ) -> tuple[Someone, bool]:
        """The person called ``name`` who is a ``word``; met now or known already. ``another``
        where the words say that it's somebody else than the one known by this name."""
        who = self.book.bearer(name, word if owner is None else "", another=another)
        if who is None:
            taken = self.book.by_name(name) is not None
            unnamed = self.book.by_relation(word, owner) if word else None
            if unnamed is not None and not unnamed.named and not is_vague(word):
                unnamed.give_name(name)
                unnamed.namesake = taken
                return unnamed, True
            who = self.book.meet(name, named=True, word=key_of(word) if word else "", owner=owner)
            who.namesake = taken
            if word and owner is None:
                who.relationship = relationship_label(word)
            return who, True
        if word and owner is None:
            self.relate(who, word)
        return who, False

    def relate(self, who: Someone, word: str) -> None:
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

    def role_before(self, text: str, end: int) -> Someone | None:
        """Somebody known by a role word that ends right before ``end`` (老师叫 Nora)."""
        for word in chinese_relation_words():
            if len(word) > 1 and text[:end].rstrip().endswith(word):
                head = text[:end].rstrip()[: -len(word)]
                if head and not OPENING.search(head):
                    return None
                return self.book.by_relation(word) or self._meet_role(word)
        return None

    def owned(self, owner: Someone, word: str) -> Someone:
        """``owner``'s ``word``: known already or met now."""
        who = self.book.by_relation(word, owner)
        if who is None:
            chinese = HAN.search(word) is not None
            name = f"{owner.name}的{word}" if chinese else f"{owner.name}'s {word}"
            who = self.book.meet(name, named=False, word=key_of(word), owner=owner)
            who.owned_as = word
            who.relationship = name
        return who

    def _name_owned(self, owned: Someone, name: str) -> None:
        known = self.book.by_name(name)
        if known is not None and known is not owned:
            if known.owner is None and not known.relationship:
                known.owner, known.owned_as, known.relation = (
                    owned.owner,
                    owned.owned_as,
                    owned.relation,
                )
                known.relationship = owned.relationship
            self.book.merge(known, owned)
        else:
            owned.give_name(name)

    def _free(self, spots: list[Spot], start: int, end: int) -> bool:
        return all(end <= spot.start or start >= spot.end for spot in spots)

    def _add(self, spots: list[Spot], spot: Spot) -> bool:
        """Keep a spot where none is yet; whether it was kept."""
        free = self._free(spots, spot.start, spot.end)
        if free:
            spots.append(spot)
        return free
