"""Important dates: days that come back every year, by the solar or the lunar calendar.

They are values of attributes (``birthday``, ``wedding_anniversary``, any key that ends in ``_day``,
``_birthday`` or ``_anniversary``), read here from what was said. What can mean two days (5/3) is
none. Lunar days are known for the years 1900 to 2100.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from borax.calendars.lunardate import LCalendars, LunarDate

from contacts.attributes import ATTRIBUTES, is_yearly
from contacts.numerals import MONTH, MONTHS, with_digits
from contacts.text import normalise

SOLAR, LUNAR = "solar", "lunar"
YEARS = range(1800, 2201)
LUNAR_YEARS = range(1900, 2101)
# How far ahead the index of keys finds a day, and what the card of a person looks ahead.
NEAR, SOON = timedelta(days=3), timedelta(days=30)

_ASKED = re.compile(r"生日|纪念日|忌日|birthday|\bb-?day\b|anniversar", re.I)
_LUNAR_WORD = re.compile(r"农历|阴历|旧历|\b(?:chinese )?lunar(?: calendar)?\b")
_SOLAR_WORD = re.compile(r"公历|阳历|新历|\bsolar\b")
# Said so only by the lunar calendar: 正月, 腊月, 初三, 廿一, and 八月十五 without 日 or 号.
_LUNAR_SHAPE = re.compile(
    r"[正冬腊]月|月初[一二三四五六七八九十]|[月]廿|闰"
    r"|[一二三四五六七八九十]月[一二三四五六七八九十]+(?![一二三四五六七八九十日号])"
)
_LUNAR_MONTHS = str.maketrans({"正": "一", "冬": "十一", "腊": "十二"})
_TH = r"(?:st|nd|rd|th)?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
        r"--?(?P<month>\d\d)-?(?P<day>\d\d)",
        r"(?:(?P<year>\d{4})\s*年\s*(?:的\s*)?)?(?:(?P<leap>闰)\s*)?(?P<month>\d{1,2})\s*月\s*初?(?P<day>\d{1,2})\s*[日号]?",
        r"(?P<year>\d{4})\s*[/.-]\s*(?P<month>\d{1,2})\s*[/.-]\s*(?P<day>\d{1,2})",
        r"(?P<month>\d{1,2})(?P<bare>[/.-])(?P<day>\d{1,2})",
        rf"\b(?P<name>{MONTH})\.?,? (?:the )?(?P<day>\d{{1,2}}){_TH}\b(?:,? (?:of )?(?:in )?(?P<year>\d{{4}})\b)?",
        rf"\b(?P<day>\d{{1,2}}){_TH}(?: day)?(?: of)? (?P<name>{MONTH})\b\.?(?:,? (?:of )?(?P<year>\d{{4}})\b)?",
        r"(?P<leap>leap )?month (?P<month>\d{1,2}),? day (?P<day>\d{1,2})(?:,? (?P<year>\d{4})\b)?",
        rf"\b(?P<day>\d{{1,2}}){_TH}(?: day)? of the (?P<leap>leap )?(?P<month>\d{{1,2}}){_TH}(?: month)?(?:,? (?P<year>\d{{4}})\b)?",
    )
)
_DIGIT = re.compile(r"\d")
_ZH_DIGITS = "一二三四五六七八九十"


@dataclass(frozen=True, slots=True)
class YearlyDay:
    """``leap``: of the leap month of that number. Without a year, the year isn't known."""

    month: int
    day: int
    year: int | None = None
    calendar: str = SOLAR
    leap: bool = False

    @property
    def key(self) -> str:
        """What two days that fall together have in common: ``05-03``, ``lunar-08-15``."""
        return f"{'' if self.calendar == SOLAR else 'lunar-'}{self.month:02}-{self.day:02}"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """When a day comes next, and the years since the first one, if its year is known."""

    on: date
    years: int | None


def made(
    month: int,
    day: int,
    year: int | None = None,
    calendar: str = SOLAR,
    *,
    leap: bool = False,
) -> YearlyDay | None:
    """The day, or None where no calendar has it (30 February, a 13th month)."""
    if calendar == LUNAR:
        holds = 1 <= month <= 12 and 1 <= day <= 30
    else:
        holds, leap = _holds(year or 2000, month, day), False
    if not holds or (year is not None and year not in YEARS):
        return None
    return YearlyDay(month, day, year, calendar, leap)


def _holds(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=4096)
def read(value: str) -> YearlyDay | None:
    """The day that a value says, in either language, or None where it is not exactly one."""
    said = normalise(value)
    lunar = bool(_LUNAR_WORD.search(said) or _LUNAR_SHAPE.search(said))
    if _SOLAR_WORD.search(said):
        lunar = False
    text = with_digits(_SOLAR_WORD.sub(" ", _LUNAR_WORD.sub(" ", said)).translate(_LUNAR_MONTHS))
    text = " ".join(text.split())
    for form in _FORMS:
        found = form.search(text)
        if found is None or _DIGIT.search(text[: found.start()] + text[found.end() :]):
            continue
        parts = found.groupdict()
        month = MONTHS[parts["name"]] if parts.get("name") else int(parts["month"])
        day = int(parts["day"])
        if parts.get("bare") in ("/", ".") and not lunar and month != day and max(month, day) <= 12:
            return None  # 5/3 is a day in May or in March
        year = int(parts["year"]) if parts.get("year") else None
        calendar = LUNAR if lunar else SOLAR
        return made(month, day, year, calendar, leap=bool(parts.get("leap")))
    return None


def text(day: YearlyDay, language: str) -> str:
    """The value of a day as it is stored and shown; ``read`` gives the day back."""
    if language == "zh":
        year = f"{day.year}年" if day.year else ""
        if day.calendar == SOLAR:
            return f"{year}{day.month}月{day.day}日"
        leap = "闰" if day.leap else ""
        return f"{year}农历{leap}{_month_zh(day.month)}月{_day_zh(day.day)}"
    year = f", {day.year}" if day.year else ""
    if day.calendar == SOLAR:
        return f"{_MONTH_NAMES[day.month]} {day.day}{year}"
    return f"lunar {'leap ' if day.leap else ''}month {day.month}, day {day.day}{year}"


_MONTH_NAMES = {number: name.title() for name, number in reversed(MONTHS.items())}


def _month_zh(month: int) -> str:
    return "正二三四五六七八九十冬腊"[month - 1]


def _day_zh(day: int) -> str:
    if day <= 10:
        return "初" + _ZH_DIGITS[day - 1]
    if day in (20, 30):
        return "二十" if day == 20 else "三十"
    return ("十" if day < 20 else "廿") + _ZH_DIGITS[day % 10 - 1]


def next_on(day: YearlyDay, today: date) -> Occurrence | None:
    """When a day comes next, today included. 29 February is kept on the 28th where a year has
    none, a lunar 30th on the 29th where its month has none, and a day of a leap month in the
    ordinary month of that number where a year has no such leap month. None out of the years
    that are known."""
    begins = _lunar_year(today) if day.calendar == LUNAR else today.year
    for year in (begins, begins + 1):
        on = falls_on(day, year)
        if on is not None and on >= today:
            years = year - day.year if day.year is not None else None
            return Occurrence(on, years if years is None or years > 0 else None)
    return None


def falls_on(day: YearlyDay, year: int) -> date | None:
    """The date of a day in a year of its calendar; None out of the years that are known."""
    if day.calendar == SOLAR:
        missing = (day.month, day.day) == (2, 29) and not _holds(year, 2, 29)
        return date(year, day.month, 28 if missing else day.day)
    if year not in LUNAR_YEARS:
        return None
    leap = int(day.leap and LCalendars.leap_month(year) == day.month)
    last = LCalendars.ndays(year, day.month, leap)
    found: date = LunarDate(year, day.month, min(day.day, last), leap).to_solar_date()
    return found


def _lunar_year(today: date) -> int:
    try:
        return int(LunarDate.from_solar_date(today.year, today.month, today.day).year)
    except ValueError:
        return today.year


def of_attributes(attributes: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """The important dates among a contact's attributes: their key, and the current value."""
    for key, values in attributes.items():
        if values and is_yearly(key) and read(str(values[0]["value"])) is not None:
            yield key, str(values[0]["value"])


def day_key(kind: str) -> str:
    """A kind in an attribute's form as the key of an important date: ``gotcha`` becomes
    ``gotcha_day``."""
    return kind if is_yearly(kind) or kind in ATTRIBUTES else f"{kind}_day"


def asked_for(message: str) -> bool:
    """Whether a message speaks of days of this kind."""
    return _ASKED.search(message) is not None


def keys_within(today: date, span: timedelta) -> list[str]:
    """The keys of all days that are kept from ``today`` on for so long."""
    keys = set()
    for ahead in range(span.days + 1):
        at = today + timedelta(days=ahead)
        keys.add(f"{at.month:02}-{at.day:02}")
        if (at.month, at.day) == (2, 28) and not _holds(at.year, 2, 29):
            keys.add("02-29")
        if at.year in LUNAR_YEARS:
            there = LunarDate.from_solar_date(at.year, at.month, at.day)
            keys.add(f"lunar-{there.month:02}-{there.day:02}")
            if there.day == 29:
                keys.add(f"lunar-{there.month:02}-30")
    return sorted(keys)


def date_text(on: date, today: date, language: str) -> str:
    """A date without its year, if that is this one's: ``November 23``, ``2027年1月3日``."""
    year = None if on.year == today.year else on.year
    return text(YearlyDay(on.month, on.day, year), language)
