"""Spans of people in a text: names and roles; which of them are one person; and whose a role is.

What is found is a place and a kind; who it is, is for others to say. The weights are learned
from the corpus (``python -m tools train span_tagger``).
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple, Protocol

from understanding import segmentation
from understanding.learned import Logistic, log_odds, model, sigmoid
from understanding.lexicon import titles, titles_used, word_sets, words
from understanding.lexicon.rules import patterns
from understanding.people.chain import Chain, Segment
from understanding.people.span_evidence import (
    Row,
    Token,
    before,
    begins_longer_word,
    begins_word,
    evidence,
    introduced,
    is_given,
    is_name_noun,
    is_rare_in_names,
    is_surname,
    is_word,
    is_word_for_person,
    titled,
    tokens,
)
from understanding.roles import groups, kinship, roles_of, terms
from understanding.same_person.relationships import ONE_AT_A_TIME
from understanding.sentences import last_begun
from understanding.text import is_han, normalise

Kind = Literal["name", "role"]
USER = -1
_Place = tuple[int, int, str]  # start, end and kind of a segment
# How likely it is a name that a role is called by (我表姐叫费霁月，): chosen by hand, not learned.
_NAMED = 0.99
# … and a surname behind Mr or Dr, which may be a word as well (Mrs Field).
_ADDRESSED = 0.9
# Segments that are less likely are not looked at; what is returned is the file's threshold.
_LEAST = 0.1
_CHILDREN = frozenset({"son", "daughter", "child", "grandson", "granddaughter"})
_PARENTS = frozenset({"mother", "father", "grandmother", "grandfather"})
_FIRST_PERSON = patterns("first_person")
_OF = (["of"], ["of", "the"])
_OF_USER = " 们們的"
# Somebody else is met by the name behind it: has a son called, 有个儿子叫.
_MEETS = re.compile(
    r"(?i)\b(?:an?|another)\s[^,.;]{2,40}\b(?:called|named)\s*$|[个只位条][^，。,]{1,8}叫做?$"
)
_OWNS = re.compile(r"['’]s?\s+\w|的\w")
# … with what kind of theirs it is.
_GENITIVE = re.compile(
    r"(?i)\s*(?:['’]s?|s|的)\s*(?P<kind>(?:[^\W\d_]+[ -]){0,2}|[\u4e00-\u9fff]{1,2})"
)


class PersonSpan(NamedTuple):
    """Somebody is spoken of at [start, end) of a text, in code points; ``probability`` is
    calibrated, of the place and of being a role or a name."""

    start: int
    end: int
    kind: Kind
    probability: float


class Placed(Protocol):
    """A span of a text, also those that are learned from."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def kind(self) -> str: ...


def person_spans(
    text: str, known: Collection[str] = (), again: Mapping[str, float] | None = None
) -> list[PersonSpan]:
    """Who is spoken of by name or role, from left to right, none within another. ``known`` are names of the user's people, as they would be written; ``again`` those
    that other texts beside this one bear out (``recurring``)."""
    least = model("span_tagger")["threshold"]
    spans = []
    for start, end, kind, probability in _segments(text, known):
        if kind == "name":
            probability = max(probability, (again or {}).get(normalise(text[start:end]), 0.0))
        if probability >= least[kind]:
            is_name = kind == "name" or _is_given_name(text, start, end)
            spans.append(PersonSpan(start, end, "name" if is_name else "role", probability))
    return _with_particles(text, spans)


def recurring(texts: Iterable[str]) -> dict[str, float]:
    """The words that may be a name in several of ``texts`` and are no words of a dictionary, in
    their normal form, with how likely they are one: as if each text were a witness of its own
    (noisy-or: Pearl 1988). The same text said again is no other witness."""
    doubts: dict[str, list[float]] = {}
    for text in dict.fromkeys(texts):
        here: dict[str, float] = {}
        for start, end, kind, probability in _segments(text, ()):
            name = normalise(text[start:end])
            if kind == "name" and not is_word(name):
                here[name] = max(here.get(name, 0.0), probability)
        for name, probability in here.items():
            doubts.setdefault(name, []).append(1 - probability)
    return {name: 1 - math.prod(each) for name, each in doubts.items() if len(each) > 1}


def _segments(text: str, known: Collection[str]) -> list[tuple[int, int, str, float]]:
    """Where somebody may be spoken of, by name or in a role, and how likely."""
    scales = model("span_tagger")["calibration"]
    toks, rows = evidence(text, known)
    segments = _with_surnames(text, toks, _within_words(toks, _chain().segments(rows, _LEAST)))
    segments = _with_titles(text, toks, rows, segments)
    roles = {one.end for one in segments if one.kind == "role" and one.probability > 0.5}
    named = [
        Segment(start, end, "name", _NAMED)
        for at, start, end in introduced(text, toks)
        if at in roles
        or is_name_noun(toks, at)
        or (at and toks[at - 1].norm in _THIRD)
        or (at and is_word_for_person(rows[at - 1]) and not _is_framed(rows[start]))
    ]
    return [
        (toks[one.start].start, toks[one.end - 1].end, one.kind, calibrated(one, scales))
        for one in sorted(apart([*named, *segments]))
        if one.kind == "role"
        or not (_is_title_or_greeting(toks, one) or _is_of_place(text, toks, one))
    ]


# Who is said to be called something (he's called, her name is, 他叫).
_THIRD = frozenset(("he", "she", "his", "her", "他", "她"))


def _is_framed(row: Row) -> bool:
    """Whether the features of a token say that it stands in a quotation, or in a text about a work or a
    role, which makes no people of the user."""
    return any(mark == "quoted" or mark.startswith("framed&") for mark in row)


def _is_title_or_greeting(toks: Sequence[Token], name: Segment) -> bool:
    """Whether what looks like a name is a title alone (教授说), a greeting (ta), or a word for whom one
    has many of (朋友): no name of the corpus is."""
    norms = [one.norm for one in toks[name.start : name.end]]
    latin = " ".join(norms)
    is_greeting = latin in words("sentence_cues", "greeting", "laugh")
    is_title = "".join(norms) in titles("zh") or latin in titles("en")
    roles = terms().get("".join(norms), ()) if toks[name.start].han else ()
    return is_greeting or is_title or any(role.level == "common" for role in roles)


def _is_of_place(text: str, toks: Sequence[Token], name: Segment) -> bool:
    """Whether a name is behind, or begins with, a word that makes it one of a place (St. Oswald's)."""
    ahead = [one for one in toks[: name.start] if one.norm != "."][-1:]
    return any(
        one.norm in words("context_en", "place_titles") and text[one.start].isupper()
        for one in (*ahead, toks[name.start])
    )


def _within_words(toks: Sequence[Token], segments: Sequence[Segment]) -> list[Segment]:
    """The segments, surest first, where a name that cuts a common Chinese word in two gives what it
    has to the one that ends before that word (高澜住|在: 高澜; where its last character hardly stands
    in names, even if the chain did not see that one), and one that begins with the user to the role
    behind (我|妹). Of two characters none is left alone (蒋工, 老顾)."""
    by_place = {(one.start, one.end, one.kind): one for one in segments}
    for one in segments:
        if one.kind != "name":
            continue
        leaves_one = toks[one.start].han and one.end - one.start == 2
        is_cut = begins_word(toks, one.end - 1) and not leaves_one
        instead = (one.start, one.end - 1, "name") if is_cut else None
        if instead and is_rare_in_names(toks[one.end - 1].norm):
            by_place.setdefault(instead, Segment(*instead, 0.0))
        if before(toks[one.start].norm) == "own":
            instead = one.start + 1, one.end, "role"
        if instead in by_place:
            _hand_over(by_place, one, instead)
    return sorted(by_place.values(), key=lambda one: -one.probability)


def _hand_over(by_place: dict[_Place, Segment], one: Segment, to: _Place) -> None:
    """Gives the probability of a segment to the one at another place, and takes it out."""
    del by_place[one.start, one.end, one.kind]
    both = min(one.probability + by_place[to].probability, 1.0)
    by_place[to] = by_place[to]._replace(probability=both)


def _is_addressed(toks: Sequence[Token], name: Segment) -> bool:
    """Whether a name is a Chinese surname with a title that begins no longer word (蒋工, not 李工作)."""
    surname, *title = [one.norm for one in toks[name.start : name.end]]
    is_title = "".join(title) in titles("zh").keys() | titles_used("reader")
    addressed = surname in words("surnames", "single") and is_title
    return addressed and not (len(title) == 1 and begins_longer_word(toks, name.end - 1))


def _with_titles(
    text: str, toks: Sequence[Token], rows: Sequence[Row], segments: Sequence[Segment]
) -> list[Segment]:
    """The segments, surest first, where a Chinese surname alone takes in the title behind it (王|局),
    and what has Mr or Dr before it is a name, at least so surely."""
    found = []
    for one in segments:
        whole = one._replace(end=one.end + 1)
        alone = one.kind == "name" and one.end - one.start == 1 and one.end < len(toks)
        found.append(whole if alone and _is_addressed(toks, whole) else one)
    for start, end in titled(text, toks):
        if _is_framed(rows[start]):
            continue
        names = [
            one for one in found if one.kind == "name" and one.start == start and one.end >= end
        ]
        surest = max(names, key=lambda one: one.probability, default=Segment(start, end, "name", 0))
        found.append(surest._replace(probability=max(surest.probability, _ADDRESSED)))
    return sorted(found, key=lambda one: -one.probability)


def _with_surnames(text: str, toks: Sequence[Token], segments: Sequence[Segment]) -> list[Segment]:
    """The segments, surest first, where a given name alone gives what it has to the name that goes on
    with the surname behind it, even if that is a word for a place as well (Zoe Park)."""
    by_place = {(one.start, one.end, one.kind): one for one in segments}
    for one in segments:
        whole = one.start, one.end + 1, "name"
        if one.kind == "name" and whole in by_place and one.end - one.start == 1:
            given, surname = toks[one.start], toks[one.end]
            is_full = is_given(given.norm) and is_surname(surname.norm)
            if is_full and text[given.start].isupper() and text[surname.start].isupper():
                _hand_over(by_place, one, whole)
    return sorted(by_place.values(), key=lambda one: -one.probability)


def _is_given_name(text: str, start: int, end: int) -> bool:
    """Whether a word for a role is written as a given name that it is as well (Anna, an elder
    brother in Tamil), and is nobody's."""
    said, ahead = text[start:end], tokens(text[:start])
    whose = before(ahead[-1].norm) if ahead else ""
    return said[:1].isupper() and is_given(normalise(said)) and whose not in ("own", "others")


def _with_particles(text: str, spans: Sequence[PersonSpan]) -> list[PersonSpan]:
    """The spans, names on both sides of particles (João da Silva) as one."""
    out: list[PersonSpan] = []
    particles = words("name_particles")
    for at, span in enumerate(spans):
        particle = normalise(text[span.start : span.end]) in particles
        around = spans[max(0, at - 1) : at + 2]
        if particle and [one.kind for one in around[::2]] == ["name", "name"]:
            continue  # it is a word for a role as well
        first = out[-1] if out else span
        between = text[first.end : span.start].split()
        parted = between and all(normalise(word) in particles for word in between)
        if parted and first.kind != "role" and span.kind != "role":
            surer = max(first.probability, span.probability)
            span = out.pop()._replace(end=span.end, probability=surer)
        out.append(span)
    return out


def same_person(text: str, spans: Sequence[Placed]) -> list[int]:
    """A group number for each span: spans of one person (我同事张伟, my mate Dave) share one.
    Numbers count from 0 in the order of the text."""
    return grouped(text, spans, _pairs())


def owners(text: str, spans: Sequence[Placed]) -> list[int | None]:
    """Whose a role is, for each span: ``USER``, the index of another span (Ryan's girlfriend:
    Ryan), or None where it isn't said and for what is no role."""
    group = same_person(text, spans)
    places = range(len(spans))
    return [_owner(text, spans, group, at) if spans[at].kind == "role" else None for at in places]


def apart(segments: Iterable[Segment]) -> list[Segment]:
    """Segments without those that overlap with one before them."""
    out: list[Segment] = []
    for found in segments:
        if all(found.end <= one.start or found.start >= one.end for one in out):
            out.append(found)
    return out


def calibrated(segment: Segment, scales: Mapping[str, Mapping[str, float]]) -> float:
    """Its probability by Platt scaling (Platt 1999) of the log odds, by kind."""
    scale = scales[segment.kind]
    return sigmoid(scale["slope"] * log_odds(segment.probability) + scale["offset"])


def grouped(text: str, spans: Sequence[Placed], pairs: Logistic) -> list[int]:
    """A group number for each span, which joins the span before it that it most likely is."""
    out: list[int] = []
    # Of those further back only their words count, so the first of each stands for all.
    first: dict[tuple[str, str], int] = {}
    for at, span in enumerate(spans):
        rivals = dict.fromkeys((*first.values(), *([at - 1] if at else [])))
        odds = {
            one: pairs.log_odds(pair_features(text, spans, one, at))
            for one in rivals
            if not _is_owner_alone(text, spans, one, at)
        }
        best = max(odds, key=lambda one: (odds[one], -one), default=0)
        out.append(out[best] if odds and odds[best] > 0 else max(out, default=-1) + 1)
        first.setdefault((text[span.start : span.end], span.kind), at)
    return out


def only_owns(text: str, end: int) -> bool:
    """Whether a role that ends there only says whose the next word is (my mum's sister, 我妈的妹妹)."""
    return bool(_OWNS.match(text, end))


def _is_owner_alone(text: str, spans: Sequence[Placed], one: int, at: int) -> bool:
    """Whether the role ``at`` says no more than whose the next word is, so that another word, ``one``,
    is not the same person (Ida is my mum's sister: Ida is not the mum), or is one whom ``one`` has
    or rang (Ida has a son called Max; Mum called Max)."""
    span, other = spans[at], spans[one]
    between = text[other.end : span.start]
    if _MEETS.search(between) or (between.strip() == "called" and _has_one(text, other)):
        return True
    if span.kind != "role" or text[span.start : span.end] == text[other.start : other.end]:
        return False
    beside = any(after.kind == "role" and after.start == span.end for after in spans[at + 1 :])
    return beside or only_owns(text, span.end)


def _has_one(text: str, span: Placed) -> bool:
    """Whether a span is a role in which the user has one person only, who needs no name."""
    role = kinship(text[span.start : span.end]) if span.kind == "role" else None
    return role is not None and role.kind in ONE_AT_A_TIME


def _owner(text: str, spans: Sequence[Placed], group: Sequence[int], at: int) -> int | None:
    span = spans[at]
    if at + 1 < len(spans) and text[span.end : spans[at + 1].start].lower().split() in _OF:
        return at + 1
    if at and group[at - 1] != group[at]:
        between = text[spans[at - 1].end : span.start]
        genitive = _GENITIVE.fullmatch(between)
        if not between or (genitive and _is_kind_of(genitive["kind"], text[span.start : span.end])):
            return at - 1
    start = spans[at - 1].end if at else 0
    # One more word may stand between (my older sister).
    ahead = [before(token.norm) for token in tokens(text[start : span.start])[-2:]]
    said = next((one for one in reversed(ahead) if one in ("own", "others", "some")), "")
    if said == "own":
        return USER
    words_for = text[span.start : span.end]
    if said == "some" and _has_one_more([token.norm for token in tokens(text[start : span.start])]):
        return USER
    # 那姑娘 says which one, not whose.
    points = ahead[-1:] == ["the"] and is_han(words_for[0])
    if said or points or not _is_own_bare(words_for):
        return None
    return _told_of(text, spans, group, at) if is_own_family(words_for) else USER


def _has_one_more(ahead: Sequence[str]) -> bool:
    """Whether the words before a role say that the user has such a one: I have a, 我还有个."""
    near = {*ahead[-5:]}
    return not near.isdisjoint(_HAVING) and not near.isdisjoint(("i", "we", "我", "咱", "俺"))


_HAVING = frozenset(("have", "got", "'ve", "ve", "had", "有"))


def _is_kind_of(kind: str, role: str) -> bool:
    """Whether what stands between an 's or 的 and a role, if anything, says of what kind it is (my
    kid's swimming coach, 儿子的数学老师). Before a relative only few words do, since the 's may be a
    verb (Tom's seeing mum)."""
    ownership, related = word_sets("ownership"), kinship(role)
    if is_han(kind[:1] or " "):
        return kind in ownership["zh_between"] or segmentation.tag(kind)[:1] in ("n", "v")
    kinds = [normalise(word) for word in kind.replace("-", " ").split()]
    if related is not None and related.subtype in ("family", "partner"):
        return all(word in ownership["en_between"] | ownership["en_ex"] for word in kinds)
    return all(before(word) == "word" for word in kinds)


def _told_of(text: str, spans: Sequence[Placed], group: Sequence[int], at: int) -> int:
    """Whose a bare partner or child is: theirs of whom the sentence is told by name
    (晓峰在慕尼黑，老婆是韩国人) or in Chinese by what they are (我弟跟女朋友分手了), unless it speaks of
    the user too; else the user's, with whose own family they are as well (我妈跟老公去买菜)."""
    start = spans[at].start
    sentence = last_begun(text[:start])
    begin = start - len(sentence)
    told = [n for n in range(at) if begin <= spans[n].start and group[n] != group[at]]
    if not told or _FIRST_PERSON.spoken.search(text[spans[told[0]].start : start]):
        return USER
    if _FIRST_PERSON.spoken.sub("", text[begin : spans[told[0]].start]).strip(_OF_USER):
        return USER
    subject = [n for n in told if group[n] == group[told[0]]]
    if named := [n for n in subject if spans[n].kind != "role"]:
        return named[0]
    first = spans[subject[0]]
    return USER if _is_of_household(text[first.start : first.end]) else subject[0]


def _is_of_household(role: str) -> bool:
    """Whether a partner or child beside somebody in such a role is as likely the user's as theirs:
    beside the user's own partner, child and parents, and in other languages than Chinese."""
    relation = kinship(role) if is_han(role[0]) else None
    if relation is None or relation.subtype == "partner":
        return True
    return relation.kind in _CHILDREN | _PARENTS


def is_own_family(word: str) -> bool:
    """Whether a role is a partner or child: nobody is addressed by these words, as elders are by
    theirs, so that bare they are of whom the talk is about."""
    return any(
        role.subtype == "partner" or role.kind in _CHILDREN
        for role in terms().get(normalise(word), ())
    )


def _is_own_bare(word: str) -> bool:
    """Whether a role word means the user's own without "my": mum, 老婆, the boss."""
    key = normalise(word)
    levels = {role.level for role in (*terms().get(key, ()), *groups().get(key, ()))}
    return bool(levels & {"kin", "unique"}) or key in words("people_words", "kin")


@cache
def _chain() -> Chain:
    return Chain.from_json(model("span_tagger"))


@cache
def _pairs() -> Logistic:
    """Whether two spans are one person."""
    learned = model("span_links")["pairs"]
    return Logistic(learned["bias"], learned["weights"])


# What may stand between two words for one person: my mate, Dave; 我妹叫家慧; Eilidh, my son's girlfriend.
_NAMING = re.compile(
    r"(?i)(?:'s |is |was )?(?:called|named|name is|name's|goes by|aka|is|was)(?: called| named)?"
    r"|(?:他|她|人家)?的?(?:名字)?(?:叫做?|名叫|就?是|小名|大名|外号)"
)
_APART = re.compile(
    r"(?i)\b(?:and|or|n|with|from|to|vs|not|than|like)\b|[&+/和跟与同及或给对把]|不是|还有"
)
_OWNING = re.compile(r"(?i)['’]?s?$|的$")


def pair_features(text: str, spans: Sequence[Placed], one: int, other: int) -> dict[str, float]:
    """What speaks for spans ``one`` and, further on, ``other`` being one person, and against."""
    a, b = spans[one], spans[other]
    between = text[a.end : b.start]
    first, second = normalise(text[a.start : a.end]), normalise(text[b.start : b.end])
    kinds = "+".join("role" if span.kind == "role" else "name" for span in (a, b))
    gap = between.strip()
    near = other == one + 1
    out = {kinds: 1.0, f"{kinds} same": float(first == second)}
    out[f"{kinds} part"] = float(first != second and (first in second or second in first))
    if near:
        out[f"{kinds} {_gap(gap)}"] = 1.0
        # Words that one is addressed by (佩芬学姐) aren't those of another's (佩芬老公).
        addressed = second in words("people_words", "address")
        out[f"{kinds} {_gap(gap)} addressed"] = float(b.kind == "role" and addressed)
        if _gap(gap) == "words" and len(gap) < 25:
            out[f"{kinds} naming"] = float(bool(_NAMING.search(gap)))
            out[f"{kinds} ends naming"] = float(bool(_NAMING.search(gap[-8:])))
            out[f"{kinds} own"] = float(bool(_FIRST_PERSON.possessive_end.search(gap)))
            out[f"{kinds} close"] = float(len(gap) < 12)
        out[f"{kinds} apart"] = float(bool(_APART.search(between)))
        out[f"{kinds} owning"] = float(bool(gap) and bool(_OWNING.match(gap)))
    else:
        out[f"{kinds} far"] = 1.0
    genders = {r.gender for r in (*roles_of(first), *roles_of(second))} - {""}
    out["two genders"] = float(a.kind == b.kind == "role" and len(genders) > 1)
    out["han"] = float(is_han(text[a.start]))
    return {name: value for name, value in out.items() if value}


def _gap(gap: str) -> str:
    if not gap:
        return "beside"
    if gap in ",，(（-–—:：":
        return "comma"
    if gap in ("'s", "’s", "的", "s"):
        return "genitive"
    return "words" if any(map(str.isalpha, gap)) else "sign"
