"""The stretch of time that a question asks about: 上周, last May, since March, 2023年夏天, at Christmas.

Weeks start on Monday; a day, month, season, feast or quarter without a year is the latest that has
begun, unless the question looks ahead. A date that only describes what is asked for (the one whose
birthday is on 3 May) is no range. Lunar feasts are known from 1900 to 2100.
"""

import calendar
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

import regex
from borax.calendars.lunardate import LunarDate, TermUtils
from dateutil.easter import easter

from understanding.dates.relative_dates import (
    NUMBER_ZH,
    PAST_EN,
    SEASONS,
    YEARS_ZH,
    DateHit,
    find_dates,
    leans_past,
    midnight,
    month_span,
    overlaps,
)
from understanding.lexicon import alternation, relative_times, words
from understanding.numerals import CARDINALS, MONTH, MONTHS, ORDINALS, chinese_number, with_digits
from understanding.sentences import sentences
from understanding.text import HAN, simplified

_Match = regex.Match[str]
# The first moment, and the first one after.
Days = tuple[datetime, datetime]
# Patterns, each with what a match of it means; None for what is no time after all.
Readings = list[tuple[regex.Pattern[str], Callable[..., Days | None]]]


def _lunar(month: int, day: int) -> Callable[[int], date]:
    """A day of the lunar year that begins in a year; ValueError beyond 1900 to 2100."""
    return lambda year: LunarDate(year, month, day).to_solar_date()


def _qingming(year: int) -> date:
    """The fifth solar term."""
    return TermUtils.day_start_from_term(year, "清明")


def _fixed(month: int, day: int) -> Callable[[int], date]:
    return lambda year: date(year, month, day)


def _thanksgiving(year: int) -> date:
    """The fourth Thursday of November (United States Code, title 5, § 6103)."""
    first = date(year, 11, 1)
    return first + timedelta(days=(calendar.THURSDAY - first.weekday()) % 7 + 21)


# The words, the day of a year, and of how many days before and from it on people speak so:
# 春节 from New Year's Eve to the seventh, 国庆 and 五一 for the free days.
_FEASTS: tuple[tuple[str, Callable[[int], date], int, int], ...] = (
    (r"春节|大年(?!纪)|过年(?!期)|chinese new year|lunar new year|spring festival", _lunar(1, 1), 1, 7),
    (r"除夕|大年三十|年三十|年夜", _lunar(1, 1), 1, 0),
    (r"元宵|lantern festival", _lunar(1, 15), 0, 1),
    (r"端午|dragon boat(?: festival)?", _lunar(5, 5), 0, 1),
    (r"中秋|mid-?autumn(?: festival)?|moon festival", _lunar(8, 15), 0, 1),
    (r"七夕", _lunar(7, 7), 0, 1),
    (r"重阳|double ninth(?: festival)?", _lunar(9, 9), 0, 1),
    (r"清明(?!上河图)|qingming(?: festival)?|tomb-?sweeping day", _qingming, 0, 1),
    (r"国庆", _fixed(10, 1), 0, 7),
    (r"五一(?!班)|劳动节", _fixed(5, 1), 0, 5),
    (r"元旦", _fixed(1, 1), 0, 1),
    (r"情人节", _fixed(2, 14), 0, 1),
    (r"儿童节", _fixed(6, 1), 0, 1),
    (r"万圣节", _fixed(10, 31), 0, 1),
    (r"平安夜", _fixed(12, 24), 0, 1),
    (r"圣诞", _fixed(12, 25), 0, 1),
    (r"复活节|easter", easter, 2, 2),
    (r"感恩节|thanksgiving", _thanksgiving, 0, 4),
)  # fmt: skip
# Also a given name: 王国庆, 小中秋.
_SURNAMES = "".join(sorted(words("surnames", "single") - words("surnames", "weak"))) + "小老阿"
_HABIT_ZH = regex.compile(
    r"一般|通常|平时|每年|每次|每逢|习惯|习俗|喜欢|都会|都要|送什么|什么意思|由来|几月"
)
_YEARS = relative_times("year")
_YEAR_ZH = rf"(?:(?P<year>{alternation(YEARS_ZH)}|(?:19|20)\d\d年?)的?)?"
_YEAR_EN = r"(?:,? (?:of |in )?(?P<year_en>(?:19|20)\d\d|last year|this year|next year))?"
_LATE_ZH = r"(?:[节夜]|假期|长假|期间|当天|那天)*"
_MONTH_ZH = r"(?:1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])"
_ORDER = {word: n for word, n in ORDINALS.items() if n <= 4}
_ORDER |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_STEPS = {"上": -1, "last": -1, "previous": -1, "这": 0, "本": 0, "this": 0, "下": 1, "next": 1}

# A feast, quarter or run of months in a year; None where it has none.
_OfYear = Callable[[int], Days | None]


def named_times(text: str, now: datetime, ahead: bool) -> list[DateHit]:
    """The times that ``text`` (Chinese simplified) names, as whole days in the zone of ``now``;
    ``ahead``: it asks for what is to come."""
    found: list[DateHit] = []
    add_times(found, text, _NAMED, now, ahead)
    return found


def add_times(found: list[DateHit], text: str, readings: Readings, *asked: Any) -> None:
    """Adds the times that the readings see in ``text``, in the order in which they are believed,
    each where no other has been found. ``asked`` goes to each reading after the match."""
    for pattern, read in readings:
        for match in pattern.finditer(text):
            if not overlaps(match.start(), match.end(), found) and (span := read(match, *asked)):
                found.append(DateHit(match.start(), match.end(), match[0], *span))


def _of(match: _Match, now: datetime, ahead: bool, of_year: _OfYear) -> Days | None:
    """That of the year given, else the next to end or the latest begun."""
    year = _year_given(match)
    if year:
        return of_year(now.year + _YEARS[year] if year in _YEARS else int(year.rstrip("年")))
    years = [now.year - 1, now.year, now.year + 1]
    for number in years if ahead else reversed(years):
        span = of_year(number)
        if span and (span[1] > now if ahead else span[0] <= now):
            return span
    return None


def _feast(match: _Match, now: datetime, ahead: bool) -> Days | None:
    """The days of the feast that is named; None where a question asks for a custom."""
    if not (ahead or _year_given(match)) and _every_year(match.string):
        return None
    _, day, before, days = next(f for n, f in enumerate(_FEASTS) if match[f"feast{n}"])

    def of_year(year: int) -> Days:
        at = day(year)
        start = midnight(now).replace(year=at.year, month=at.month, day=at.day)
        return start - timedelta(days=before), start + timedelta(days=days)

    return _of(match, now, ahead, of_year)


def _every_year(text: str) -> bool:
    """Whether a question about a feast asks for what is done each time (what they eat at
    Easter), not for one of them."""
    if HAN.search(text):
        return _HABIT_ZH.search(text) is not None
    return PAST_EN.search(text) is None


def _year_given(match: _Match) -> str:
    groups = match.groupdict()
    return (groups.get("year") or groups.get("year_en") or "").lower()


def _quarter(match: _Match, now: datetime, ahead: bool) -> Days | None:
    word = match["n"].lower()
    number = _ORDER.get(word) or chinese_number(word)
    return _of(match, now, ahead, lambda year: month_span(year, 3 * number - 2, now, 3))


def _step_quarter(match: _Match, now: datetime, _ahead: bool) -> Days:
    first = (now.month - 1) // 3 * 3 + 1 + 3 * _STEPS[match["step"].lower()]
    return month_span(now.year, first, now, 3)


def _half(match: _Match, now: datetime, _ahead: bool) -> Days:
    """Half a year away: that month; half a month: the week around that day."""
    words = match[0].lower()
    sign = 1 if words[-1] == "后" or words.startswith("in ") or "now" in words else -1
    if "年" in words or "year" in words:
        return month_span(now.year, now.month + 6 * sign, now)
    day = midnight(now) + timedelta(days=15 * sign)
    return day - timedelta(days=3), day + timedelta(days=4)


def _months(match: _Match, now: datetime, ahead: bool) -> Days | None:
    """From the first of a month to the last of another."""
    first, last = _month_number(match["a"]), _month_number(match["b"])
    groups = match.groupdict()
    from_year = groups.get("from_year")

    def of_year(year: int) -> Days | None:
        begins = int(from_year) if from_year else year - (first > last)
        since, until = month_span(begins, first, now)[0], month_span(year, last, now)[1]
        return (since, until) if since < until else None

    if from_year and not groups.get("year_en"):
        return of_year(int(from_year) + (first > last))
    return _of(match, now, ahead, of_year)


def _month_number(word: str) -> int:
    return MONTHS.get(word.lower()) or chinese_number(word)


_ANY_FEAST = "|".join(f"(?P<feast{n}>{words})" for n, (words, *_) in enumerate(_FEASTS))
# In the order in which they are believed.
_NAMED: Readings = [
    (regex.compile(rf"\b(?:between|from)\s(?P<a>{MONTH})\.?(?:,? (?P<from_year>(?:19|20)\d\d))?\s(?:and|to|until|till|through)\s(?:the end of )?(?P<b>{MONTH})\b(?!\.? \d{{1,2}}(?!\d)){_YEAR_EN}", regex.I), _months),
    (regex.compile(rf"{_YEAR_ZH}(?<![\d年月日个])(?P<a>{_MONTH_ZH})月?份?(?:到|至|-|~|—)(?P<b>{_MONTH_ZH})月份?(?![\d一二三四五六七八九十])"), _months),
    (regex.compile(rf"{_YEAR_ZH}第?(?P<n>[一二三四1-4])季度"), _quarter),
    (regex.compile(rf"{_YEAR_ZH}(?<![\dA-Za-z])Q(?P<n>[1-4])(?![\dA-Za-z]){_YEAR_EN}", regex.I), _quarter),
    (regex.compile(rf"\b(?P<n>{'|'.join(_ORDER)}) quarter\b(?! (?:of the (?!year)|final)){_YEAR_EN}", regex.I), _quarter),
    (regex.compile(r"(?P<step>[上这本下])一?个?季度|\b(?P<step>last|previous|this|next) quarter\b", regex.I), _step_quarter),
    (regex.compile(r"(?<![一二两三四五六七八九十几\d年])半(?:年|个月)[以之]?[前后]|\b(?:half a year|half a month) (?:ago|from now)|\bin half a (?:year|month)\b", regex.I), _half),
    (regex.compile(rf"{_YEAR_ZH}(?<![{_SURNAMES}])(?:{_ANY_FEAST}){_LATE_ZH}(?![哥姐叔伯]){_YEAR_EN}", regex.I), _feast),
]  # fmt: skip


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
