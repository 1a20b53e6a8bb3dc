"""Relative dates in Chinese and English, resolved against the moment they were said.

Weeks start on Monday. A day is written ISO (2024-03-13), a month 2024年5月 / May 2024.
"""

import calendar
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from understanding.lexicon import alternation, mapping, relative_times, rows, words
from understanding.numerals import CARDINALS, MONTH, MONTHS, chinese_number

NUMBER_ZH = r"(?:\d{1,2}|[一二三四五六七八九十两]{1,3})"

PART_ZH = rf"(?:{alternation(mapping('day_parts', 'adds', 'zh'))})"

TIME_ZH = (
    rf"(?P<part>{PART_ZH})?(?P<hour>{NUMBER_ZH})(?:点|[:：](?=\d\d))(?P<half>半|一刻|(?P<minute>\d{{1,2}}|[一二三四五]?十[一二三四五六七八九]?)分?)?"
    r"|(?P<hour12>\d{1,2})(?::(?P<minute12>\d\d))?\s?(?P<ampm>[ap]m)\b"
    rf"|(?P<only>{PART_ZH})(?![你我他她已该])"
)

TIME_EN = (
    r"(?:,?\s*(?:at\s+)?(?P<hour12>\d{1,2})(?:[:.](?P<minute12>\d\d))?\s?(?P<ampm>[ap]\.?m\b\.?)"
    r"|,?\s*at\s+(?P<hour24>\d{1,2}):(?P<minute24>\d\d)|,?\s*at\s+(?P<noon>noon|midnight)"
    r"|\s+(?P<only>morning|afternoon|evening|night))"
)

_CLOCK_ZH, _CLOCK_EN = re.compile(rf"\s?的?(?:{TIME_ZH})", re.I), re.compile(TIME_EN, re.I)

# 的 behind a verb of what is done (买的), or at the end of a clause with a day (搬过来的): 是…的.
PAST_ZH = re.compile(
    r"(?<=[^太不好])了(?![解不得])|过(?!敏|来|去|年|节|生日|期)|刚|上次|当时|的时候|那天"
    r"|[搬买卖做办生辞离签装修骨折识断]的|[来去上下回到完好]的(?=$|[，。！；,.!;吧呢啊吗？?])"
)

FUTURE_ZH = re.compile(
    r"[要会将约该定]|打算|准备|计划|到期|盘算|等|就|再|之前|以前|截止|到时|提醒|deadline", re.I
)

_PAST_FORM = rf"(?:{alternation(words('irregular_pasts'))}|\w+ed)"

PAST_EN = re.compile(rf"\b{_PAST_FORM}\b", re.I)

FUTURE_EN = re.compile(
    r"\b(?:will|'ll|going to|plan\w*|is|are|(?:it|he|she|there)'s|'re|have to|need|due|by|starts?|next)\b",
    re.I,
)

# Which of the two a verb is; a participle behind "is" is of what is to come (is booked for May).
TENSE_EN = re.compile(
    rf"(?:\b(?:is|are|be)\s(?:\w+\s)?{_PAST_FORM}|['’](?:s|re)\s(?:\w+\s)?\w+ed)\b|{FUTURE_EN.pattern}|(?P<past>{PAST_EN.pattern})",
    re.I,
)

YEARLESS = re.compile(r"生日|出生|生在|诞辰|birthday|\bborn\b", re.I)

DAYPART_HOUR = {word: int(adds) for word, adds in mapping("day_parts", "adds", "zh").items()}

# The hour that a part of the day stands for.
PART_HOUR = {word: int(hour) for word, hour in mapping("day_parts", "hour").items()}

YEARS_ZH = relative_times("year", "zh")

# Meteorological seasons of the northern half (WMO): name, first month of three.
SEASONS = {
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
    "春": 3, "夏": 6, "秋": 9, "冬": 12,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DateHit:
    """A date in a text: where it stands, how to write it, and the span of time it means.
    ``until`` is exclusive; ``exact`` when a time of day was given."""

    start: int
    end: int
    text: str
    at: datetime | None = None
    until: datetime | None = None
    exact: bool = False


def overlaps(start: int, end: int, hits: Iterable[DateHit]) -> bool:
    """Whether a stretch of the text has characters in common with one of the hits."""
    return any(start < hit.end and hit.start < end for hit in hits)


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def month_span(
    year: int, month: int, said_at: datetime, months: int = 1
) -> tuple[datetime, datetime]:
    """So many months from the first of this one on; month 13 is January of the next year."""
    start, last = (_first(year, number, said_at) for number in (month, month + months - 1))
    return start, last + timedelta(days=calendar.monthrange(last.year, last.month)[1])


def _first(year: int, month: int, said_at: datetime) -> datetime:
    years, index = divmod(month - 1, 12)
    return midnight(said_at).replace(year=year + years, month=index + 1, day=1)


def month_text(start: datetime, chinese: bool) -> str:
    if chinese:
        return f"{start.year}年{start.month}月"
    return f"{calendar.month_name[start.month]} {start.year}"


def year_text(year: int, chinese: bool) -> str:
    return f"{year}年" if chinese else f"{year}"


def day_of(year: int, month: int, day: int, said_at: datetime) -> datetime | None:
    start, end = month_span(year, month, said_at)
    return start + timedelta(days=day - 1) if 1 <= day <= (end - start).days else None


def clause_around(match: re.Match[str]) -> str:
    """The clause that a date stands in, and an unfinished one before it."""
    text = match.string
    start = max(text.rfind(mark, 0, match.start()) for mark in "，。！；") + 1
    ends = [at for mark in "，。！；" if (at := text.find(mark, match.end())) >= 0]
    return text[start : min(ends, default=len(text))]


def leans_past(text: str, chinese: bool) -> bool:
    past, future = (PAST_ZH, FUTURE_ZH) if chinese else (PAST_EN, FUTURE_EN)
    return bool(past.search(text)) and not future.search(text)


def told_past(match: re.Match[str]) -> bool:
    """Whether the verb of an English date is past: the last one before it (he is a baker and moved
    here in May); where none is, whether all around it leans that way. What holds since then began."""
    if match.group().lower().startswith("since"):
        return True
    before = match.string[: match.start()]
    verbs = [*TENSE_EN.finditer(before[max(map(before.rfind, ".!?")) + 1 :])]
    return verbs[-1]["past"] is not None if verbs else leans_past(match.string, chinese=False)


def nearest_year(month: int, day: int, said_at: datetime, past: bool) -> int:
    """The year that a month and day without one mean: soon to come, or just gone."""
    delta = (month - said_at.month) * 30 + day - said_at.day
    if past:
        return said_at.year - (delta > 15)
    return said_at.year + (delta < -75)


def dated(match: re.Match[str], text: str, span: tuple[datetime, datetime]) -> DateHit:
    """A stretch of time, written as ``text``."""
    return DateHit(match.start(), match.end(), text, *span)


def single_day(day: datetime | None, match: re.Match[str], zh: bool) -> DateHit | None:
    """A day, with the time of day that follows it; None where the month has no such day."""
    if day is None:
        return None
    label = f"{day:%Y-%m-%d}"
    clock = clock_after(match, zh)
    if clock is None:
        return dated(match, label, (day, day + timedelta(days=1)))
    end, offset, suffix, exact = clock
    at = day + offset
    until = at + (timedelta(hours=1) if exact else timedelta(days=1))
    return DateHit(match.start(), end, label + suffix, at, until, exact)


def clock_after(match: re.Match[str], zh: bool) -> tuple[int, timedelta, str, bool] | None:
    """The time that stands right after a day: (end, offset, how to write it, exact)."""
    end, last = match.end(), match.group()[-1]
    carried = last if zh and last in "早晚夜" else ""
    time = (_CLOCK_ZH if zh else _CLOCK_EN).match(match.string, end)
    if time is None:
        if not carried:
            return None
        early = carried == "早"
        return end, timedelta(hours=8 if early else 19), "早上" if early else "晚", False
    groups = time.groupdict()
    if only := groups["only"]:
        hours = timedelta(hours=PART_HOUR[only.lower()])
        return time.end(), hours, only if zh else f" {only}", False
    hour, minute = hour_minute(groups, carried)
    if not 0 <= hour <= 24 or minute > 59:
        return None
    return time.end(), timedelta(hours=hour, minutes=minute), f" {hour:02d}:{minute:02d}", True


def hour_minute(groups: dict[str, str | None], carried: str) -> tuple[int, int]:
    if groups.get("noon"):
        return (12, 0) if (groups["noon"] or "").lower() == "noon" else (0, 0)
    if groups.get("hour12"):
        hour = int(groups["hour12"] or 0) % 12
        return hour + 12 * (groups["ampm"] or "").lower().startswith("p"), int(
            groups["minute12"] or 0
        )
    if groups.get("hour24"):
        return int(groups["hour24"] or 0), int(groups["minute24"] or 0)
    hour = chinese_number(groups.get("hour") or "0")
    part = groups.get("part") or {"晚": "晚上", "夜": "夜里"}.get(carried, "")
    if part and hour < 12 and not (part == "中午" and hour >= 11):
        hour += DAYPART_HOUR.get(part, 0)
    half = groups.get("half") or ""
    minute = {"半": 30, "一刻": 15}.get(half, chinese_number(groups.get("minute") or "0"))
    return hour, minute


def week_of(monday: datetime, match: re.Match[str], zh: bool, weekend: bool) -> DateHit:
    if weekend:
        saturday = monday + timedelta(days=5)
        text = f"{saturday:%Y-%m-%d}的周末" if zh else f"the weekend of {saturday:%Y-%m-%d}"
        return dated(match, text, (saturday, saturday + timedelta(days=2)))
    text = f"{monday:%Y-%m-%d}起的一周" if zh else f"the week of {monday:%Y-%m-%d}"
    return dated(match, text, (monday, monday + timedelta(days=7)))


def offset_of(
    match: re.Match[str], number: int, unit: str, said_at: datetime, zh: bool
) -> DateHit | None:
    """So many units of time from the day of ``said_at`` on."""
    if unit in {"天", "日", "day"}:
        return single_day(midnight(said_at) + timedelta(days=number), match, zh)
    if unit in {"周", "星期", "礼拜", "week"}:
        day = midnight(said_at) + timedelta(weeks=number)
        label = f"{day:%Y-%m-%d}前后" if zh else f"around {day:%Y-%m-%d}"
        return dated(match, label, (day, day + timedelta(days=7)))
    if unit in {"月", "month"}:
        span = month_span(said_at.year, said_at.month + number, said_at)
        label = month_text(span[0], zh)
    else:
        span = month_span(said_at.year + number, 1, said_at, 12)
        label = year_text(span[0].year, zh)
    return dated(match, label if zh else f"in {label}", span)


# A date as a match of its pattern means it, said at a moment, in a Chinese text or not.
Finder = Callable[[re.Match[str], datetime, bool], DateHit | None]
Patterns = list[tuple[re.Pattern[str], Finder]]


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


_WEEKDAYS_ZH = {row["zh"]: int(row["number"]) for row in rows("weekdays")} | {"天": 6, "末": 5}

_DAYS_ZH = relative_times("day", "zh")

_STEPS_ZH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}

_SEASONS_ZH = "春天|夏天|秋天|冬天|春节|暑假|寒假|年初|年底|年中|上半年|下半年|[春夏秋冬]季"

# Parts of a year: words, first month, number of months.
_PARTS_ZH = [
    ("年初", 1, 2), ("春节寒假", 1, 2), ("春天春季", 3, 3), ("年中", 6, 2), ("夏天夏季", 6, 3), ("暑假", 7, 2),
    ("秋天秋季", 9, 3), ("年底", 12, 1), ("冬天冬季", 12, 3), ("上半年", 1, 6), ("下半年", 7, 6),
]  # fmt: skip


def _zh_relative_day(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    day = midnight(said_at) + timedelta(days=_DAYS_ZH[match.group(1)])
    return single_day(day, match, zh=True)


def _zh_weekday(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    step, which = match.group("step"), match.group("day")
    monday = midnight(said_at) - timedelta(days=said_at.weekday())
    if step is None:
        if which is None:
            return None
        if which == "末":
            return week_of(monday, match, True, weekend=True)
        day = monday + timedelta(days=_WEEKDAYS_ZH[which])
        past = leans_past(clause_around(match), chinese=True)
        if past and day > said_at:
            day -= timedelta(days=7)
        elif not past and day < midnight(said_at):
            day += timedelta(days=7)
        return single_day(day, match, zh=True)
    monday += timedelta(days=7 * _STEPS_ZH[step])
    if which is None or which == "末":
        return week_of(monday, match, True, weekend=which == "末")
    return single_day(monday + timedelta(days=_WEEKDAYS_ZH[which]), match, zh=True)


def _zh_step_month(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    month = said_at.month + _STEPS_ZH[match.group("step")]
    if number := match.group("day"):
        day = day_of(said_at.year, month, chinese_number(number), said_at)
        return single_day(day, match, zh=True)
    span = month_span(said_at.year, month, said_at)
    return dated(match, month_text(span[0], True) + (match.group("part") or ""), span)


def _zh_year(match: re.Match[str], said_at: datetime) -> int | None:
    year = match.group("year")
    if not year:
        return None
    return said_at.year + YEARS_ZH[year] if year in YEARS_ZH else int(year.rstrip("年"))


def _zh_month_day(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    month = chinese_number(match.group("month"))
    if not 1 <= month <= 12:
        return None
    year, day = _zh_year(match, said_at), match.group("day") or None
    past = leans_past(clause_around(match), chinese=True)
    if day is None:
        if YEARLESS.search(match.string) and year is None:
            return None
        near = year or nearest_year(month, said_at.day, said_at, past)
        span = month_span(near, month, said_at)
        return dated(match, month_text(span[0], True) + (match.group("part") or ""), span)
    number = chinese_number(day)
    if year is None and YEARLESS.search(match.string):
        return DateHit(match.start(), match.end(), f"{month}月{number}日")
    when = day_of(year or nearest_year(month, number, said_at, past), month, number, said_at)
    if when is None:
        return None
    if match.group("last"):
        last = day_of(when.year, when.month, chinese_number(match.group("last")), said_at)
        if last is not None:
            label = f"{when:%Y-%m-%d}至{last:%Y-%m-%d}"
            return dated(match, label, (when, last + timedelta(days=1)))
    return single_day(when, match, zh=True)


def _zh_year_alone(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    year = _zh_year(match, said_at) or said_at.year
    part = match.group("season") or ""
    first, months = next(((m, n) for words, m, n in _PARTS_ZH if part and part in words), (1, 12))
    label = f"{year}年{part}".replace("年年", "年")
    return dated(match, label, month_span(year, first, said_at, months))


def _zh_offset(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    number = chinese_number(match.group("n"))
    if match.group("unit").endswith("月") and match.group("half"):
        return None
    sign = -1 if "前" in match.group("side") else 1
    return offset_of(match, number * sign, match.group("unit").lstrip("个"), said_at, zh=True)


def _zh_bare_day(match: re.Match[str], said_at: datetime, _zh: bool) -> DateHit | None:
    number = chinese_number(match.group("day"))
    past = leans_past(match.string, chinese=True)
    month = said_at.month
    if number < said_at.day and not past:
        month += 1
    if number > said_at.day and past:
        month -= 1
    return single_day(day_of(said_at.year, month, number, said_at), match, zh=True)


def _iso(match: re.Match[str], said_at: datetime, zh: bool) -> DateHit | None:
    year, month, day = map(int, match.groups())
    return single_day(midnight(said_at).replace(year, month, day), match, zh)


_DAY_NUMBER = rf"(?P<day>{NUMBER_ZH}|[二三]十[一二三四五六七八九]?)\s?"

CHINESE: Patterns = [
    (re.compile(r"(?<!\d)(\d{4})[-/年]\s?(\d{1,2})[-/月]\s?(\d{1,2})[日号]?(?!\d)"), _iso),
    (re.compile(rf"(?P<year>今年|明年|去年|前年|后年|\d{{4}}年)?(?<![个\d])(?P<month>{NUMBER_ZH})\s?月\s?份?的?{_DAY_NUMBER}(?:[日号](?![线楼])|(?=\s?(?:[到至~—-]))|(?=生日|那天|当天|$|[，,的]))(?:\s?[到至~—-]\s?(?P<last>{NUMBER_ZH}|[二三]十[一二三四五六七八九]?)\s?[日号])?(?P<part>)"), _zh_month_day),
    # The month that the talk names beside its own count holds, whatever month the clock shows.
    (re.compile(rf"(?:下|上|这|本)个?月[，,（(]?(?:也就是|就是|即)?(?P<year>)(?P<month>{NUMBER_ZH})月(?:份)?(?P<part>初|底|中旬|上旬|下旬|末)?(?P<day>)(?P<last>)(?!\d)"), _zh_month_day),
    (re.compile(rf"(?P<step>下下|上上|上|下|这|本)个?月(?:{_DAY_NUMBER}[日号]|(?P<part>初|底|中旬|末)?)"), _zh_step_month),
    (re.compile(r"(?<!每)(?<!每个)(?<!以后)(?<!每逢)(?<!一到)(?P<step>下下|上上|上|下|这|本)?个?(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])?(?![年岁边围围期报刊到])"), _zh_weekday),
    (re.compile(rf"({alternation(_DAYS_ZH)})"), _zh_relative_day),
    (re.compile(rf"(?P<year>今年|明年|去年|前年|后年|\d{{4}}年)?(?<![个\d第半几])(?P<month>{NUMBER_ZH})\s?月(?:份)?(?P<part>初|底|中旬|上旬|下旬|末)?(?P<day>)?(?P<last>)?(?![子亮饼嫂光经季票薪租费卡供])"), _zh_month_day),
    (re.compile(r"(?P<n>(?<!\d)\d+|(?<![一二三四五六七八九十两])[一二三四五六七八九十两]+)\s?(?P<unit>天|周|个?星期|个?礼拜|个?月|年)(?P<half>半)?\s?(?P<side>以后|之后|后(?![天面来])|以前|之前|前(?![天面]))"), _zh_offset),
    (re.compile(rf"(?P<year>去年|前年|明年|后年|大前年|今年(?={_SEASONS_ZH})|(?=[上下]半年|年底|年初))(?P<season>{_SEASONS_ZH})?"), _zh_year_alone),
    (re.compile(r"(?<![\d第.])(?P<day>\d{1,2}|[二三]?十[一二三四五六七八九]?)\s?[号日](?![线楼院店码门车栋机])"), _zh_bare_day),
]  # fmt: skip


# What is told of lies within; every calendar calculation can hold it, in every time zone.
_YEARS = range(1000, 3000)
# Letters that patterns take for s, i and k where case doesn't count, and tables don't.
_PLAIN = str.maketrans("ſıİK", "siIK")


def find_dates(text: str, said_at: datetime, chinese: bool) -> list[DateHit]:
    """The dates of ``text``, in order, not overlapping, longest reading first. What no calendar
    holds (3000年前, 9999-12-31, 0000-00-00) is no date, nor is a part of it (12-31)."""
    found: list[DateHit] = []
    void: list[DateHit] = []
    plain = text.translate(_PLAIN)
    for pattern, finder in [*CHINESE, *ENGLISH] if chinese else [*ENGLISH, *CHINESE]:
        for match in pattern.finditer(plain):
            if overlaps(*match.span(), void):
                continue
            try:
                hit = _read(finder, match, said_at, chinese)
            except (OverflowError, ValueError):
                void.append(DateHit(*match.span(), match.group()))
                continue
            if hit is not None and not overlaps(hit.start, hit.end, found):
                found.append(hit)
    return sorted(found, key=lambda hit: hit.start)


def _read(finder: Finder, match: re.Match[str], said_at: datetime, chinese: bool) -> DateHit | None:
    """The date that ``match`` means, if it means any. Raises OverflowError or ValueError where the
    calendar doesn't hold it."""
    hit = finder(match, said_at, chinese)
    for moment in (hit.at, hit.until) if hit else ():
        if moment is not None and moment.year not in _YEARS:
            raise ValueError(moment.year)
    return hit
