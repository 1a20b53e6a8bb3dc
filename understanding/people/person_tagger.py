"""Finds spans of people in a text (names and role words), groups the spans of one person, and finds
the owner of each role (my boss, Ryan's girlfriend).

Which contact a span refers to is decided elsewhere. The weights are learned from the corpus
(``python -m tools train span_tagger``).
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
    is_located,
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
_Position = tuple[int, int, str]  # start, end and kind of a segment
# Probability of a name that a role word introduces (我表姐叫费霁月，): chosen by hand, not learned.
_INTRODUCED = 0.99
# … and of a surname after Mr or Dr, which may also be a common word (Mrs Field).
_TITLED = 0.9
# Less probable segments are dropped at once; the model file has the thresholds for results.
_THRESHOLD = 0.1
_CHILDREN = frozenset({"son", "daughter", "child", "grandson", "granddaughter"})
_PARENTS = frozenset({"mother", "father", "grandmother", "grandfather"})
_FIRST_PERSON = patterns("first_person")
_OF = (["of"], ["of", "the"])
_PRONOUN_ENDINGS = " 们們的"
# The words between two spans of different people: the first person has the second (has a son called,
# 有个儿子叫), or a new clause begins with a relative of the user's (…, my mum).
_NEW_PERSON = re.compile(
    r"(?i)\b(?:an?|another)\s[^,.;]{2,40}\b(?:called|named)\s*$|[个只位条][^，。,]{1,8}叫做?$"
    r"|(?:\w[,，;；.。!！?？]\s{0,3}|[\u4e00-\u9fff]\s{1,3})(?P<own>my\s|our\s|[我俺咱][们家]?)$"
)
# Prepositions that begin what describes a role's person (my mate from the gym).
_DESCRIBING = frozenset("from at in on of near across above below behind opposite".split())
_OWNS_NEXT = re.compile(r"['’]s?\s+\w|的\w")
# A genitive; ``kind`` are the words between it and the role that qualify the role.
_GENITIVE = re.compile(
    r"(?i)\s*(?:['’]s?|s|的)\s*(?P<kind>(?:[^\W\d_]+[ -]){0,2}|[\u4e00-\u9fff]{1,2})"
)


class PersonSpan(NamedTuple):
    """A span [start, end) of a text, in code points, that refers to a person. ``probability`` is
    the calibrated probability that the span and its kind are right."""

    start: int
    end: int
    kind: Kind
    probability: float


class Placed(Protocol):
    """A span with a kind: a ``PersonSpan``, or a labelled span of the training data."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def kind(self) -> str: ...


def person_spans(
    text: str, known: Collection[str] = (), recurring_names: Mapping[str, float] | None = None
) -> list[PersonSpan]:
    """Returns the spans that name people or call them by a role, from left to right, none within
    another. ``known`` are names of the user's contacts, as written; ``recurring_names`` are names
    that other texts support, with their probabilities (``recurring``)."""
    thresholds = model("span_tagger")["threshold"]
    spans = []
    for start, end, kind, probability in _segments(text, known):
        if kind == "name":
            elsewhere = (recurring_names or {}).get(normalise(text[start:end]))
            probability = max(probability, elsewhere or 0.0) if elsewhere != 0.0 else 0.0
        if probability >= thresholds[kind]:
            is_name = kind == "name" or _is_given_name(text, start, end)
            spans.append(PersonSpan(start, end, "name" if is_name else "role", probability))
    return _with_particles(text, spans)


def recurring(texts: Iterable[str]) -> dict[str, float]:
    """Returns the words that may be names in several of ``texts`` and are no dictionary words: the
    normal form and the probability that it is a name. Each text is an independent witness
    (noisy-or: Pearl 1988); a text that is repeated counts once. A word that one text uses as a
    place has 0: one sense per discourse (Gale, Church & Yarowsky 1992)."""
    doubts: dict[str, list[float]] = {}
    places: set[str] = set()
    for text in dict.fromkeys(texts):
        toks = tokens(text)
        places |= {t.norm for at, t in enumerate(toks) if is_located(toks, at, at + 1)}
        probabilities: dict[str, float] = {}
        for start, end, kind, probability in _segments(text, ()):
            name = normalise(text[start:end])
            if kind == "name" and not is_word(name):
                probabilities[name] = max(probabilities.get(name, 0.0), probability)
        for name, probability in probabilities.items():
            doubts.setdefault(name, []).append(1 - probability)
    names = {name: 1 - math.prod(factors) for name, factors in doubts.items() if len(factors) > 1}
    return names | dict.fromkeys(places, 0.0)


def _segments(text: str, contact_names: Collection[str]) -> list[tuple[int, int, str, float]]:
    """Returns (start, end, kind, probability) of each possible name or role, without overlaps."""
    scales = model("span_tagger")["calibration"]
    toks, rows = evidence(text, contact_names)
    segments = _with_surnames(text, toks, _at_word_edges(toks, _chain().segments(rows, _THRESHOLD)))
    segments = _with_titles(text, toks, rows, segments)
    role_ends = {one.end for one in segments if one.kind == "role" and one.probability > 0.5}
    introduced_names = [
        Segment(start, end, "name", _INTRODUCED)
        for at, start, end in introduced(text, toks)
        if at in role_ends
        or is_name_noun(toks, at)
        or (at and toks[at - 1].norm in _THIRD_PERSON)
        or (at and is_word_for_person(rows[at - 1]) and not _is_framed(rows[start]))
    ]
    return [
        (toks[one.start].start, toks[one.end - 1].end, one.kind, calibrated(one, scales))
        for one in sorted(without_overlaps([*introduced_names, *segments]))
        if one.kind == "role"
        or not (
            _is_title_or_greeting(toks, one)
            or _is_of_place(text, toks, one)
            or is_located(toks, one.start, one.end)
            or _is_thing(toks, one)
        )
    ]


# Words before "called", "name is" or a name (he's called, her name is, we call him, 他叫).
_THIRD_PERSON = frozenset(("he", "she", "his", "her", "him", "他", "她"))


def _is_framed(row: Row) -> bool:
    """Whether the features of a token say that it is in a quotation, or in a text about a work or a
    role in it; such texts introduce no contacts."""
    return any(mark == "quoted" or mark.startswith("framed&") for mark in row)


def _is_title_or_greeting(toks: Sequence[Token], name: Segment) -> bool:
    """Whether a possible name is only a title (教授说), a greeting (ta) or a role of which one has
    many people (朋友); none of these is a name in the corpus."""
    norms = [one.norm for one in toks[name.start : name.end]]
    latin = " ".join(norms)
    is_greeting = latin in words("sentence_cues", "greeting", "laugh")
    is_title = "".join(norms) in titles("zh") or latin in titles("en")
    roles = terms().get("".join(norms), ()) if toks[name.start].han else ()
    return is_greeting or is_title or any(role.level == "common" for role in roles)


def _is_of_place(text: str, toks: Sequence[Token], name: Segment) -> bool:
    """Whether the word before a name, or its first word, makes it a place (St. Oswald's)."""
    word_before = [one for one in toks[: name.start] if one.norm != "."][-1:]
    return any(
        one.norm in words("context_en", "place_titles") and text[one.start].isupper()
        for one in (*word_before, toks[name.start])
    )


def _is_thing(toks: Sequence[Token], name: Segment) -> bool:
    """Whether "the" precedes a name and no noun follows it (the Baldwin at noon, not the Ana film)."""
    if name.start == 0 or toks[name.start - 1].norm != "the":
        return False
    next_word = toks[name.end].norm if name.end < len(toks) else ""
    return not next_word.isalpha() or next_word in words("stopwords")


def _at_word_edges(toks: Sequence[Token], segments: Sequence[Segment]) -> list[Segment]:
    """Returns the segments, most probable first, after moving names to the edges of words. A name
    that ends with the first character of a common Chinese word passes its probability to the
    segment without it (高澜住|在: 高澜), which is added if the chain lacks it and the character is rare
    in names. A name that begins with a word for the user passes it to the role after that word
    (我|妹). No name of two characters is shortened to one (蒋工, 老顾)."""
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


def _hand_over(by_place: dict[_Position, Segment], source: Segment, target: _Position) -> None:
    """Adds the probability of ``source`` to the segment at ``target`` and removes ``source``."""
    del by_place[source.start, source.end, source.kind]
    total = min(source.probability + by_place[target].probability, 1.0)
    by_place[target] = by_place[target]._replace(probability=total)


def _is_titled_surname(toks: Sequence[Token], name: Segment) -> bool:
    """Whether a name is a Chinese surname with a title that begins no longer word (蒋工, not 李工作)."""
    surname, *title = [one.norm for one in toks[name.start : name.end]]
    is_title = "".join(title) in titles("zh").keys() | titles_used("reader")
    addressed = surname in words("surnames", "single") and is_title
    return addressed and not (len(title) == 1 and begins_longer_word(toks, name.end - 1))


def _with_titles(
    text: str, toks: Sequence[Token], rows: Sequence[Row], segments: Sequence[Segment]
) -> list[Segment]:
    """Returns the segments, most probable first, after extending a Chinese surname by the title
    after it (王|局) and adding each name with Mr or Dr before it, with at least ``_TITLED``."""
    extended = []
    for one in segments:
        with_title = one._replace(end=one.end + 1)
        is_alone = one.kind == "name" and one.end - one.start == 1 and one.end < len(toks)
        extended.append(with_title if is_alone and _is_titled_surname(toks, with_title) else one)
    for start, end in titled(text, toks):
        if _is_framed(rows[start]):
            continue
        names = [
            one for one in extended if one.kind == "name" and one.start == start and one.end >= end
        ]
        best = max(names, key=lambda one: one.probability, default=Segment(start, end, "name", 0))
        extended.append(best._replace(probability=max(best.probability, _TITLED)))
    return sorted(extended, key=lambda one: -one.probability)


def _with_surnames(text: str, toks: Sequence[Token], segments: Sequence[Segment]) -> list[Segment]:
    """Returns the segments, most probable first. A given name passes its probability to the name
    that includes the surname after it, even if that is also a place (Zoe Park)."""
    by_place = {(one.start, one.end, one.kind): one for one in segments}
    for one in segments:
        full_name = one.start, one.end + 1, "name"
        if one.kind == "name" and full_name in by_place and one.end - one.start == 1:
            given, surname = toks[one.start], toks[one.end]
            is_full = is_given(given.norm) and is_surname(surname.norm)
            if is_full and text[given.start].isupper() and text[surname.start].isupper():
                _hand_over(by_place, one, full_name)
    return sorted(by_place.values(), key=lambda one: -one.probability)


def _is_given_name(text: str, start: int, end: int) -> bool:
    """Whether a role word is written as the given name that it also is (Anna: an elder brother in
    Tamil), with no possessive before it."""
    surface, tokens_before = text[start:end], tokens(text[:start])
    whose = before(tokens_before[-1].norm) if tokens_before else ""
    return surface[:1].isupper() and is_given(normalise(surface)) and whose not in ("own", "others")


def _with_particles(text: str, spans: Sequence[PersonSpan]) -> list[PersonSpan]:
    """Returns the spans after joining two names with particles between them (João da Silva)."""
    out: list[PersonSpan] = []
    particles = words("name_particles")
    for at, span in enumerate(spans):
        is_particle = normalise(text[span.start : span.end]) in particles
        around = spans[max(0, at - 1) : at + 2]
        if is_particle and [one.kind for one in around[::2]] == ["name", "name"]:
            continue  # it is a word for a role as well
        previous = out[-1] if out else span
        between = text[previous.end : span.start].split()
        is_one_name = between and all(normalise(word) in particles for word in between)
        if is_one_name and previous.kind != "role" and span.kind != "role":
            higher = max(previous.probability, span.probability)
            span = out.pop()._replace(end=span.end, probability=higher)
        out.append(span)
    return out


def same_person(text: str, spans: Sequence[Placed]) -> list[int]:
    """Returns a group number for each span, counted from 0 in text order; spans of one person share
    it (我同事张伟, my mate Dave)."""
    return grouped(text, spans, _pair_model())


def owners(text: str, spans: Sequence[Placed]) -> list[int | None]:
    """Returns the owner of each span's role: ``USER``, the index of another span (Ryan of Ryan's
    girlfriend), or None if the text does not state it or the span is a name."""
    group = same_person(text, spans)
    places = range(len(spans))
    return [_owner(text, spans, group, at) if spans[at].kind == "role" else None for at in places]


def without_overlaps(segments: Iterable[Segment]) -> list[Segment]:
    """Returns the segments that overlap no earlier one of the sequence."""
    out: list[Segment] = []
    for segment in segments:
        if all(segment.end <= one.start or segment.start >= one.end for one in out):
            out.append(segment)
    return out


def calibrated(segment: Segment, scales: Mapping[str, Mapping[str, float]]) -> float:
    """Returns a segment's probability after Platt scaling (Platt 1999) of its log odds, by kind."""
    scale = scales[segment.kind]
    return sigmoid(scale["slope"] * log_odds(segment.probability) + scale["offset"])


def grouped(text: str, spans: Sequence[Placed], pairs: Logistic) -> list[int]:
    """Returns a group number for each span: that of the earlier span that is most probably the same
    person, or a new number if probably none is."""
    out: list[int] = []
    # Further back only a span's words matter, so the first span with these words represents all.
    first_with_words: dict[tuple[str, str], int] = {}
    for at, span in enumerate(spans):
        role = _described_role(text, spans, at)
        earlier_spans = dict.fromkeys((*first_with_words.values(), *([at - 1] if at else [])))
        odds = {
            one: pairs.log_odds(pair_features(text, spans, one, at))
            for one in earlier_spans
            if not _is_somebody_else(text, spans, one, at)
        }
        best = max(odds, key=lambda one: (odds[one], -one), default=0)
        if role is not None:
            out.append(out[role])
        else:
            out.append(out[best] if odds and odds[best] > 0 else max(out, default=-1) + 1)
        first_with_words.setdefault((text[span.start : span.end], span.kind), at)
    return out


def _described_role(text: str, spans: Sequence[Placed], at: int) -> int | None:
    """Returns the index of the role whose person the name ``at`` is, set off by commas behind a
    description without a capital, which a place before its country would have (my aunt on my dad's
    side, Lorna, keeps bees; not: in Paris, France); None without one."""
    name, behind = spans[at], text[spans[at].end :].lstrip()
    is_set_off = behind[:1] in (*".!?…—–", "") or (behind[0] == "," and behind[2:3].islower())
    for one in range(at - 1, max(at - 3, -1), -1) if name.kind != "role" and is_set_off else ():
        gap = text[spans[one].end : name.start]
        first, *rest = gap.split() or [""]
        is_description = first in _DESCRIBING and len(rest) in (1, 2, 3) and gap.islower()
        if spans[one].kind == "role" and is_description and gap.endswith(", "):
            return one if gap.count(",") == 1 else None
    return None


def is_only_owner(text: str, end: int) -> bool:
    """Whether a role before ``end`` only states the next word's owner (my mum's sister, 我妈的妹妹)."""
    return bool(_OWNS_NEXT.match(text, end))


def _is_somebody_else(text: str, spans: Sequence[Placed], earlier_at: int, at: int) -> bool:
    """Whether the wording makes the span ``at`` somebody else than an earlier span: the earlier
    person has or phoned the later one (Ida has a son called Max; Mum called Max), a clause begins
    with the role ``at`` (I met Ida, my mum was there), or the role only states the owner of the
    next word (Ida is my mum's sister: Ida is not the mum)."""
    span, earlier = spans[at], spans[earlier_at]
    between = text[earlier.end : span.start]
    parted = _NEW_PERSON.search(between)
    if parted and (parted["own"] is None or (span.kind == "role" and earlier.kind != "role")):
        return True
    if between.strip() == "called" and _is_unique(text, earlier):
        return True
    if span.kind != "role" or text[span.start : span.end] == text[earlier.start : earlier.end]:
        return False
    role_next = any(later.kind == "role" and later.start == span.end for later in spans[at + 1 :])
    return role_next or is_only_owner(text, span.end)


def _is_unique(text: str, span: Placed) -> bool:
    """Whether a span is a role that only one person has for the user, and so needs no name."""
    role = kinship(text[span.start : span.end]) if span.kind == "role" else None
    return role is not None and role.kind in ONE_AT_A_TIME


def _owner(text: str, spans: Sequence[Placed], group: Sequence[int], at: int) -> int | None:
    """Returns the owner of the role ``at``, as ``owners`` does."""
    span = spans[at]
    if at + 1 < len(spans) and text[span.end : spans[at + 1].start].lower().split() in _OF:
        return at + 1
    if at and group[at - 1] != group[at]:
        between = text[spans[at - 1].end : span.start]
        genitive = _GENITIVE.fullmatch(between)
        if not between or (genitive and _qualifies(genitive["kind"], text[span.start : span.end])):
            return at - 1
    start = spans[at - 1].end if at else 0
    # One more word may be between (my older sister).
    classes = [before(token.norm) for token in tokens(text[start : span.start])[-2:]]
    whose = next((one for one in reversed(classes) if one in ("own", "others", "some")), "")
    if whose == "own" or is_own_qualified(text[start : span.start]):
        return USER
    role = text[span.start : span.end]
    if whose == "some" and _user_has([token.norm for token in tokens(text[start : span.start])]):
        return USER
    # 那姑娘 (that girl) states which one, not whose.
    is_demonstrative = classes[-1:] == ["the"] and is_han(role[0])
    if whose or is_demonstrative or not _is_own_bare(role):
        return None
    return _owner_of_relative(text, spans, group, at) if is_own_family(role) else USER


def is_own_qualified(before_role: str) -> bool:
    """Whether the words before a role are the user and when or where they have it: 我以前的, 我大学的."""
    place = max(map(before_role.rfind, "我咱俺"))
    qualifier = before_role[place + 1 :].removesuffix("的") if place >= 0 else ""
    return before_role.endswith("的") and segmentation.tag(qualifier)[:1] in ("n", "t", "f", "s")


def _user_has(words_before: Sequence[str]) -> bool:
    """Whether the words before a role state that the user has such a person: I have a, 我还有个."""
    near = {*words_before[-5:]}
    return not near.isdisjoint(_HAVING) and not near.isdisjoint(("i", "we", "我", "咱", "俺"))


_HAVING = frozenset(("have", "got", "'ve", "ve", "had", "有"))


def _qualifies(qualifier: str, role: str) -> bool:
    """Whether the words between an 's or 的 and a role, if any, only qualify the role (my kid's
    swimming coach, 儿子的数学老师). Few do before a relative, since the 's may be a verb (Tom's seeing
    mum)."""
    ownership, relative = word_sets("ownership"), kinship(role)
    if is_han(qualifier[:1] or " "):
        return qualifier in ownership["zh_between"] or segmentation.tag(qualifier)[:1] in ("n", "v")
    kinds = [normalise(word) for word in qualifier.replace("-", " ").split()]
    if relative is not None and relative.subtype in ("family", "partner"):
        return all(word in ownership["en_between"] | ownership["en_ex"] for word in kinds)
    return all(before(word) == "word" for word in kinds)


def _owner_of_relative(text: str, spans: Sequence[Placed], group: Sequence[int], at: int) -> int:
    """Returns the owner of a partner or child without a possessive: the person that begins the
    sentence, called by name (晓峰在慕尼黑，老婆是韩国人) or in Chinese by a role (我弟跟女朋友分手了). It is the user if
    the sentence begins otherwise or refers to the user as well, or if that role is of the user's
    own household (我妈跟老公去买菜)."""
    start = spans[at].start
    sentence = last_begun(text[:start])
    begin = start - len(sentence)
    earlier = [n for n in range(at) if begin <= spans[n].start and group[n] != group[at]]
    if not earlier or _FIRST_PERSON.spoken.search(text[spans[earlier[0]].start : start]):
        return USER
    if _FIRST_PERSON.spoken.sub("", text[begin : spans[earlier[0]].start]).strip(_PRONOUN_ENDINGS):
        return USER
    subject = [n for n in earlier if group[n] == group[earlier[0]]]
    if named_spans := [n for n in subject if spans[n].kind != "role"]:
        return named_spans[0]
    first = spans[subject[0]]
    return USER if _is_of_household(text[first.start : first.end]) else subject[0]


def _is_of_household(role: str) -> bool:
    """Whether a partner or child mentioned after somebody in this role is as likely the user's own:
    after the user's partner, child and parents, and in other languages than Chinese."""
    relation = kinship(role) if is_han(role[0]) else None
    if relation is None or relation.subtype == "partner":
        return True
    return relation.kind in _CHILDREN | _PARENTS


def is_own_family(word: str) -> bool:
    """Whether a word is a role for a partner or child. Nobody is addressed with these words, as
    elders are with theirs, so without a possessive they belong to the person talked about."""
    return any(
        role.subtype == "partner" or role.kind in _CHILDREN
        for role in terms().get(normalise(word), ())
    )


def _is_own_bare(word: str) -> bool:
    """Whether a role word without "my" means the user's own: mum, 老婆, the boss."""
    key = normalise(word)
    levels = {role.level for role in (*terms().get(key, ()), *groups().get(key, ()))}
    return bool(levels & {"kin", "unique"}) or key in words("people_words", "kin")


@cache
def _chain() -> Chain:
    return Chain.from_json(model("span_tagger"))


@cache
def _pair_model() -> Logistic:
    """The model of whether two spans are one person."""
    learned = model("span_links")["pairs"]
    return Logistic(learned["bias"], learned["weights"])


# What may be between two words for one person: my mate, Dave; 我妹叫家慧; Eilidh, my son's girlfriend.
_NAMING = re.compile(
    r"(?i)(?:'s |is |was )?(?:called|named|name is|name's|goes by|aka|is|was)(?: called| named)?"
    r"|(?:他|她|人家)?的?(?:名字)?(?:叫做?|名叫|就?是|小名|大名|外号)"
)
_SEPARATING = re.compile(
    r"(?i)\b(?:and|or|n|with|from|to|vs|not|than|like)\b|[&+/和跟与同及或给对把]|不是|还有"
)
_GENITIVE_GAP = re.compile(r"(?i)['’]?s?$|的$")


def pair_features(text: str, spans: Sequence[Placed], one: int, other: int) -> dict[str, float]:
    """Returns the features for and against ``one`` and the later ``other`` being one person."""
    a, b = spans[one], spans[other]
    between = text[a.end : b.start]
    first, second = normalise(text[a.start : a.end]), normalise(text[b.start : b.end])
    kinds = "+".join("role" if span.kind == "role" else "name" for span in (a, b))
    gap = between.strip()
    near = other == one + 1
    out = {kinds: 1.0, f"{kinds} same": float(first == second)}
    out[f"{kinds} part"] = float(first != second and (first in second or second in first))
    if near:
        out[f"{kinds} {_gap_class(gap)}"] = 1.0
        # A word of address is for the person named before it (佩芬学姐), others may not be (佩芬老公).
        addressed = second in words("people_words", "address")
        out[f"{kinds} {_gap_class(gap)} addressed"] = float(b.kind == "role" and addressed)
        if _gap_class(gap) == "words" and len(gap) < 25:
            out[f"{kinds} naming"] = float(bool(_NAMING.search(gap)))
            out[f"{kinds} ends naming"] = float(bool(_NAMING.search(gap[-8:])))
            out[f"{kinds} own"] = float(bool(_FIRST_PERSON.possessive_end.search(gap)))
            out[f"{kinds} close"] = float(len(gap) < 12)
        out[f"{kinds} apart"] = float(bool(_SEPARATING.search(between)))
        out[f"{kinds} owning"] = float(bool(gap) and bool(_GENITIVE_GAP.match(gap)))
    else:
        out[f"{kinds} far"] = 1.0
    genders = {r.gender for r in (*roles_of(first), *roles_of(second))} - {""}
    out["two genders"] = float(a.kind == b.kind == "role" and len(genders) > 1)
    out["han"] = float(is_han(text[a.start]))
    return {name: value for name, value in out.items() if value}


def _gap_class(between: str) -> str:
    if not between:
        return "beside"
    if between in ",，(（-–—:：":
        return "comma"
    if between in ("'s", "’s", "的", "s"):
        return "genitive"
    return "words" if any(map(str.isalpha, between)) else "sign"
