"""Times that go by a name: feasts, quarters, half a year ago, from March to May.

Without a year each is the latest that has begun, or the next to end where the question looks
ahead; lunar feasts are known from 1900 to 2100.
"""

import calendar
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import regex
from borax.calendars.lunardate import LunarDate, TermUtils
from dateutil.easter import easter

from understanding.dates.date_words import (
    PAST_EN,
    YEARS_ZH,
    DateHit,
    midnight,
    month_span,
    overlaps,
)
from understanding.lexicon import alternation, relative_times, words
from understanding.numerals import MONTH, MONTHS, ORDINALS, chinese_number
from understanding.text import HAN

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
    first, last = _month(match["a"]), _month(match["b"])
    groups = match.groupdict()
    from_year = groups.get("from_year")

    def of_year(year: int) -> Days | None:
        begins = int(from_year) if from_year else year - (first > last)
        since, until = month_span(begins, first, now)[0], month_span(year, last, now)[1]
        return (since, until) if since < until else None

    if from_year and not groups.get("year_en"):
        return of_year(int(from_year) + (first > last))
    return _of(match, now, ahead, of_year)


def _month(word: str) -> int:
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
