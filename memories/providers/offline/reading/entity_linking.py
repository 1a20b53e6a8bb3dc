"""Words for people in a turn, each with whom it means: known ones, and those met here."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memories.providers.offline.reading.circle import Circle, PersonDraft, called
from understanding import segmentation
from understanding.certainty import FOLLOWS, KNOWN_ALONE, KNOWN_EDGES, LEAST, MEANT
from understanding.lexicon.rules import patterns
from understanding.people.person_tagger import (
    PersonSpan,
    is_own_family,
    owners,
    person_spans,
    same_person,
)
from understanding.roles import groups as group_terms
from understanding.roles import kinship, terms
from understanding.same_person import namesakes
from understanding.sentences import last_begun
from understanding.text import HAN, normalise
from understanding.types import Mention

_FIRST_PERSON = patterns("first_person")
_USER_OWNS = -1


@dataclass(eq=False, slots=True)
class Spot:
    """A place in a turn that means ``who``, the user where that is None. ``how``: name, role,
    pronoun, several (a pronoun
    of several, or one that may mean any of them) or user."""

    start: int
    end: int
    text: str
    who: PersonDraft | None
    how: str
    confidence: float = 1.0
    others: tuple[PersonDraft, ...] = ()

    @property
    def people(self) -> tuple[PersonDraft, ...]:
        """Whom it means; none where it is the user."""
        return () if self.who is None else (self.who, *self.others)

    def moved(self, by: int) -> "Spot":
        """The same place in a text that begins elsewhere."""
        return replace(self, start=self.start + by, end=self.end + by)


def link_spans(
    circle: Circle, text: str, turn_id: int, again: Mapping[str, float] | None = None
) -> list[Spot]:
    """The words of ``text`` for people, in order and apart, each with whom it means; who is new is
    met in ``circle``. ``again`` are names that other turns bear out."""
    known = [name for one in circle.people for name in one.known_as() if one.named]
    mentions = circle.mentions(text)
    seen = _with_relatives(text, _as_known(person_spans(text, known, again), mentions))
    joined = same_person(text, seen)
    beside_name = {g for g, s in zip(joined, seen, strict=True) if s.kind != "role"}
    found = [
        span
        for span, group in zip(seen, joined, strict=True)
        if _counts(span, text, circle, with_name=group in beside_name)
    ]
    spots: list[Spot] = []
    if found:
        groups, owned = same_person(text, found), owners(text, found)
        by_group: dict[int, list[int]] = {}
        for at, group in enumerate(groups):
            by_group.setdefault(group, []).append(at)
        whose = {g: _owner_of(g, by_group, owned, groups) for g in by_group}
        placed: dict[int, PersonDraft | None] = {}
        for group in _owners_first(whose):
            spans = [found[at] for at in by_group[group]]
            owner = whose[group]
            said = any(owned[at] is not None for at in by_group[group])
            pointed = any(s.kind == "role" and _is_anothers(text, s) for s in spans)
            one = _who(
                circle,
                text,
                spans,
                mentions,
                placed.get(owner) if owner is not None else None,
                through=owner is not None,
                said=said,
                pointed=pointed and owner is None,
            )
            placed[group] = one
            if one is not None:
                if turn_id not in one.turns:
                    one.turns.append(turn_id)
                for span in spans:
                    how = "role" if span.kind == "role" else "name"
                    words = text[span.start : span.end]
                    spots.append(Spot(span.start, span.end, words, one, how, span.probability))
    return in_place(spots)


def _as_known(spans: Sequence[PersonSpan], mentions: Sequence[Mention]) -> list[PersonSpan]:
    """The spans with the names of known people: those that overlap one reach as far as that."""
    sure = [m for m in mentions if m.how in ("name", "alias") and m.confidence >= KNOWN_EDGES]
    found: dict[tuple[int, int], PersonSpan] = {}
    for span in spans:
        here = [m for m in sure if m.start < span.end and span.start < m.end]
        if here and span.kind != "role":
            span = span._replace(start=here[0].start, end=here[0].end)
        found.setdefault((span.start, span.end), span)
    for mention in sure:
        if not any(s.start < mention.end and mention.start < s.end for s in found.values()):
            span = PersonSpan(mention.start, mention.end, "name", mention.confidence)
            found[span.start, span.end] = span
    return sorted(found.values())


def _with_relatives(text: str, spans: Sequence[PersonSpan]) -> list[PersonSpan]:
    """The spans, with the role words that directly follow whose they are (Brenda's sister,
    我同事) where the tagger saw none."""
    owners_at = [(span.end, True) for span in spans if span.kind != "role"]
    owners_at += [(match.end(), False) for match in _FIRST_PERSON.owner.finditer(text)]
    found = list(spans)
    for at, named in owners_at:
        role = _role_from(text, at, named=named)
        if role is None or any(s.start < role.end and role.start < s.end for s in found):
            continue
        found.append(role)
    return sorted(found)


def _role_from(text: str, at: int, *, named: bool) -> PersonSpan | None:
    """The longest word for a role right behind whose it is, which ends at ``at``."""
    genitive = (_GENITIVE_NAME if named else _GENITIVE_OWN).match(text, at)
    if genitive is None:
        return None
    start = genitive.end()
    ends = (
        [start + n for n in range(LONGEST_ROLE, 0, -1) if start + n <= len(text)]
        if HAN.match(text, start)
        else [m.end() for m in reversed(list(_WORD_ENDS.finditer(text, start, start + 24)))]
    )
    for end in ends:
        if any(
            role.level != "common" or named for role in terms().get(normalise(text[start:end]), ())
        ):
            return PersonSpan(start, end, "role", FOLLOWS)
    return None


LONGEST_ROLE = 4
_GENITIVE_NAME = re.compile(
    r"['’]s?\s(?:(?:older|younger|big|little|elder|new|ex)\s)?|[的嘅](?=[\u4e00-\u9fff])"
)
_GENITIVE_OWN = re.compile(
    r"\s(?:(?:older|younger|big|little|elder)\s)?|[的嘅]?(?=[\u4e00-\u9fff])"
)
_WORD_ENDS = re.compile(r"(?<=\w)(?!\w)")


def _is_anothers(text: str, span: PersonSpan) -> bool:
    """Whether a role is that of whom a pronoun means: right behind it (her sister), or, of a
    partner or child, in a sentence that is told of them (她跟男朋友吵架了)."""
    before = text[: span.start]
    if ANOTHERS.search(before):
        return True
    told = last_begun(before)
    return is_own_family(text[span.start : span.end]) and bool(_OF_ANOTHER.fullmatch(told))


_OF_ANOTHER = re.compile(r"[^我咱俺他她佢]*[他她佢][^我咱俺]*")


def _counts(span: PersonSpan, text: str, circle: Circle, *, with_name: bool) -> bool:
    """Whether it is taken for somebody; a role beside a name that is theirs says what they are,
    however unsure it would be alone."""
    words = text[span.start : span.end]
    if span.kind == "role" and (normalise(words) in group_terms() or _begins_a_word(span, text)):
        return False
    sure = span.probability >= LEAST[span.kind] or (span.kind == "role" and with_name)
    return sure and not circle.is_banned(words)


def _begins_a_word(span: PersonSpan, text: str) -> bool:
    """Whether one character alone is only the beginning of a word (the 奶 of 奶茶)."""
    if span.end - span.start > 1 or not HAN.match(text[span.start]):
        return False
    return any(word.start == span.start and word.end > span.end for word in segmentation.cut(text))


def _owner_of(
    group: int,
    members: dict[int, list[int]],
    owned: Sequence[int | None],
    groups: Sequence[int],
) -> int | None:
    """The group of the person whose relative this one is; None for the user's, and unsaid."""
    for at in members[group]:
        owner = owned[at]
        if owner is not None and owner != _USER_OWNS and groups[owner] != group:
            return groups[owner]
    return None


def _owners_first(whose: dict[int, int | None]) -> list[int]:
    order: list[int] = []

    def put(group: int, seen: frozenset[int]) -> None:
        owner = whose[group]
        if owner is not None and owner not in seen and owner not in order:
            put(owner, seen | {group})
        if group not in order:
            order.append(group)

    for group in whose:
        put(group, frozenset({group}))
    return order


def _who(
    circle: Circle,
    text: str,
    spans: Sequence[PersonSpan],
    mentions: Sequence[Mention],
    owner: PersonDraft | None,
    *,
    through: bool,
    said: bool,
    pointed: bool,
) -> PersonDraft | None:
    """The person whom the spans of one group mean, known or new; None where it can't be said."""
    if through and owner is None:
        return None
    named = [span for span in spans if span.kind != "role"]
    roles = [text[span.start : span.end] for span in spans if span.kind == "role"]
    role = max(roles, key=len, default="")
    certainty = max(span.probability for span in spans)
    one = _by_name(circle, text, named, "" if owner or pointed else role, mentions)
    if one is None and role and not pointed:
        one = _by_role(circle, role, owner, [text[s.start : s.end] for s in named])
    if one is None:
        one = _met(circle, text, named, role, owner, said=said, certainty=certainty)
        if one is None:
            return None
        one.by_pronoun = pointed
    elif pointed and not one.role:
        one.by_pronoun = True
    for span in named:
        one.add_name(text[span.start : span.end])
    if role and not one.role and (named or (owner is not None and not one.named)):
        one.role, one.owner = called(role), owner if owner is not one else None
    one.certainty = max(one.certainty, certainty) if one.contact_id is None else 1.0
    circle.changed()
    return one


def _by_name(
    circle: Circle, text: str, named: Sequence[PersonSpan], role: str, mentions: Sequence[Mention]
) -> PersonDraft | None:
    for span in sorted(named, key=lambda s: s.start - s.end):
        bearers = circle.bearers(text[span.start : span.end])
        if not bearers:
            keyed = [m for m in mentions if m.start < span.end and span.start < m.end]
            # Chinese names that only sound alike are two people's.
            hows = ("name", "alias") if HAN.search(text[span.start]) else ("name", "alias", "fuzzy")
            sure = [m for m in keyed if m.how in hows and m.confidence > MEANT]
            bearers = [p for m in sure if (p := circle.by_id(m.person.id)) is not None]
        another = namesakes.says_another(text, span.start, span.end)
        fitting = [p for p in bearers if not role or not namesakes.is_someone_else(role, p.role)]
        if bearers and (another or not fitting):
            person = circle.meet(text[span.start : span.end], named=True, role=role, owner=None)
            person.namesake = True
            return person
        if fitting:
            same = [p for p in fitting if role and normalise(p.role) == normalise(role)]
            return (same or fitting)[0]
    return None


def _by_role(
    circle: Circle, role: str, owner: PersonDraft | None, names: Sequence[str]
) -> PersonDraft | None:
    """Who holds ``role``: whoever has no name, or where one has but one of them (mum, not friend)
    and no other name is said."""
    known = kinship(role)
    one_of_many = known is None or known.level == "common"
    for one in circle.holders(role, owner):
        if not one.named or (not names and not one_of_many):
            return one
    return None


def _met(
    circle: Circle,
    text: str,
    named: Sequence[PersonSpan],
    role: str,
    owner: PersonDraft | None,
    *,
    said: bool,
    certainty: float,
) -> PersonDraft | None:
    if not named and not role:
        return None
    if named:
        best = max(named, key=lambda span: span.end - span.start)
        name = text[best.start : best.end]
    else:
        name = called(role)
    person = circle.meet(name, named=bool(named), role=called(role) if role else "", owner=owner)
    person.certainty = certainty
    known = kinship(role) if role else None
    if not named and not said and (known is None or known.level == "common"):
        person.role = ""  # whose they are is not said
    return person


def key_spots(circle: Circle, text: str, held: Sequence[Spot], turn_id: int | None) -> list[Spot]:
    """Known people at places of ``text`` that none of ``held`` takes; that the turn speaks of them
    is noted where it is given."""
    spots: list[Spot] = []
    for mention in sorted(circle.mentions(text), key=lambda m: -m.confidence):
        one = circle.by_id(mention.person.id)
        beside = any(mention.start < s.end and s.start < mention.end for s in (*held, *spots))
        if one is None or beside or mention.confidence < KNOWN_ALONE:
            continue
        how = "role" if mention.how == "kinship" or normalise(mention.text) in terms() else "name"
        spots.append(Spot(mention.start, mention.end, mention.text, one, how, mention.confidence))
        if turn_id is not None and turn_id not in one.turns:
            one.turns.append(turn_id)
    return spots


def bare_names(circle: Circle, text: str, held: Sequence[Spot]) -> list[Spot]:
    """The very names of known people in ``text``, at places that none of ``held`` takes."""
    spots: list[Spot] = []
    for one in circle.people:
        for name in one.known_as() if one.named and one.contact_id else ():
            if len(name) < 2:
                continue
            edge = "" if HAN.search(name) else r"\b"
            for match in re.finditer(f"{edge}{re.escape(name)}{edge}", text, re.I):
                start, end = match.span()
                if all(end <= s.start or s.end <= start for s in (*held, *spots)):
                    spots.append(Spot(start, end, match.group(), one, "name", KNOWN_ALONE))
    return spots


def in_place(spots: Iterable[Spot]) -> list[Spot]:
    """By place; of those that overlap the longer one."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda s: (s.start, -s.end)):
        if not kept or spot.start >= kept[-1].end:
            kept.append(spot)
    return kept


# What stands before the relative of somebody meant by a pronoun.
ANOTHERS = re.compile(
    r"(?:[他她你妳您佢]|自己|人家|对方|對方)(?:们|們|哋)?(?:的|嘅|家)?(?:的)?\s?$"
    r"|\b(?:his|her|their|your|its)\s(?:[\w'’-]+\s){0,2}$",
    re.I,
)


def user_spots(text: str, taken: Sequence[Spot]) -> list[Spot]:
    """Where the user speaks of themself."""
    return [
        Spot(match.start(), match.end(), match.group(), None, "user")
        for match in _FIRST_PERSON.place.finditer(text)
        if not any(spot.start < match.end() and match.start() < spot.end for spot in taken)
    ]
