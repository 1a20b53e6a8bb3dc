"""What both languages of dates share: spans of time, clocks, how a date is written."""

import calendar
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from understanding.lexicon import alternation, mapping, relative_times, words
from understanding.numerals import chinese_number

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
