"""Links the words for people in a turn to the people they refer to, known or new."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memories.providers.offline.reading.circle import ANYBODY, Circle, PersonDraft, called
from understanding import segmentation
from understanding.certainty import (
    KNOWN_ALONE,
    KNOWN_EDGES,
    LEAST,
    MENTION_THRESHOLD,
    OWNED_ROLE_CONFIDENCE,
)
from understanding.lexicon import words
from understanding.lexicon.rules import patterns
from understanding.names import name_key
from understanding.people.person_tagger import (
    USER,
    PersonSpan,
    is_own_family,
    is_own_qualified,
    owners,
    person_spans,
    same_person,
)
from understanding.roles import gender_of, kinship, noun_gender, terms, with_former
from understanding.roles import groups as group_terms
from understanding.same_person import namesakes
from understanding.same_person.name_similarity import has_other_full_name
from understanding.same_person.name_types import title_of
from understanding.sentences import Sentence, sentences
from understanding.text import HAN, normalise
from understanding.types import Mention

# Right behind a role: the surname alone.
SURNAME = re.compile(r"(?:就|也|是)?姓(?P<surname>[\u4e00-\u9fff]{1,2})(?![\u4e00-\u9fff])")
_FIRST_PERSON = patterns("first_person")
# What is between a person and their relative (Brenda's older sister, 小红的哥哥).
_GENITIVE = re.compile(
    r"['’]s?\s(?:(?:older|younger|big|little|elder|new|ex)\s)?|[的嘅](?=[\u4e00-\u9fff])"
)
# Between a word for the user and their relative (my little brother, 我哥, 我们leader).
_OWN = re.compile(r"\s(?:(?:older|younger|big|little|elder)\s)?|[的嘅]?(?=\w)")
_WORD_ENDS = re.compile(r"(?<=\w)(?!\w)|(?<=[a-z])(?=[\u4e00-\u9fff])")
_THIRD = frozenset("他她佢")
_PRONOUNS = _THIRD | frozenset("我咱俺")
_LONGEST_ROLE = 4  # Han characters
# Words for kin by which strangers are called as well (大叔, 阿姨).
ADDRESSES = words("strangers", "people_zh") & terms().keys()


@dataclass(eq=False, slots=True)
class Spot:
    """A mention in a turn, which refers to ``who``, or to the user if that is None. ``how``: name,
    role, pronoun, several (a plural pronoun, or one that may refer to any of several people) or
    user. ``others``: further people whom it refers or may refer to, each with the confidence."""

    start: int
    end: int
    text: str
    who: PersonDraft | None
    how: str
    confidence: float = 1.0
    others: tuple[tuple[PersonDraft, float], ...] = ()

    @property
    def people(self) -> tuple[PersonDraft, ...]:
        """The people whom it refers to; none if it is the user."""
        return () if self.who is None else (self.who, *(one for one, _ in self.others))

    def confidence_in(self, one: PersonDraft) -> float:
        """Returns the confidence that it refers to ``one`` of its people; 1 for a name or role."""
        if self.how not in ("pronoun", "several"):
            return 1.0
        return self.confidence if one is self.who else dict(self.others)[one]


def link_spans(
    circle: Circle, text: str, turn_id: int, recurring_names: Mapping[str, float] | None = None
) -> list[Spot]:
    """Returns the mentions in ``text`` by name or role, in order and without overlap; adds new
    people to ``circle``. ``recurring_names`` are names that other turns confirm."""
    names = [name for person in circle.people for name in person.known_as() if person.named]
    linker = _Linker(circle, text, circle.mentions(text))
    tagged = _with_relatives(
        text, _with_names(person_spans(text, names, recurring_names), linker.mentions)
    )
    tagged_groups = same_person(text, tagged)
    beside_name = {g for g, s in zip(tagged_groups, tagged, strict=True) if s.kind != "role"}
    counted = [
        span
        for span, group in zip(tagged, tagged_groups, strict=True)
        if _counts_as_person(span, text, circle, with_name=group in beside_name)
    ]
    groups, owned = same_person(text, counted), owners(text, counted)
    members_by_group: dict[int, list[int]] = {}
    for at, group in enumerate(groups):
        members_by_group.setdefault(group, []).append(at)
    # The group of each person's owner; None if that is the user or not stated.
    owner_groups = {
        group: next(
            (
                groups[owner]
                for at in members
                if (owner := owned[at]) not in (None, USER) and groups[owner] != group
            ),
            None,
        )
        for group, members in members_by_group.items()
    }
    spots: list[Spot] = []
    people: dict[int, PersonDraft | None] = {}
    waiting = list(members_by_group)
    while waiting:  # owners before their relatives
        group, visited = waiting[0], set[int]()
        while (owner := owner_groups[group]) in waiting and owner not in visited:
            visited.add(group)
            group = owner
        waiting.remove(group)
        spans = [counted[at] for at in members_by_group[group]]
        has_owner = any(owned[at] is not None for at in members_by_group[group])
        owner = owner_groups[group]
        whose = people.get(owner) if owner is not None else None
        person = people[group] = (
            linker.person_of(spans, whose, has_owner=has_owner) if whose or owner is None else None
        )
        if person is not None:
            if turn_id not in person.turns:
                person.turns.append(turn_id)
            for span in spans:
                how = "role" if span.kind == "role" else "name"
                words = text[span.start : span.end]
                spots.append(Spot(span.start, span.end, words, person, how, span.probability))
    return in_place(spots)


def _with_names(spans: Sequence[PersonSpan], mentions: Sequence[Mention]) -> list[PersonSpan]:
    """Returns the spans, with the certain names of known people added, or as their new edges."""
    names = [m for m in mentions if m.how in ("name", "alias") and m.confidence >= KNOWN_EDGES]
    by_place: dict[tuple[int, int], PersonSpan] = {}
    for span in spans:
        overlapping = [m for m in names if m.start < span.end and span.start < m.end]
        if overlapping and span.kind != "role":
            span = span._replace(start=overlapping[0].start, end=overlapping[0].end)
        by_place.setdefault((span.start, span.end), span)
    for mention in names:
        if not any(s.start < mention.end and mention.start < s.end for s in by_place.values()):
            span = PersonSpan(mention.start, mention.end, "name", mention.confidence)
            by_place[span.start, span.end] = span
    return sorted(by_place.values())


def _with_relatives(text: str, spans: Sequence[PersonSpan]) -> list[PersonSpan]:
    """Returns the spans, with the roles that the wording states; less certain ones yield to them."""
    owner_ends = [(span.end, True) for span in spans if span.kind != "role"]
    owner_ends += [(match.end(), False) for match in _FIRST_PERSON.owner.finditer(text)]
    roles = [_role_after(text, at, named=named) for at, named in owner_ends]
    roles += [_own_role_before(text, span.start) for span in spans if span.kind != "role"]
    roles += [_role_with_surname(text, match.start()) for match in SURNAME.finditer(text)]
    spans = [_with_own(text, span) for span in spans]
    certain = [span for span in spans if span.probability >= LEAST[span.kind]]
    for role in filter(None, roles):
        if not any(s.start < role.end and role.start < s.end for s in certain):
            certain.append(role)
    uncertain = [s for s in spans if not any(s.start < k.end and k.start < s.end for k in certain)]
    return sorted([*certain, *uncertain])


def _with_own(text: str, span: PersonSpan) -> PersonSpan:
    """Returns the span, certain if it is a role that the user had before (我以前的邻居), or has
    somewhere and few people have (我单位的领导)."""
    words, role = text[span.start : span.end], with_former(text, span.start, span.end)
    meanings = terms().get(normalise(words), ())
    is_rare = any(role != words or meaning.level != "common" for meaning in meanings)
    is_own = span.kind == "role" and is_rare and is_own_qualified(text[: span.start])
    return span._replace(probability=OWNED_ROLE_CONFIDENCE) if is_own else span


def _role_after(text: str, at: int, *, named: bool) -> PersonSpan | None:
    """Returns the longest role word right after an owner, who ends at ``at``; after the user only
    one that few people have (我哥, my brother, not 我朋友, my friend)."""
    between = (_GENITIVE if named else _OWN).match(text, at)
    if between is None:
        return None
    start = between.end()
    if HAN.match(text, start):
        ends = [*range(min(start + _LONGEST_ROLE, len(text)), start, -1)]
    else:
        ends = [m.end() for m in _WORD_ENDS.finditer(text, start, start + 24)][::-1]
    for end in ends:
        roles = terms().get(normalise(text[start:end]), ())
        if any(named or role.level != "common" for role in roles):
            return PersonSpan(start, end, "role", OWNED_ROLE_CONFIDENCE)
    return None


def _role_with_surname(text: str, end: int) -> PersonSpan | None:
    """Returns the longest role word right before the surname that is stated at ``end`` (钢琴老师姓何)."""
    for start in range(max(end - _LONGEST_ROLE, 0), end):
        if normalise(text[start:end]) in terms():
            return PersonSpan(start, end, "role", OWNED_ROLE_CONFIDENCE)
    return None


def _own_role_before(text: str, end: int) -> PersonSpan | None:
    """Returns the longest role word of a person of the user's right before the name that begins at
    ``end`` (my old school friend Bex)."""
    words = text[:end].rstrip(" ").split(" ")
    for size in (3, 2, 1):
        role, ahead = " ".join(words[-size:]), words[-size - 3 : -size]
        own = next((at for at, word in enumerate(ahead) if word.lower() in ("my", "our")), None)
        only_words = own is not None and all(map(str.isalpha, ahead[own:]))
        if only_words and normalise(role) in terms():
            start = text.rindex(role, 0, end)
            return PersonSpan(start, start + len(role), "role", OWNED_ROLE_CONFIDENCE)
    return None


def _is_anothers(text: str, span: PersonSpan) -> bool:
    """Whether a role is a relative of a pronoun's person: right after it (her sister), or a partner
    or child, if the last pronouns before are all of the third person (她跟男朋友吵架了)."""
    before = text[: span.start]
    if ANOTHERS.search(before):
        return True
    if not is_own_family(text[span.start : span.end]):
        return False
    pronouns = [{*sentence.text} & _PRONOUNS for sentence in sentences(before)]
    latest = next(filter(None, reversed(pronouns)), None)
    return latest is not None and latest <= _THIRD


def _counts_as_person(span: PersonSpan, text: str, circle: Circle, *, with_name: bool) -> bool:
    """Whether a span counts as a person; a role next to a name does at any probability."""
    words = text[span.start : span.end]
    is_role = span.kind == "role"
    # One character alone may only begin a word (the 奶 of 奶茶).
    only_begins = (
        is_role
        and len(words) == 1
        and bool(HAN.match(words))
        and any(word.start == span.start and word.end > span.end for word in segmentation.cut(text))
    )
    if is_role and (only_begins or normalise(words) in group_terms()):
        return False
    if words.startswith("姓"):  # which introduces a surname (姓贺)
        return False
    is_probable = span.probability >= LEAST[span.kind] or (is_role and with_name)
    return is_probable and normalise(words) not in circle.banned


@dataclass(frozen=True, slots=True)
class _Linker:
    """Finds the people for words of ``text``; ``mentions`` are the known people whom it names."""

    circle: Circle
    text: str
    mentions: Sequence[Mention]

    def person_of(
        self, spans: Sequence[PersonSpan], owner: PersonDraft | None, *, has_owner: bool
    ) -> PersonDraft:
        """Returns the person, known or new, whom the spans of a group refer to: a relative of
        ``owner``, or of the user if they have an owner (``has_owner``)."""
        circle = self.circle
        named = [span for span in spans if span.kind != "role"]
        roles = [span for span in spans if span.kind == "role"]
        role = max((with_former(self.text, s.start, s.end) for s in roles), key=len, default="")
        by_pronoun = owner is None and any(_is_anothers(self.text, span) for span in roles)
        certainty = max(span.probability for span in spans)
        one = self._by_name(named, "" if owner or by_pronoun else role)
        if one is None and role and not by_pronoun:
            # Somebody without a name; somebody with one only if the text gives no name and one has
            # a single such relative (mum, not friend).
            known = kinship(role)
            may_be_several = known is None or known.level == "common" or "ex" in known.tags
            is_sure = not (named or may_be_several)
            holders = [o for o in circle.holders(role, owner) if is_sure or not o.named]
            one = next((o for o in holders if not self._says_other_surname(o, roles)), None)
        if one is None:
            one = self._new_person(named, role, owner, has_owner=has_owner or by_pronoun)
            one.certainty, one.by_pronoun = certainty, by_pronoun
        elif by_pronoun and not one.role:
            one.by_pronoun = True
        for span in named:
            one.add_name(self._words(span))
            one.gender = one.gender or self._introduced_gender(span)
        says_tie = _states_relation(role, has_owner=has_owner or by_pronoun) and not one.role
        if says_tie and (named or (owner is not None and not one.named)):
            one.role, one.owner = called(role), owner if owner is not one else None
        one.certainty = max(one.certainty, certainty) if one.contact_id is None else 1.0
        circle.changed()
        return one

    def _says_other_surname(self, one: PersonDraft, roles: Sequence[PersonSpan]) -> bool:
        """Whether the text states another surname behind a role than that of ``one`` (罗教练)."""
        stated = [
            name_key(match["surname"])
            for span in roles
            if (match := SURNAME.match(self.text, span.end))
        ]
        surnames = {title_of(name_key(name))[0] for name in one.known_as()} - {""}
        return bool(surnames) and not surnames.issuperset(stated)

    def _introduced_gender(self, name: PersonSpan) -> str:
        """Returns the gender of the noun that introduces a name (a girl called Sol, 有个女生叫小雨)."""
        ahead = self.text[: name.start].rstrip().lower()
        naming = next((word for word in ("叫", " called", " named") if ahead.endswith(word)), None)
        if naming is None:
            return ""
        noun = ahead.removesuffix(naming)
        noun = noun[-_LONGEST_ROLE:] if HAN.search(noun[-1:]) else noun.rpartition(" ")[2]
        return noun_gender(noun) or gender_of(noun)

    def _words(self, span: PersonSpan) -> str:
        return self.text[span.start : span.end]

    def _by_name(self, named: Sequence[PersonSpan], role: str) -> PersonDraft | None:
        """Returns a person with one of the names, or a new one if the text means a namesake."""
        circle = self.circle
        for span in sorted(named, key=lambda s: s.start - s.end):
            words = self._words(span)
            bearers = circle.bearers(words)
            if not bearers:
                # Chinese names that only sound alike are two people's.
                han = HAN.search(self.text[span.start])
                hows = ("name", "alias") if han else ("name", "alias", "fuzzy")
                keyed = [
                    circle.by_id(m.person.id)
                    for m in self.mentions
                    if m.start < span.end and span.start < m.end
                    if m.how in hows and m.confidence > MENTION_THRESHOLD
                ]
                bearers = [one for one in keyed if one is not None]
            bearers = [p for p in bearers if not has_other_full_name(words, p.known_as())]
            another = namesakes.says_another(self.text, span.start, span.end)
            fitting = [p for p in bearers if not namesakes.is_someone_else(role, p.role)]
            if bearers and (another or not fitting):
                person = circle.meet(words, named=True, role=role, owner=None)
                person.namesake = True
                return person
            if fitting:
                same = [p for p in fitting if role and normalise(p.role) == normalise(role)]
                return (same or fitting)[0]
        return None

    def _new_person(
        self, named: Sequence[PersonSpan], role: str, owner: PersonDraft | None, *, has_owner: bool
    ) -> PersonDraft:
        """Adds a new person, by the longest name or else by the role."""
        best = max(named, key=lambda span: span.end - span.start, default=None)
        name = self._words(best) if best else called(role)
        person = self.circle.meet(name, named=best is not None, role=called(role), owner=owner)
        known = kinship(role) if role else None
        may_be_several = not named and (known is None or known.level == "common")
        if not _states_relation(role, has_owner=has_owner) or (may_be_several and not has_owner):
            person.role = ""  # it is not stated whose they are
        return person


def _states_relation(role: str, *, has_owner: bool) -> bool:
    """Whether a role word states a relation: it is no noun for anybody (the guy) and, if it has no
    owner, no word by which strangers are called (大叔, uncle) and no relative (a boy)."""
    word, known = normalise(role), kinship(role) if role else None
    is_relative = known is not None and known.subtype in ("family", "partner")
    is_stranger = not has_owner and (word in ADDRESSES or is_relative)
    return bool(word) and word not in ANYBODY and not is_stranger


def key_spots(circle: Circle, text: str, held: Sequence[Spot], turn_id: int | None) -> list[Spot]:
    """Returns mentions of known people outside ``held``; adds the turn, if given, to the people."""
    spots: list[Spot] = []
    for mention in sorted(circle.mentions(text), key=lambda m: -m.confidence):
        one = circle.by_id(mention.person.id)
        overlaps = any(mention.start < s.end and s.start < mention.end for s in (*held, *spots))
        if one is None or overlaps or mention.confidence < KNOWN_ALONE:
            continue
        how = "role" if mention.how == "kinship" or normalise(mention.text) in terms() else "name"
        spots.append(Spot(mention.start, mention.end, mention.text, one, how, mention.confidence))
        if turn_id is not None and turn_id not in one.turns:
            one.turns.append(turn_id)
    return spots


def bare_names(circle: Circle, text: str, held: Sequence[Spot]) -> list[Spot]:
    """Returns mentions of contacts by exactly their name or alias, outside ``held``."""
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


def within(spots: Iterable[Spot], part: Sentence) -> list[Spot]:
    """Returns the ``spots`` in a part of their text, at their places in it."""
    end = part.start + len(part.text)
    return [
        replace(spot, start=spot.start - part.start, end=spot.end - part.start)
        for spot in spots
        if part.start <= spot.start and spot.end <= end
    ]


def in_place(spots: Iterable[Spot]) -> list[Spot]:
    """Returns the spots by place; of overlapping ones the first, of the same start the longest."""
    separate: list[Spot] = []
    for spot in sorted(spots, key=lambda s: (s.start, -s.end)):
        if not separate or spot.start >= separate[-1].end:
            separate.append(spot)
    return separate


# What is before a relative of a pronoun's person.
ANOTHERS = re.compile(
    r"(?:[他她你妳您佢]|自己|人家|对方|對方)(?:们|們|哋)?(?:家|公司|[学學]校|[单單]位|部[门門]|班)?(?:[的嘅]|里的?)?\s?$"
    r"|\b(?:his|her|their|your|its)\s(?:[\w'’-]+\s){0,2}$",
    re.I,
)


def user_spots(text: str, taken: Sequence[Spot]) -> list[Spot]:
    """Returns the mentions of the user in the first person, outside ``taken``."""
    return [
        Spot(match.start(), match.end(), match.group(), None, "user")
        for match in _FIRST_PERSON.place.finditer(text)
        if not any(spot.start < match.end() and match.start() < spot.end for spot in taken)
    ]
