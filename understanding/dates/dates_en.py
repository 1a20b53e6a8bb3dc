"""Relative dates in English."""

import calendar
import re
from dataclasses import replace
from datetime import datetime, timedelta

from understanding.dates.date_words import (
    SEASONS,
    YEARLESS,
    DateHit,
    Patterns,
    dated,
    day_of,
    midnight,
    month_span,
    month_text,
    nearest_year,
    offset_of,
    single_day,
    told_past,
    week_of,
    year_text,
)
from understanding.numerals import CARDINALS, MONTH, MONTHS

_NUMBERS_EN = CARDINALS | {"a": 1, "an": 1, "a couple of": 2, "couple of": 2}

_DAY_EN = r"(?:mon|tues?|wednes|wed|thurs?|fri|satur|sat|sun)(?:day)?"

_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS_AROUND = 6

_PARTS = {"morning": ("早上", 8), "afternoon": ("下午", 14)}

_NUM_EN = rf"(?:\d{{1,2}}|{'|'.join(_NUMBERS_EN)})"


def _en_relative_day(match: re.Match[str], said_at: datetime, zh: bool) -> DateHit | None:
    word = match.group(1).lower()
    offset = {"yesterday": -1, "last night": -1, "tomorrow": 1, "tmr": 1, "the day after tomorrow": 2,
              "the day before yesterday": -2}.get(word, 0)  # fmt: skip
    day = midnight(said_at) + timedelta(days=offset)
    if word in {"tonight", "last night", "this evening", "this morning", "this afternoon"}:
        part = word.split()[-1]
        written, hours = _PARTS.get(part, ("晚", 19))
        label = f"{day:%Y-%m-%d}" + (written if zh else f" {part if part in _PARTS else 'evening'}")
        return dated(match, label, (day + timedelta(hours=hours), day + timedelta(days=1)))
    return single_day(day, match, zh=False)


def _en_weekday(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    step = (match.group("step") or "").lower()
    name = re.sub("day$", "", match.group("day").lower())
    index = next(i for i, day in enumerate(calendar.day_name) if day.lower().startswith(name))
    today = midnight(said_at)
    monday = today - timedelta(days=said_at.weekday())
    day = monday + timedelta(days=index)
    past = told_past(match)
    if step == "next":
        day += timedelta(days=7)
    elif step == "last":
        day -= timedelta(days=7 if day >= today else 0)
    elif step == "" and past and day > said_at:
        day -= timedelta(days=7)
    elif not past and day < today:
        day += timedelta(days=7)
    return single_day(day, match, zh=False)


def _en_period(match: re.Match[str], said_at: datetime, zh: bool) -> DateHit | None:
    step = {"next": 1, "last": -1, "this": 0, "this past": -1, "this coming": 0, "coming": 0}[
        re.sub(r"\s+", " ", match.group("step").lower())
    ]
    unit = match.group("unit").lower()
    monday = midnight(said_at) - timedelta(days=said_at.weekday())
    if unit in {"week", "weekend"}:
        hit = week_of(monday + timedelta(weeks=step), match, zh, unit == "weekend")
    elif unit == "month":
        span = month_span(said_at.year, said_at.month + step, said_at)
        hit = dated(match, month_text(span[0], zh), span)
    elif unit == "year":
        year = said_at.year + step
        hit = dated(match, year_text(year, zh), month_span(year, 1, said_at, 12))
    else:
        hit = _en_season(match, unit, step, said_at)
    if (
        hit.text[:3] == "the"
        or zh
        or re.search(
            r"\b(?:in|on|since|until|by|of|from|for|at|around)\s$", match.string[: match.start()]
        )
    ):
        return hit
    return replace(hit, text=f"in {hit.text}")


def _en_season(match: re.Match[str], unit: str, step: int, said_at: datetime) -> DateHit:
    """A season or named month with next/last: the nearest on that side of now."""
    season = SEASONS.get(unit)
    month = season or MONTHS[unit]
    year = said_at.year
    if step < 0 and month >= said_at.month:
        year -= 1
    if step > 0 and month <= said_at.month:
        year += 1
    name = unit if season else calendar.month_name[month]
    return dated(match, f"{name} {year}", month_span(year, month, said_at, 3 if season else 1))


def _en_month_day(match: re.Match[str], said_at: datetime, zh: bool) -> DateHit | None:
    month = MONTHS[match.group("month").lower()]
    day = match.group("day") or None
    year = int(given) if (given := match.group("year")) else None
    past = told_past(match)
    if day is None:
        near = nearest_year(month, said_at.day, said_at, past) if year is None else year
        start, end = month_span(near, month, said_at)
        begin = match.start("count") if "count" in match.groupdict() else match.start("month")
        return DateHit(begin, match.end(), month_text(start, zh), start, end)
    if year is None and YEARLESS.search(match.string):
        written = f"{month}月{int(day)}日" if zh else f"{calendar.month_name[month]} {int(day)}"
        return DateHit(match.start(), match.end(), written)
    near = nearest_year(month, int(day), said_at, past) if year is None else year
    when = day_of(near, month, int(day), said_at)
    return single_day(when, match, zh=False)


def _en_day_of_month(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    """Saturday the 14th: of the months around, the one nearest ahead in which that day is one;
    where the talk is of what was, the one nearest behind."""
    named = match.group("weekday")
    weekday = next((n for n, d in enumerate(_WEEK) if named and named.lower().startswith(d)), None)
    step = -1 if told_past(match) else 1
    for months in range(_MONTHS_AROUND):
        year, month = divmod(said_at.year * 12 + said_at.month - 1 + step * months, 12)
        day = day_of(year, month + 1, int(match.group("day")), said_at)
        apart = (day - said_at).days * step if day else -1
        if day and apart >= -1 and weekday in (None, day.weekday()):
            return single_day(day, match, zh=False)
    return None


def _en_offset(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    word = match.group("n").lower()
    number = int(word) if word.isdigit() else _NUMBERS_EN[word]
    sign = -1 if (match.group("ago") or "").lower() in {"ago", "earlier", "back"} else 1
    hit = offset_of(match, number * sign, match.group("unit").lower(), said_at, zh=False)
    return hit and replace(hit, end=match.end(), exact=False)


def _en_holiday(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    month, day = {"new year's eve": (12, 31), "new year's day": (1, 1), "christmas": (12, 25),
                  "christmas eve": (12, 24), "halloween": (10, 31), "valentine's day": (2, 14)}[
        match.group().lower().replace("’", "'")
    ]  # fmt: skip
    year = said_at.year
    if told_past(match) and (month, day) > (said_at.month, said_at.day):
        year -= 1
    when = day_of(year, month, day, said_at)
    return single_day(when, match, zh=False)


ENGLISH: Patterns = [
    (re.compile(r"\b(the day after tomorrow|the day before yesterday|yesterday|last night|today|tonight|tomorrow|tmr|this (?:morning|afternoon|evening))\b", re.I), _en_relative_day),
    (re.compile(rf"\b(?P<month>{MONTH})\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<year>\d{{4}})\b)?(?!:\d)", re.I), _en_month_day),
    (re.compile(rf"\b(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{MONTH})\b(?:,?\s(?P<year>\d{{4}})\b)?", re.I), _en_month_day),
    (re.compile(rf"\b(?:(?P<weekday>{_DAY_EN}),?\s|(?<=\bon\s))the (?P<day>\d{{1,2}})(?:st|nd|rd|th)\b(?!\s(?:floor|street|avenue|time))", re.I), _en_day_of_month),
    # The month that the talk names beside its own count holds, whatever month the clock shows.
    (re.compile(rf"\b(?P<count>(?:next|last|this)\smonth)\b[,(\s]+(?:in\s|that\sis\s)?(?P<month>{MONTH})(?P<day>)\b(?:\s(?P<year>\d{{4}})\b)?(?!\s?\d)", re.I), _en_month_day),
    (re.compile(rf"\b(?P<step>next|last|this past|this coming|this|coming)\s+(?P<unit>week(?!day)(?:end)?|month|year|spring|summer|fall|autumn|winter|{MONTH})\b(?!s)", re.I), _en_period),
    (re.compile(rf"(?<!every )\b(?:(?P<step>next|last|this)\s+)?(?P<day>{_DAY_EN})\b(?!s\b)(?<!\bsat)(?<!\bsun)(?<!\bwed)", re.I), _en_weekday),
    (re.compile(rf"\b(?:in|by|since|until|till|from|starting|before|after|around|for|late|early|mid)[ -](?P<month>{MONTH})(?P<day>)?\b(?:\s(?P<year>\d{{4}})\b)?(?!\s?\d)", re.I), _en_month_day),
    (re.compile(rf"\b(?P<n>{_NUM_EN})\s(?P<unit>day|week|month|year)s?\s(?P<ago>ago|earlier|from now)\b", re.I), _en_offset),
    (re.compile(rf"\bin\s(?P<n>{_NUM_EN})\s(?P<unit>day|week|month|year)s?(?P<ago>)(?!['\w]|\s+time)\b", re.I), _en_offset),
    (re.compile(r"\b(?:new year['’]s (?:eve|day)|christmas(?: eve)?|halloween|valentine['’]s day)\b", re.I), _en_holiday),
]  # fmt: skip
