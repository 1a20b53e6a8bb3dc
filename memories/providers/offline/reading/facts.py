"""Finds whom a clause is about, and the attribute values that it states of them with certainty."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from memories.providers.offline.reading.circle import PersonDraft
from memories.providers.offline.reading.entity_linking import Spot
from understanding import segmentation
from understanding.certainty import CERTAIN
from understanding.lexicon import alternation, rows, words
from understanding.lexicon.rules import patterns, sets
from understanding.lexicon.rules import rows as rules
from understanding.numerals import chinese_number
from understanding.people.person_tagger import is_own_family
from understanding.people.span_evidence import before
from understanding.roles import groups, terms
from understanding.segmentation import tagged
from understanding.statements.wordings import NOT_EN, NOT_ZH, negations
from understanding.text import HAN, is_han, simplified

RE = patterns(__file__, NOT_EN=NOT_EN, NOT_ZH=NOT_ZH)
_WORDS = sets(__file__, "words_before")
_FACTS = rules(
    __file__,
    "facts",
    MONTH=lambda: alternation(row["name"].title() for row in rows("months")),
    WEEKDAY=lambda: alternation(row["name"].title() for row in rows("weekdays")),
)
_PLACE = "\ue000"  # replaces each character of a place
LONGEST_LEAD = 40  # characters before an English subject


@dataclass(frozen=True, slots=True)
class Value:
    """One attribute value, and where its words are in the clause."""

    key: str
    value: str
    start: int
    end: int


def subject_of(text: str, spots: Sequence[Spot]) -> tuple[PersonDraft | None, bool]:
    """Returns whom a clause is about (None: the user or nobody), and whether it says so: the first
    mention that is not just the owner of the next one, unless a verb or preposition precedes it."""
    for spot in spots:
        if _owns_next(text, spot, spots):
            continue
        if spot.how == "user" and _owns_word(text, spot):
            return None, False
        return (spot.who, True) if _precedes_subject(text[: spot.start]) else (None, False)
    return None, False


def facts_of(text: str, spots: Sequence[Spot], subject: PersonDraft | None) -> list[Value]:
    """Returns the values that ``text`` states of ``subject``; none if it mentions anybody else, or
    if it is uncertain whom a pronoun means, or whose partner or child somebody is."""
    if any(spot.who and _owns_unseen(text, spot, spots) for spot in spots):
        return []
    for spot in spots:
        is_other = spot.who is not subject or spot.others
        is_unsure = spot.how == "pronoun" and spot.confidence < CERTAIN
        if is_unsure or (is_other and not _owns_next(text, spot, spots)):
            return []
        who = spot.who
        is_unnamed = who is not None and not who.named and who.owner is None
        is_family = is_unnamed and spot.how == "role" and is_own_family(spot.text)
        if is_family and not RE.users_own.search(text[: spot.start]):
            return []
    masked = list(text)
    for spot in spots:
        masked[spot.start : spot.end] = " " * (spot.end - spot.start)
    blank = "".join(masked)
    # A value that contains a mention is not about the subject alone.
    values = stated(blank if HAN.search(text) else text)
    return [v for v in values if blank[v.start : v.end] == text[v.start : v.end]]


def _owns_next(text: str, spot: Spot, spots: Sequence[Spot]) -> bool:
    """Whether a mention is only the owner of the person mentioned right after it."""
    user = spot.how == "user"
    if user and not (spot.text.lower() in ("my", "our") or HAN.search(spot.text)):
        return False
    gap = RE.own_gap if user else RE.of_gap
    return any(
        other.who not in (None, spot.who) and gap.fullmatch(text[spot.end : other.start])
        for other in spots
        if other.start >= spot.end
    )


def _owns_unseen(text: str, spot: Spot, spots: Sequence[Spot]) -> bool:
    """Whether a relative or group of the mentioned person follows that is no mention itself: her
    parents, 老费的太太 (Fei's wife)."""
    if _owns_next(text, spot, spots):
        return False
    after = text[spot.end :].lstrip().removeprefix("的")
    if HAN.match(after):
        near = [word.text for word in segmentation.cut("".join(takewhile(is_han, after)))[:1]]
    elif after[:1] in ("'", "’") or spot.text.lower() in ("his", "her", "their"):
        next_words = after.lower().replace("’", "'").removeprefix("'s").split()[:3]
        near = [*takewhile(lambda word: before(word) == "word", next_words)]
    else:
        near = []
    return any(word.strip(".,;:!?") in terms().keys() | groups().keys() for word in near)


def _owns_word(text: str, spot: Spot) -> bool:
    """Whether the user is just the owner of something not mentioned: my sub, 我爸妈 (my parents)."""
    is_of = HAN.search(spot.text) and text[spot.end :].startswith("的")
    return bool(is_of) or _owns_unseen(text, spot, ()) or spot.text.lower() in ("my", "our")


def _precedes_subject(lead: str) -> bool:
    """Whether somebody can be the subject after these words: Chinese without a verb or preposition,
    English of opening words only (and then, on Monday)."""
    if HAN.search(lead):
        return not any(flag[0] in "vp" for word, flag in tagged(lead.strip()) if word.strip())
    lead_words, at = lead.lower().split(), 0
    if lead_words and len(lead) > LONGEST_LEAD:
        return False
    while at < len(lead_words):
        word = lead_words[at].strip(" ,:“”\"'(")
        opens = word in _WORDS["openers"] and at + 1 < len(lead_words)
        if not (opens or word in _WORDS["leads"] or word.endswith("ly")):
            return False
        at += 2 if opens else 1
    return True


def stated(text: str) -> list[Value]:
    """Returns the attribute values that a clause, with or without its subject, states. Of values of
    an attribute that overlap the first counts; doubt or negation around a value excludes it."""
    places = _places(text) if HAN.search(text) else frozenset()
    without_places = (
        re.sub(alternation(places), lambda word: _PLACE * len(word[0]), text) if places else text
    )
    values: list[Value] = []
    for row in _FACTS:
        key = row["key"]
        excluded_keys = {key, *row.get("after", ())}
        for match in row["pattern"].finditer(without_places if row.get("of_places") else text):
            start, end = match.span(match.lastgroup or 0)
            if any(v.key in excluded_keys and v.start < end and start < v.end for v in values):
                continue
            lead = text[: match.start()]
            surroundings = simplified(f"{lead} {text[start:end]} {text[match.end() :]}")
            # A noun or a genitive before Chinese words may be the subject of a direct row.
            between = tagged(lead.strip()) if row.get("direct") and HAN.search(lead) else ()
            noun = any(tag[:1] == "n" or word == "的" for word, tag in between)
            # He has no asthma: the words that the pattern itself matched before the value.
            is_denied = negations(text[match.start() : start])
            if noun or is_denied or RE.unsettled.search(surroundings):
                continue
            value = _usual_form(key, text[start:end])
            is_place = key == "company" and value in places
            if value and not is_place and not RE.not_value.search(value):
                values.append(Value(key, value, start, end))
    # An age that is stated with a pet is the pet's.
    has_pet = any(value.key == "pet" for value in values)
    return [value for value in values if not (has_pet and value.key == "age")]


def _usual_form(key: str, phrase: str) -> str:
    """Returns a value without article and particles, in digits for ages, with 日 (day) for dates."""
    value = phrase.strip(" ,.'’，的了")
    article, _, rest = value.partition(" ")
    if article in ("the", "a", "an") and rest[:1].islower():
        return rest
    if key == "age" and HAN.match(value):
        return str(chinese_number(value))
    if key == "birthday" and HAN.search(value):
        return value.replace(" ", "").replace("号", "日")
    return value


def _places(text: str) -> frozenset[str]:
    """Returns the words of ``text`` that are places, by the segmenter's dictionary and a list."""
    places = {word for word, flag in tagged(text) if flag in {"ns", "nsf"} and len(word) > 1}
    pieces = {text[at : at + size] for size in (4, 3, 2) for at in range(len(text) - size + 1)}
    places |= {piece for piece in pieces if segmentation.tag(piece) == "ns" or piece == "新加坡"}
    places = {word for word in places if not word.endswith(("人", "楼"))}
    places |= {
        place
        for place in words("places_en", "known")
        if place in text and re.search(rf"(?<![A-Za-z]){re.escape(place)}(?![A-Za-z])", text)
    }
    return frozenset(places - words("organisations", "firms"))
