"""Relative dates in Chinese."""

import re
from datetime import datetime, timedelta

from understanding.dates.date_words import (
    NUMBER_ZH,
    YEARLESS,
    YEARS_ZH,
    DateHit,
    Patterns,
    clause_around,
    dated,
    day_of,
    leans_past,
    midnight,
    month_span,
    month_text,
    nearest_year,
    offset_of,
    single_day,
    week_of,
)
from understanding.lexicon import alternation, relative_times, rows
from understanding.numerals import chinese_number

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
