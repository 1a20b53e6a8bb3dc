"""Whom a clause is about, and the attribute values that it states of them: certain ones, or none."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from memories.providers.offline.reading.circle import PersonDraft
from memories.providers.offline.reading.entity_linking import Spot
from understanding import segmentation
from understanding.certainty import CERTAIN
from understanding.lexicon import alternation, mapping, rows, words
from understanding.lexicon.rules import Row, patterns, sets
from understanding.lexicon.rules import rows as rules
from understanding.numerals import chinese_number
from understanding.people.person_tagger import is_own_family
from understanding.roles import groups, terms
from understanding.segmentation import tagged
from understanding.statements.wordings import NOT_EN, NOT_ZH
from understanding.text import HAN, simplified

RE = patterns(__file__, NOT_EN=NOT_EN, NOT_ZH=NOT_ZH)
_WORDS = sets(__file__, "words_before")
_FACTS_ZH = rules(__file__, "facts_zh")
_FACTS_EN = rules(
    __file__,
    "facts_en",
    PLACE=lambda: rf"(?:{alternation(words('places_en', 'known'))})\b",
    DEMONYM=lambda: alternation(mapping("demonyms", "place")),
    MONTH=lambda: rf"(?:{alternation(row['name'].title() for row in rows('months'))})\b",
)
# What has been read under a stronger key is not read again under these.
_STRONGER = {"en": sets(__file__, "stronger_en"), "zh": sets(__file__, "stronger_zh")}
_CALENDAR = alternation(
    row["name"].title() for table in ("months", "weekdays") for row in rows(table)
)
# Firms that the segmenter's dictionary takes for places, verbs or the like (by hand).
FIRMS = words("organisations", "firms")
LONGEST_LEAD = 40  # characters before an English subject


@dataclass(frozen=True, slots=True)
class Value:
    """One attribute value, where its words stand in the clause, and the row that gave it."""

    key: str
    value: str
    start: int
    end: int
    row: str = ""


def subject_of(text: str, spots: Sequence[Spot]) -> tuple[PersonDraft | None, bool]:
    """Whom the words are about, and whether they say so: the first place that no verb or
    preposition stands before, and that does not only say whose the next one is."""
    for spot in spots:
        if _owns_next(text, spot, spots):
            continue
        if spot.how == "user" and _owns_word(text, spot):
            return None, False
        return (spot.who, True) if _leads(text[: spot.start]) else (None, False)
    return None, False


def facts_of(text: str, spots: Sequence[Spot], subject: PersonDraft | None) -> list[Value]:
    """What ``text`` states of ``subject``: Chinese rows where there are Han characters, English
    ones where Latin words remain. Nothing where it speaks of somebody besides, or it isn't certain
    whom a pronoun means, or whose partner or child somebody is."""
    for spot in spots:
        anothers = spot.who is not subject or spot.others
        unsure = spot.how == "pronoun" and spot.confidence < CERTAIN
        if unsure or (anothers and not _owns_next(text, spot, spots)):
            return []
        who = spot.who
        bare = who is not None and not who.named and who.owner is None
        family = bare and spot.how == "role" and is_own_family(spot.text)
        if family and not RE.users_own.search(text[: spot.start]):
            return []
    masked = list(text)
    for spot in spots:
        masked[spot.start : spot.end] = " " * (spot.end - spot.start)
    blank = "".join(masked)
    found = chinese_facts(blank) if HAN.search(text) else []
    if re.search(r"[A-Za-z]{2}", text) and not found:
        found = english_facts(blank if HAN.search(text) else text)
    if any(value.key in {"family", "pet"} for value in found):
        found = [value for value in found if value.key != "age"]
    # A value in which somebody stood is not theirs alone.
    return [v for v in found if blank[v.start : v.end] == text[v.start : v.end]]


def _owns_next(text: str, spot: Spot, spots: Sequence[Spot]) -> bool:
    """Whether a place only says whose the person right behind it is."""
    user = spot.how == "user"
    if user and not (spot.text.lower() in ("my", "our") or HAN.search(spot.text)):
        return False
    gap = RE.own_gap if user else RE.of_gap
    return any(
        other.who not in (None, spot.who) and gap.fullmatch(text[spot.end : other.start])
        for other in spots
        if other.start >= spot.end
    )


def _owns_word(text: str, spot: Spot) -> bool:
    """Whether the user is only the one whose something is that nobody was seen in: my sub, 我爸妈."""
    if HAN.search(spot.text):
        behind = re.match("[\u3400-\u9fff]+", text[spot.end :])
        first = segmentation.cut(behind[0])[0].text if behind else ""
        return first == "的" or bool(terms().get(first) or groups().get(first))
    return spot.text.lower() in ("my", "our")


def _leads(before: str) -> bool:
    """Whether what stands before somebody leaves them the subject: no verb or preposition of
    Chinese, in English only words that open a sentence (and then, on Monday)."""
    if HAN.search(before):
        return not any(flag[0] in "vp" for word, flag in tagged(before.strip()) if word.strip())
    leads, at = before.lower().split(), 0
    if leads and len(before) > LONGEST_LEAD:
        return False
    while at < len(leads):
        word = leads[at].strip(" ,:“”\"'(")
        opens = word in _WORDS["openers"] and at + 1 < len(leads)
        if not (opens or word in _WORDS["leads"] or word.endswith("ly")):
            return False
        at += 2 if opens else 1
    return True


def _stated(
    text: str, facts: Iterable[Row], language: str, written: Callable[[str, re.Match[str]], str]
) -> list[Value]:
    """What the group v of the rows finds in ``text``, unless unsettled words stand around it, or it
    has been read already under this key or a stronger one. ``written`` gives a value its usual
    form, or nothing where it is none."""
    unsettled = RE.unsettled_zh if language == "zh" else RE.unsettled_en
    found: list[Value] = []
    for row in facts:
        key = row["key"]
        shut = _STRONGER[language].get(key, frozenset()) | {key}
        for match in row["pattern"].finditer(text):
            start, end = match.span("v")
            if any(v.key in shut and v.start < end and start < v.end for v in found):
                continue
            before = text[: match.start()]
            rest = simplified(f"{before} {match.group('v')} {text[match.end() :]}")
            if unsettled.search(rest) or (row.get("direct") and _has_noun(before)):
                continue
            if value := written(key, match):
                found.append(Value(key, value, start, end, row["name"]))
    return found


def _has_noun(text: str) -> bool:
    """Whether a noun or a genitive stands in Chinese words."""
    return any(tag[:1] == "n" or word == "的" for word, tag in tagged(text.strip()))


def english_facts(text: str) -> list[Value]:
    """The attribute values that one English clause states."""
    return _stated(text, _FACTS_EN, "en", _english)


def _english(key: str, match: re.Match[str]) -> str:
    """A value without article or what follows it; nothing where it is only a pointer, or a
    date for a place."""
    value = re.sub(r"^(?:the|a|an)\s(?=[a-z])", "", match.group("v").strip(" ,.'’"))
    value = re.sub(r"\s(?:any ?more|any longer)$", "", value)
    dated = key in {"location", "hometown"} and re.match(rf"(?:{_CALENDAR}|Christmas|I\b)", value)
    return "" if dated or RE.not_value_en.match(value) else value


def chinese_facts(text: str) -> list[Value]:
    """The attribute values that one Chinese clause, subject included or not, states."""
    places = _places(text)
    facts = _filled_rows(places, _firms(text, places))
    return _stated(text, facts, "zh", partial(_chinese, places))


def _chinese(places: tuple[str, ...], key: str, match: re.Match[str]) -> str:
    """A value in its usual form; nothing where its words are none of this key."""
    value = match.group("v").strip(" ，,的了")
    if not value or (RE.not_value_zh.search(value) and key != "age"):
        return ""
    if key == "company":
        works = re.match(r"上班|工作|任职|就职", match.string[match.end("v") :])
        employs = value in {"银行", "医院"} and works
        if value in places or (RE.not_org.search(value) and not employs):
            return ""
    return _tidy(key, value)


def _tidy(key: str, value: str) -> str:
    """A value in its usual form: digits for ages, 日 for days, no verbs before a job."""
    if key == "age" and not value.isdigit() and not value.endswith("后"):
        return str(chinese_number(value))
    if key == "birthday":
        return re.sub(r"号$", "日", value.replace(" ", ""))
    if key in {"job_title", "company", "pet"}:
        value = RE.leading.sub("", value)
    if key == "pet":
        return _pet(value)
    if key in {"diet", "allergy"}:
        value = re.sub(r"(?<=[\u4e00-\u9fff])[和跟](?=[\u4e00-\u9fff])", "、", value)
    if key == "likes" and len(value) > 2:
        return re.sub(r"^(?:喝|吃|看|听)(?=[\u4e00-\u9fff]{2})", "", value)
    return value


def _pet(value: str) -> str:
    """A pet and its name, if said: 一只叫毛球的兔子 → 兔子（毛球）."""
    value = re.sub(r"^一?[只条个匹]", "", value)
    match = re.fullmatch(r"(?:名?叫)(?P<n>.+?)的(?P<a>.++)|(?P<b>.+?)(?:名?叫)(?P<m>.++)", value)
    if match is None:
        return value
    return f"{match.group('a') or match.group('b')}（{match.group('n') or match.group('m')}）"


def _firms(text: str, places: tuple[str, ...]) -> tuple[str, ...]:
    """The X of 在X上班 that may name an employer, and of 在X当 where it is a known one: a noun that
    is no place and no time."""
    found = []
    for match in re.finditer(
        r"在\s?(?P<v>[\u4e00-\u9fff]{2,8}?)(?:那边|那儿)?(?P<does>上班|工作|任职|就职|当|做)", text
    ):
        value = match.group("v")
        known = value in FIRMS or value in words("organisations", "zh")
        noun = match["does"] not in ("当", "做") and tagged(value)[0][1][:1] in {"n", "j"}
        if known or (
            noun and not RE.not_firm.search(value) and not any(place in value for place in places)
        ):
            found.append(value)
    return tuple(found)


def _places(text: str) -> tuple[str, ...]:
    """Words of ``text`` that are places, by the segmenter's dictionary, the longest first."""
    found = {
        word
        for word, flag in tagged(text)
        if flag in {"ns", "nsf"} and len(word) > 1 and not word.endswith("人")
    }
    pieces = (text[at : at + size] for size in (4, 3, 2) for at in range(len(text) - size + 1))
    found |= {piece for piece in pieces if segmentation.tag(piece) == "ns"}
    found -= FIRMS
    found |= {
        place
        for place in words("places_en", "known")
        if place in text and re.search(rf"(?<![A-Za-z]){re.escape(place)}(?![A-Za-z])", text)
    }
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


@lru_cache(maxsize=256)
def _filled_rows(places: tuple[str, ...], firms: tuple[str, ...]) -> list[Row]:
    """The Chinese rows with the clause's own places and employers filled in."""
    own = {
        "{place}": f"(?:{alternation(places)}|新加坡)" if places else "",
        "{firm}": f"(?:{'|'.join(map(re.escape, firms))})" if firms else "",
    }
    filled: list[Row] = []
    for row in _FACTS_ZH:
        source = row["pattern"].pattern
        wanted = [name for name in own if name in source]
        if all(own[name] for name in wanted):
            for name in wanted:
                source = source.replace(name, own[name])
            filled.append({**row, "pattern": re.compile(source)} if wanted else row)
    return filled
