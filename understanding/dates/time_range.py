"""The stretch of time that a question asks about: 上周, last May, since March, 2023年夏天.

Weeks start on Monday; a day, month or season without a year is the latest that has begun,
unless the question looks ahead. A date that only describes what is asked for (the one whose
birthday is on 3 May) is no range.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

import regex

from understanding.dates import find_dates
from understanding.dates.date_words import (
    NUMBER_ZH,
    SEASONS,
    DateHit,
    leans_past,
    midnight,
    month_span,
    overlaps,
)
from understanding.dates.named_times import Days, Readings, add_times, named_times
from understanding.numerals import CARDINALS, MONTH, MONTHS, chinese_number, with_digits
from understanding.sentences import sentences
from understanding.text import HAN, simplified

# What "lately" and "the other day" reach back to, in days: a month, and somewhat over a week.
LATELY, A_FEW_DAYS = 30, 10

_ASKS = regex.compile(
    r"[?？]|\b(?:who|whom|whose|what|which|when|where|why|how|tell me|show me|list|remind me"
    r"|find|search)\b|^\s*(?:did|does|do|is|are|was|were|has|have|had|any)\b"
    r"|谁|什么|啥|哪|几[个次点位]|多少|多[大久长高]|怎么|怎样|如何|有没有|是不是|是否|吗|呢|告诉|列出|说说|讲讲|回忆|找",
    regex.IGNORECASE,
)
# As wide as words typed into a search box, which need not ask (Han counts double); somebody
# who tells something speaks of themself, or of what is done.
_SHORT = 24
_TELLS = regex.compile(r"我|咱|了|\b(?:i|we|my|our)\b", regex.IGNORECASE)
# The date is an attribute of somebody or something, not when it was told or took place.
_DESCRIBES = regex.compile(
    r"生日|出生|诞辰|过生|纪念日|几号|哪[一]?[天年月]|多大|岁|\bbirthday|\bborn\b|\banniversary"
    r"|(?:时间|日期)(?:是|在|为)|的时候多|靠近|之前还是|\bwhich (?:day|month|year)\b",
    regex.IGNORECASE,
)
_AHEAD = regex.compile(
    r"\b(?:will|going to|plans?|planning|planned|upcoming|next|coming|schedul\w+|tomorrow)\b"
    r"|下(?:周|个|下|星期|礼拜|月)|明[天年早晚日]|后[天年]|打算|准备|计划|将要?|即将|安排|要[去来做办]|会[去来做办]",
    regex.IGNORECASE,
)
_WEEKDAY = regex.compile(r"(?:周|星期|礼拜)[一二三四五六日天末]|day$|weekend$", regex.IGNORECASE)
_FULL_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEAR = regex.compile(_FULL_YEAR.pattern + "|去年|今年|明年|前年|后年")

_SPELT_YEAR = regex.compile(
    r"(?<![〇零一二三四五六七八九十])[一二][〇零一二三四五六七八九]{3}(?=年)"
)

_COUNTS = {**CARDINALS, "couple of": 2, "few": 3, "several": 4, "几": 3, "半": 0.5}
_DAYS = {
    "day": 1, "week": 7, "month": 30.5, "year": 365.25,
    "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30.5, "年": 365.25,
}  # fmt: skip
_COUNT = "|".join((r"\d{1,3}", *_COUNTS))
# Counted from now into what is to come: that has no year to take away. Of the past, such words
# count from something told (搬家两周后).
_COUNTED_ON = regex.compile(
    rf"^in (?:an?|(?:a )?{_COUNT})\s|\b(?:from now|later)$|[天日周月年期拜][以之]?后$",
    regex.IGNORECASE,
)
_SEASON = r"spring|summer|autumn|fall|winter"

_Match = regex.Match[str]


@dataclass(frozen=True, slots=True)
class Span:
    """From ``since`` to before ``until``, both aware; None leaves that side open, never
    both. ``words`` are those that say so; ``between`` two dates."""

    since: datetime | None
    until: datetime | None
    words: str
    between: bool = False

    def holds(self, moment: datetime) -> bool:
        """Whether a moment lies within."""
        after = self.since is None or self.since <= moment
        return after and (self.until is None or moment < self.until)


def span(query: str, now: datetime) -> Span | None:
    """The time that ``query`` asks about, seen from ``now`` (aware, in the asker's zone);
    None when it names none, or names one without asking."""
    sentence = _asking(query)
    return None if _DESCRIBES.search(sentence) else _in(sentence, now)


def period(text: str, now: datetime) -> Span | None:
    """The time that a statement says to have held, from a year that it names on, or between two:
    from 2019 to 2021, since March 2019. None where it says neither."""
    found = _in(text, now)
    if found is None or found.since is None or not _FULL_YEAR.search(found.words):
        return None
    return found if found.between or found.until is None else None


def _asking(query: str) -> str:
    """The last sentence that asks, "" when none does; the dates of others are only told."""
    width = len(query.strip()) + len(HAN.findall(query))
    if width <= _SHORT and not _TELLS.search(query):
        return query
    whole = [one.whole for one in sentences(query)]
    return next((one for one in reversed(whole) if _ASKS.search(one)), "")


def _in(text: str, now: datetime) -> Span | None:
    text = regex.sub(r",(?=\d{4}\b)", ", ", simplified(text))
    text = _SPELT_YEAR.sub(lambda year: with_digits(year[0]), text)
    try:
        hits = _hits(text, now)
        return _joined(hits, text, now) if hits else None
    except (OverflowError, ValueError):  # a year that no calendar holds
        return None


def _hits(text: str, now: datetime) -> list[DateHit]:
    """The stretches named, in order. What is stated with its year stands for itself; words
    that count from a day ("last week") count from now only where there is no such date."""
    chinese = HAN.search(text) is not None
    hits = named_times(text, now, _AHEAD.search(text) is not None)
    for hit in find_dates(text, now, chinese):
        counted_on = _COUNTED_ON.search(text[hit.start : hit.end])
        if hit.at is None or (counted_on and leans_past(text, chinese)):
            continue
        if not overlaps(hit.start, hit.end, hits):
            hits.append(hit if counted_on else _latest(hit, text, now))
    add_times(hits, text, _MORE, now)
    hits.sort(key=lambda hit: hit.start)
    if any(_BETWEEN.search(text[a.end : b.start]) for a, b in pairwise(hits)):
        return hits
    return [hit for hit in hits if _FULL_YEAR.search(text[hit.start : hit.end])] or hits


def _latest(hit: DateHit, text: str, now: datetime) -> DateHit:
    """A date to come that the question doesn't look ahead to is the one before it."""
    words = text[hit.start : hit.end]
    if hit.at is None or hit.at <= now or _AHEAD.search(text) or _YEAR.search(words):
        return hit
    earlier = _week_before if _WEEKDAY.search(words) else _year_before
    return replace(hit, at=earlier(hit.at), until=hit.until and earlier(hit.until))


def _week_before(moment: datetime) -> datetime:
    return moment - timedelta(days=7)


def _year_before(moment: datetime) -> datetime:
    day = 28 if (moment.month, moment.day) == (2, 29) else moment.day
    return moment.replace(year=moment.year - 1, day=day)


def _whole(hit: DateHit) -> tuple[datetime, datetime]:
    """All of the days that a date touches: what happened at seven was told at nine."""
    if hit.at is None:
        raise ValueError("A date of no certain year spans no time.")
    since = midnight(hit.at)
    until = hit.until or since + timedelta(days=1)
    if until != midnight(until):
        until = midnight(until) + timedelta(days=1)
    return since, until


_BETWEEN = regex.compile(r"^\s*(?:and|to|till|until|through|[-–—~]|到|至|和|与)\s*(?:the )?$")
_SINCE = regex.compile(r"(?:\bsince|自从|自|从)\s*(?:the )?$", regex.IGNORECASE)
_SINCE_ZH = regex.compile(r"^\s*(?:以来|至今|到现在|以后|之后|起|后(?![天来面]))")
_AFTER = regex.compile(r"\bafter\s*(?:the )?$", regex.IGNORECASE)
_WEEK_BEFORE = regex.compile(
    rf"\b(?:(?:(?P<n>{_COUNT})\s(?P<unit>day|week|month|year)s?|the (?P<one>day|week|month|year)"
    r"|last (?P<last>week|weekend)|(?P<day>\w+day)))\s+before\s*(?:the )?$",
    regex.IGNORECASE,
)
_BEFORE = regex.compile(r"\b(?:before|until|till|by|prior to)\s*(?:the )?$", regex.IGNORECASE)
_BEFORE_ZH = regex.compile(r"^\s*(?:以前|之前|前(?![天后面]))")


def _joined(hits: list[DateHit], text: str, now: datetime) -> Span:
    """One range of the first date, as the words beside it bound it."""
    for one, other in pairwise(hits):
        if _BETWEEN.search(text[one.end : other.start]):
            since, until = _whole(one)[0], _whole(other)[1]
            while since >= until:  # "from August 11 to August 15, 2023": its year is the last's
                since = _year_before(since)
            return Span(since, until, text[one.start : other.end].strip(), between=True)
    first = hits[0]
    before, after = text[: first.start], text[first.end :]
    since, until = _whole(first)
    words = text[first.start : first.end].strip()
    if near := _WEEK_BEFORE.search(before):
        unit = (near["unit"] or near["one"] or "week").lower()
        count = _count(near["n"]) if near["n"] else 1
        return Span(
            since - timedelta(days=count * _DAYS[unit]), until, near[0].strip() + " " + words
        )
    if (_SINCE.search(before) or _SINCE_ZH.search(after)) and since <= now:
        return Span(since, None, words)
    if _AFTER.search(before):
        return Span(until, None, words)
    if _BEFORE.search(before) or _BEFORE_ZH.search(after):
        return Span(None, until if regex.search(r"\bby\s*$", before, regex.I) else since, words)
    return Span(since, until, words)


def _count(word: str) -> float:
    word = word.lower()
    if word in _COUNTS:
        return _COUNTS[word]
    return int(word) if word.isascii() else chinese_number(word)


def _month(match: _Match, now: datetime) -> Days:
    return month_span(int(match["year"]), MONTHS[match["month"].lower()], now)


def _year(match: _Match, now: datetime) -> Days:
    year = now.year if match["year"] == "今年" else int(match["year"])
    return month_span(year, 1, now, 12)


def _season(match: _Match, now: datetime) -> Days:
    """A season, of its year where one is given: winter begins in December of it."""
    first = SEASONS[match["season"].lower()]
    year = int(match["year"]) if match["year"] else now.year - (first > now.month)
    return month_span(year, first, now, 3)


def _past(match: _Match, now: datetime) -> Days:
    """The last so many days, weeks or months."""
    return _back(now, _count(match["n"] or "1") * _DAYS[match["unit"].lower()])


def _back(now: datetime, days: float) -> Days:
    """Up to the end of today."""
    return midnight(now - timedelta(days=days)), midnight(now) + timedelta(days=1)


# What questions say beyond the dates of statements.
_MORE: Readings = [
    (regex.compile(rf"\b(?P<month>{MONTH})\.?,? (?P<year>(?:19|20)\d\d)\b", regex.I), _month),
    (regex.compile(rf"\b(?P<season>{_SEASON})(?: of)? (?P<year>(?:19|20)\d\d)\b", regex.I), _season),
    (regex.compile(r"(?P<year>(?:19|20)\d\d)年的?(?P<season>[春夏秋冬])(?!节)[天季]?"), _season),
    (regex.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d|今年)年?(?![\d年月])(?=\D|$)"), _year),
    (regex.compile(rf"\b(?:in|during|over|this) (?:the )?(?P<season>{_SEASON})\b(?P<year>(?!))?", regex.I), _season),
    (regex.compile(rf"\b(?:in|over|during|for)?\s?(?:the |these )?(?:past|last)\s(?:(?P<n>{_COUNT})\s)(?P<unit>day|week|month|year)s\b", regex.I), _past),
    (regex.compile(r"\b(?:in|over|during|for)\s(?:the )?past (?P<n>(?!))?(?P<unit>day|week|month|year)\b", regex.I), _past),
    (regex.compile(rf"(?:过去|最近|近|这|前)(?P<n>{NUMBER_ZH}|几|半)个?(?P<unit>天|周|星期|礼拜|月|年)"), _past),
    (regex.compile(r"最近|近来|近期|这阵子|这段时间|这些天|\b(?:recently|lately|these days)\b", regex.I), lambda _match, now: _back(now, LATELY)),
    (regex.compile(r"几天前|\b(?:the other day|(?:a few|several|some) days ago)\b", regex.I), lambda _match, now: _back(now, A_FEW_DAYS)),
]  # fmt: skip
