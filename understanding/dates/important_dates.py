"""Important dates: days that recur every year, by the solar or the lunar calendar.

They are values of attributes (``birthday``, ``wedding_anniversary``, any key that ends in ``_day``,
``_birthday`` or ``_anniversary``), read here. What can mean two days (5/3) is read as none, so no
library of dates is used: each chooses one. Lunar days are known for 1900 to 2100."""

import calendar
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from borax.calendars.lunardate import LCalendars, LunarDate, TextUtils

from understanding.attributes import ATTRIBUTES, LONGEST_KEY, is_yearly
from understanding.dates.relative_dates import groups_of
from understanding.lexicon import alternation, finder, words
from understanding.numerals import MONTH, MONTHS, with_digits
from understanding.text import normalise

SOLAR, LUNAR = "solar", "lunar"
YEARS = range(1800, 2201)
LUNAR_YEARS = range(1900, 2101)
NEAR, SOON = timedelta(days=3), timedelta(days=30)  # how far ahead the key index and cards look

_CALENDAR = re.compile(
    r"(?<![a-z])(?:(?P<lunar>{})|(?P<solar>{}))".format(
        *(alternation(words("yearly_days", group)) for group in ("lunar", "solar"))
    )
)
# Only lunar days are written so: 闰四月, 腊月, 初三, 廿一, and 八月十五 without 日 or 号.
_N = "一二三四五六七八九十"
_WRITTEN_LUNAR = re.compile(rf"闰|[正冬腊]月|月[初廿]|[{_N}]月[{_N}]+(?![{_N}日号])")
_LUNAR_MONTHS = str.maketrans({"正": "一", "冬": "十一", "腊": "十二"})

# English months and days are written as Chinese ones are: May as 5月, the 15th day as the 15日.
_ENGLISH = re.compile(
    rf"\b(?P<name>{MONTH})\b\.?|\b(?P<unit>month|day) (?P<n>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"|\b(?P<n_>\d{1,2})(?:st|nd|rd|th)? (?P<unit_>month|day)\b|(?<=\d)(?:st|nd|rd|th)\b"
)
_SIGNS = {"month": "月", "day": "日"}
# The resulting forms of one day of the year; ``late`` is its year, after the day.
_FORM = re.compile(
    r"(?<!\d)(?:(?:(?P<year>\d{4})|--)(?P<month>\d\d)-?(?P<day>\d\d)"
    r"|(?:(?P<year_>\d{4}) ?[/.-] ?)?(?P<month_>\d{1,2}) ?(?P<sign>[/.-]) ?(?P<day_>\d{1,2})"
    r"(?: ?[/.-] ?(?P<late>\d{4}))?"
    r"|(?:(?P<year__>\d{4}) ?年 ?(?:的 ?)?)?(?P<leap>闰 ?|leap )?(?P<month__>\d{1,2}) ?月,? ?(?:the )?初?"
    r"(?P<day__>\d{1,2})(?!\d)(?: ?[日号])?(?:,? (?:of |in )?(?P<late_>\d{4}))?"
    r"|(?P<day___>\d{1,2})日?(?: of)?(?: the)? (?P<leap_>leap )?(?P<month___>\d{1,2})月"
    r"(?:,? (?:of |in )?(?P<late__>\d{4}))?)(?!\d)"
)


@dataclass(frozen=True, slots=True)
class YearlyDay:
    """A day of every year, with the ``year`` of the first if known; ``leap``: in a leap month."""

    month: int
    day: int
    year: int | None = None
    calendar: str = SOLAR
    leap: bool = False

    @property
    def key(self) -> str:
        """The lookup key that all days on this date have: ``05-03``, ``lunar-08-15``."""
        return f"{'' if self.calendar == SOLAR else 'lunar-'}{self.month:02}-{self.day:02}"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """The next date of a day, and the years since the first one, if its year is known."""

    on: date
    years: int | None


def yearly_day(
    month: int, day: int, year: int | None = None, calendar: str = SOLAR, *, leap: bool = False
) -> YearlyDay | None:
    """Returns the day, or None if no calendar has it (30 February, a 13th month)."""
    if calendar == LUNAR:
        is_valid = 1 <= month <= 12 and 1 <= day <= 30
    else:
        is_valid, leap = _is_date(year or 2000, month, day), False
    if not is_valid or (year is not None and year not in YEARS):
        return None
    return YearlyDay(month, day, year, calendar, leap)


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=4096)
def read(value: str) -> YearlyDay | None:
    """Returns the day that a value states, in either language, or None if it is not exactly one."""
    norm = normalise(value)
    calendars = {match.lastgroup for match in _CALENDAR.finditer(norm)}
    lunar = "solar" not in calendars and ("lunar" in calendars or bool(_WRITTEN_LUNAR.search(norm)))
    plain = _with_signs(norm)
    match = _FORM.search(plain)
    if match is None or any(map(str.isdigit, plain[: match.start()] + plain[match.end() :])):
        return None
    parts = groups_of(match)
    month, day = int(parts["month"]), int(parts["day"])
    either_way = parts.get("sign") in ("/", ".") or ("sign" in parts and "late" in parts)
    if either_way and "year" not in parts and not lunar:
        if month != day and max(month, day) <= 12:
            return None  # 5/3 is a day in May or in March
        month, day = sorted((month, day))
    year = parts.get("year") or parts.get("late")
    kind = LUNAR if lunar else SOLAR
    return yearly_day(month, day, int(year) if year else None, kind, leap="leap" in parts)


def _with_signs(norm: str) -> str:
    """The text without names of calendars, with numbers in digits, months and days as 月 and 日."""
    text = _CALENDAR.sub(" ", norm).translate(_LUNAR_MONTHS)
    return _ENGLISH.sub(_in_signs, " ".join(with_digits(text).split()))


def _in_signs(english: re.Match[str]) -> str:
    """Replaces English months and days: May by 5月, the 15th day by 15日."""
    parts = groups_of(english)
    if "name" in parts:
        return f"{MONTHS[parts['name']]}月"
    return f"{parts['n']}{_SIGNS[parts['unit']]}" if "n" in parts else ""


def text(day: YearlyDay, language: str) -> str:
    """Returns a day as it is stored and shown; ``read`` reads it back."""
    if language == "zh":
        year = f"{day.year}年" if day.year else ""
        if day.calendar == SOLAR:
            return f"{year}{day.month}月{day.day}日"
        month, leap = TextUtils.month_cn(day.month), "闰" if day.leap else ""
        return f"{year}农历{leap}{month}月{TextUtils.day_cn(day.day)}"
    year = f", {day.year}" if day.year else ""
    if day.calendar == SOLAR:
        return f"{calendar.month_name[day.month]} {day.day}{year}"
    return f"lunar {'leap ' if day.leap else ''}month {day.month}, day {day.day}{year}"


def next_on(day: YearlyDay, today: date) -> Occurrence | None:
    """Returns the next date of a day, today included; None outside the known years. 29 February is
    the 28th in a year without one, a lunar 30th the 29th if its month has none, and a day of a leap
    month is in the ordinary month of that number if the year has no such leap month."""
    begins = _lunar_year(today) if day.calendar == LUNAR else today.year
    for year in (begins, begins + 1):
        on = falls_on(day, year)
        if on is not None and on >= today:
            years = year - day.year if day.year is not None else None
            return Occurrence(on, years if years is None or years > 0 else None)
    return None


def falls_on(day: YearlyDay, year: int) -> date | None:
    """Returns the date of a day in a year of its calendar; None outside the known years."""
    if day.calendar == SOLAR:
        missing = (day.month, day.day) == (2, 29) and not _is_date(year, 2, 29)
        return date(year, day.month, 28 if missing else day.day)
    if year not in LUNAR_YEARS:
        return None
    leap = int(day.leap and LCalendars.leap_month(year) == day.month)
    last = LCalendars.ndays(year, day.month, leap)
    solar: date = LunarDate(year, day.month, min(day.day, last), leap).to_solar_date()
    return solar


def _lunar_year(today: date) -> int:
    """The lunar year of a day, or its solar year outside the known ones."""
    try:
        return int(LunarDate.from_solar_date(today.year, today.month, today.day).year)
    except ValueError:
        return today.year


def of_attributes(attributes: Mapping[str, Any]) -> Iterator[tuple[str, str, YearlyDay]]:
    """Yields the important dates among a contact's attributes: key, current value, and the day."""
    for key, values in attributes.items():
        if values and is_yearly(key):
            value = str(values[0]["value"])
            if (day := read(value)) is not None:
                yield key, value, day


def day_key(kind: str) -> str:
    """Returns the attribute key for a kind of important date: ``gotcha_day`` for ``gotcha``."""
    if is_yearly(kind) or kind in ATTRIBUTES:
        return kind
    return f"{kind[: LONGEST_KEY - len('_day')]}_day"


def days_that_matter(message: str, today: date) -> tuple[timedelta, list[str]]:
    """Returns how far ahead of ``today`` an important date matters to a message (farther if it is
    about such days), and the keys of all days until then."""
    span = SOON if finder("yearly_days", "spoken_of")(normalise(message)) else NEAR
    return span, _keys_within(today, span)


def _keys_within(today: date, span: timedelta) -> list[str]:
    """The keys of all days that fall within ``span`` from ``today`` on."""
    keys = set()
    for ahead in range(span.days + 1):
        day = today + timedelta(days=ahead)
        keys.add(f"{day.month:02}-{day.day:02}")
        if (day.month, day.day) == (2, 28) and not _is_date(day.year, 2, 29):
            keys.add("02-29")
        if day.year in LUNAR_YEARS:
            lunar = LunarDate.from_solar_date(day.year, day.month, day.day)
            keys.add(f"lunar-{lunar.month:02}-{lunar.day:02}")
            if lunar.day == 29:
                keys.add(f"lunar-{lunar.month:02}-30")
    return sorted(keys)


def date_text(on: date, today: date, language: str) -> str:
    """Returns a date, without its year if that is this one's: ``November 23``, ``2027年1月3日``."""
    year = None if on.year == today.year else on.year
    return text(YearlyDay(on.month, on.day, year), language)
