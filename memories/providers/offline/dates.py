"""Relative dates in Chinese and English, resolved against the moment they were said.

Weeks start on Monday. A day is written ISO (2024-03-13), a month 2024年5月 / May 2024.
"""

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

_ZH_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_N = r"(?:\d{1,2}|[一二三四五六七八九十两]{1,3})"
_WEEKDAYS_ZH = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "末": 5}
_DAYS_ZH = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "今天": 0,
    "今日": 0, "今早": 0, "今晚": 0, "今儿": 0, "明天": 1, "明日": 1, "明早": 1, "明晚": 1, "明儿": 1,
    "大后天": 3, "后天": 2,
}  # fmt: skip
_STEPS_ZH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_YEARS_ZH = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_SEASONS_ZH = "春天|夏天|秋天|冬天|春节|暑假|寒假|年初|年底|年中|上半年|下半年|[春夏秋冬]季"
_PART_ZH = r"(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|早|晚)"
_TIME_ZH = (
    rf"(?P<part>{_PART_ZH})?(?P<hour>{_N})(?:点|[:：](?=\d\d))(?P<half>半|一刻|(?P<minute>\d{{1,2}}|[一二三四五]?十[一二三四五六七八九]?)分?)?"
    r"|(?P<hour12>\d{1,2})(?::(?P<minute12>\d\d))?\s?(?P<ampm>[ap]m)\b"
    rf"|(?P<only>{_PART_ZH})(?![你我他她已该])"
)

_MONTH_NAMES = [name.lower() for name in calendar.month_name[1:]]
_MONTHS_EN = {name: index + 1 for index, name in enumerate(_MONTH_NAMES)}
_MONTHS_EN |= {name[:3]: month for name, month in _MONTHS_EN.items()} | {"sept": 9}
_WEEKDAYS_EN = {name.lower(): index for index, name in enumerate(calendar.day_name)}
_WEEKDAYS_EN |= {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thurs": 3, "fri": 4, "sat": 5}
_NUMBERS_EN = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "a couple of": 2, "couple of": 2,
}  # fmt: skip
_MONTH_EN = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DAY_EN = r"(?:mon|tues?|wednes|wed|thurs?|fri|satur|sat|sun)(?:day)?"
_NUM_EN = (
    r"(?:\d{1,2}|a couple of|couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
)
_TIME_EN = (
    r"(?:,?\s*(?:at\s+)?(?P<hour12>\d{1,2})(?:[:.](?P<minute12>\d\d))?\s?(?P<ampm>[ap]\.?m\b\.?)"
    r"|,?\s*at\s+(?P<hour24>\d{1,2}):(?P<minute24>\d\d)|,?\s*at\s+(?P<noon>noon|midnight)"
    r"|\s+(?P<only>morning|afternoon|evening|night))"
)
_PAST_ZH = re.compile(r"[去来搬买做见吃看加办生离入结分考升换到回完过得发送]了|过(?!敏|来|去|年|节|生日|期)|刚|上次|当时|的时候|那天")
_FUTURE_ZH = re.compile(r"[要会将约定]|打算|准备|计划|到期|盘算|等|就|再|之前|以前|截止|到时|提醒|deadline", re.I)
_PAST_EN = re.compile(r"\b(?:was|were|did|had|went|got|came|met|saw|made|told|said|\w+ed)\b", re.I)
_FUTURE_EN = re.compile(
    r"\b(?:will|'ll|going to|plan\w*|is|are|(?:it|he|she|there)'s|'re|have to|need|due|by|starts?|next)\b", re.I
)
_YEARLESS = re.compile(r"生日|出生|生在|诞辰|birthday|\bborn\b", re.I)
_DAYPART_HOUR = {
    "凌晨": 0, "清晨": 0, "早上": 0, "早晨": 0, "上午": 0, "早": 0, "中午": 12, "下午": 12, "傍晚": 12,
    "晚上": 12, "晚": 12, "夜里": 12,
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


def chinese_number(text: str) -> int:
    """十二 → 12, 两 → 2, 28 → 28."""
    if text.isdigit():
        return int(text)
    if "百" in text:
        head, _, tail = text.partition("百")
        return _ZH_DIGITS.get(head, 1) * 100 + (chinese_number(tail.lstrip("零")) if tail else 0)
    if "十" in text:
        head, _, tail = text.partition("十")
        return (_ZH_DIGITS[head] if head else 1) * 10 + (_ZH_DIGITS[tail] if tail else 0)
    value = 0
    for char in text:
        value = value * 10 + _ZH_DIGITS[char]
    return value


def find_dates(text: str, said_at: datetime, chinese: bool) -> list[DateHit]:
    """The dates of ``text``, in order, not overlapping, longest reading first."""
    found: list[DateHit] = []
    finders = (_chinese_dates, _english_dates) if chinese else (_english_dates, _chinese_dates)
    for finder in finders:
        for hit in finder(text, said_at, chinese):
            if all(hit.end <= other.start or hit.start >= other.end for other in found):
                found.append(hit)
    return sorted(found, key=lambda hit: hit.start)


def write_dates(text: str, said_at: datetime, chinese: bool) -> str:
    """``text`` with every relative date written out as an absolute one."""
    for hit in reversed(find_dates(text, said_at, chinese)):
        before, after = text[: hit.start], text[hit.end :]
        if hit.text.isascii() and not chinese:
            if re.match(r"\d{4}|the ", hit.text) and re.search(r"\b(?:on|in|at|this)\s$", before):
                before = re.sub(r"\bthis\s$", "", before)
            elif hit.text[:1].isdigit() and before.endswith(" ") and hit.exact is False:
                before += _preposition(before, hit)
        text = before + hit.text + after
    return text


def _preposition(before: str, hit: DateHit) -> str:
    """ "moved yesterday" needs "on" before an ISO day; a day that follows one does not."""
    if re.search(
        r"\b(?:on|by|until|till|since|from|before|after|to|is|was|for|of|and|the|around|at|starts?|starting)\s$",
        before,
        re.I,
    ):
        return ""
    return "on " if re.fullmatch(r"\d{4}-\d\d-\d\d.*", hit.text) else ""


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _month_span(year: int, month: int, said_at: datetime) -> tuple[datetime, datetime]:
    years, index = divmod(month - 1, 12)
    start = _midnight(said_at).replace(year=year + years, month=index + 1, day=1)
    days = calendar.monthrange(start.year, start.month)[1]
    return start, start + timedelta(days=days)


def _month_text(start: datetime, chinese: bool) -> str:
    if chinese:
        return f"{start.year}年{start.month}月"
    return f"{calendar.month_name[start.month]} {start.year}"


def _day(year: int, month: int, day: int, said_at: datetime) -> datetime | None:
    start, end = _month_span(year, month, said_at)
    return start + timedelta(days=day - 1) if 1 <= day <= (end - start).days else None


def _leans_past(text: str, chinese: bool) -> bool:
    past, future = (_PAST_ZH, _FUTURE_ZH) if chinese else (_PAST_EN, _FUTURE_EN)
    return bool(past.search(text)) and not future.search(text)


def _nearest_year(month: int, day: int, said_at: datetime, past: bool) -> int:
    """The year that a month and day without one mean: soon to come, or just gone."""
    delta = (month - said_at.month) * 30 + day - said_at.day
    if past:
        return said_at.year - (delta > 15)
    return said_at.year + (delta < -75)


def _single_day(day: datetime, match: re.Match[str], text: str, zh: bool) -> DateHit:
    """A day, with the time of day that follows it."""
    end, at, label, exact = match.end(), day, f"{day:%Y-%m-%d}", False
    clock = _clock(text, end, match, zh)
    if clock is not None:
        end, at, suffix, exact = clock[0], day + clock[1], clock[2], clock[3]
        label += suffix
    until = at + (timedelta(hours=1) if exact else timedelta(days=1))
    return DateHit(match.start(), end, label, at, until, exact)


def _clock(
    text: str, end: int, match: re.Match[str], zh: bool
) -> tuple[int, timedelta, str, bool] | None:
    """The time that stands right after a day: (end, offset, how to write it, exact)."""
    carried = match.group()[-1] if zh and match.group()[-1] in "早晚夜" else ""
    pattern = rf"\s?的?(?:{_TIME_ZH})" if zh else _TIME_EN
    time = re.compile(pattern, re.I).match(text, end)
    if time is None:
        if not carried:
            return None
        return (
            end,
            timedelta(hours=8 if carried == "早" else 19),
            {"早": "早上"}.get(carried, "晚"),
            False,
        )
    groups = time.groupdict()
    only = groups.get("only")
    if only:
        written = (" " + only) if not zh else only
        hours = {"早": 8, "上": 9, "清": 7, "中": 12, "下": 15, "傍": 18, "晚": 19, "夜": 21}
        english = {"morning": 9, "afternoon": 15, "evening": 19, "night": 20}
        offset = english.get(only.lower(), hours.get(only[0], 0))
        return time.end(), timedelta(hours=offset), written, False
    hour, minute = _hour_minute(groups, carried)
    if not 0 <= hour <= 24 or minute > 59:
        return None
    return time.end(), timedelta(hours=hour, minutes=minute), f" {hour:02d}:{minute:02d}", True


def _hour_minute(groups: dict[str, str | None], carried: str) -> tuple[int, int]:
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
        hour += _DAYPART_HOUR.get(part, 0)
    half = groups.get("half") or ""
    minute = {"半": 30, "一刻": 15}.get(half, chinese_number(groups.get("minute") or "0"))
    return hour, minute


def _ranged(match: re.Match[str], start: datetime, last: datetime, text: str) -> DateHit:
    return DateHit(match.start(), match.end(), text, start, last + timedelta(days=1))


def _week(monday: datetime, match: re.Match[str], zh: bool, weekend: bool) -> DateHit:
    if weekend:
        saturday = monday + timedelta(days=5)
        text = f"{saturday:%Y-%m-%d}的周末" if zh else f"the weekend of {saturday:%Y-%m-%d}"
        return DateHit(match.start(), match.end(), text, saturday, saturday + timedelta(days=2))
    text = f"{monday:%Y-%m-%d}起的一周" if zh else f"the week of {monday:%Y-%m-%d}"
    return DateHit(match.start(), match.end(), text, monday, monday + timedelta(days=7))


Finder = Callable[[re.Match[str], str, datetime, bool], DateHit | None]


def _zh_relative_day(
    match: re.Match[str], text: str, said_at: datetime, zh: bool
) -> DateHit | None:
    day = _midnight(said_at) + timedelta(days=_DAYS_ZH[match.group(1)])
    return _single_day(day, match, text, zh=True)


def _zh_weekday(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    step, which = match.group("step"), match.group("day")
    monday = _midnight(said_at) - timedelta(days=said_at.weekday())
    if step is None and which is None:
        return None
    if step is None:
        if which == "末":
            return _week(monday, match, True, weekend=True)
        day = monday + timedelta(days=_WEEKDAYS_ZH[which])
        past = _leans_past(text, chinese=True)
        if past and day > said_at:
            day -= timedelta(days=7)
        elif not past and day < _midnight(said_at):
            day += timedelta(days=7)
        return _single_day(day, match, text, zh=True)
    monday += timedelta(days=7 * _STEPS_ZH[step])
    if which is None or which == "末":
        return _week(monday, match, True, weekend=which == "末")
    return _single_day(monday + timedelta(days=_WEEKDAYS_ZH[which]), match, text, zh=True)


def _zh_step_month(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    month = said_at.month + _STEPS_ZH[match.group("step")]
    start, end = _month_span(said_at.year, month, said_at)
    if match.group("day"):
        day = _day(start.year, start.month, chinese_number(match.group("day")), said_at)
        return _single_day(day, match, text, zh=True) if day else None
    suffix = match.group("part") or ""
    return DateHit(match.start(), match.end(), _month_text(start, True) + suffix, start, end)


def _zh_year(match: re.Match[str], text: str, said_at: datetime) -> int | None:
    year = match.group("year")
    if not year:
        return None
    return said_at.year + _YEARS_ZH[year] if year in _YEARS_ZH else int(year.rstrip("年"))


def _zh_month_day(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    month = chinese_number(match.group("month"))
    if not 1 <= month <= 12:
        return None
    year, day = _zh_year(match, text, said_at), match.group("day") or None
    past = _leans_past(text, chinese=True)
    if day is None:
        if _YEARLESS.search(text) and year is None:
            return None
        near = year or _nearest_year(month, said_at.day, said_at, past)
        start, end = _month_span(near, month, said_at)
        label = _month_text(start, True) + (match.group("part") or "")
        return DateHit(match.start(), match.end(), label, start, end)
    number = chinese_number(day)
    if year is None and _YEARLESS.search(text):
        return DateHit(match.start(), match.end(), f"{month}月{number}日")
    when = _day(year or _nearest_year(month, number, said_at, past), month, number, said_at)
    if when is None:
        return None
    if match.group("last"):
        last = _day(when.year, when.month, chinese_number(match.group("last")), said_at)
        if last is not None:
            return _ranged(match, when, last, f"{when:%Y-%m-%d}至{last:%Y-%m-%d}")
    return _single_day(when, match, text, zh=True)


def _zh_year_alone(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    year = _zh_year(match, text, said_at) or said_at.year
    start, _ = _month_span(year, 1, said_at)
    label = f"{year}年{match.group('season') or ''}".replace("年年", "年")
    return DateHit(match.start(), match.end(), label, start, start.replace(year=year + 1))


def _zh_offset(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    number = chinese_number(match.group("n"))
    if match.group("unit").endswith("月") and match.group("half"):
        return None
    sign = -1 if "前" in match.group("side") else 1
    return _offset(match, number * sign, match.group("unit").lstrip("个"), said_at, chinese=True)


def _offset(
    match: re.Match[str], number: int, unit: str, said_at: datetime, chinese: bool
) -> DateHit:
    if unit in {"天", "日", "day"}:
        day = _midnight(said_at) + timedelta(days=number)
        return _single_day(day, match, match.string, zh=chinese)
    if unit in {"周", "星期", "礼拜", "week"}:
        day = _midnight(said_at) + timedelta(weeks=number)
        label = f"{day:%Y-%m-%d}前后" if chinese else f"around {day:%Y-%m-%d}"
        return DateHit(match.start(), match.end(), label, day, day + timedelta(days=7))
    if unit in {"月", "month"}:
        start, end = _month_span(said_at.year, said_at.month + number, said_at)
        label = _month_text(start, chinese) if chinese else f"in {_month_text(start, chinese)}"
        return DateHit(match.start(), match.end(), label, start, end)
    start, _ = _month_span(said_at.year + number, 1, said_at)
    label = f"{start.year}年" if chinese else f"in {start.year}"
    return DateHit(match.start(), match.end(), label, start, start.replace(year=start.year + 1))


def _zh_bare_day(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    number = chinese_number(match.group("day"))
    start, _ = _month_span(said_at.year, said_at.month, said_at)
    if number < said_at.day and not _leans_past(text, chinese=True):
        start, _ = _month_span(said_at.year, said_at.month + 1, said_at)
    if number > said_at.day and _leans_past(text, chinese=True):
        start, _ = _month_span(said_at.year, said_at.month - 1, said_at)
    day = _day(start.year, start.month, number, said_at)
    return _single_day(day, match, text, zh=True) if day else None


def _iso(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    day = _day(int(match.group(1)), int(match.group(2)), int(match.group(3)), said_at)
    return _single_day(day, match, text, zh) if day else None


_DAY_NUMBER = rf"(?P<day>{_N}|[二三]十[一二三四五六七八九]?)\s?"
_ZH_PATTERNS: list[tuple[re.Pattern[str], Finder]] = [
    (re.compile(r"(?<!\d)(\d{4})[-/年]\s?(\d{1,2})[-/月]\s?(\d{1,2})[日号]?(?!\d)"), _iso),
    (re.compile(rf"(?P<year>今年|明年|去年|前年|后年|\d{{4}}年)?(?<![个\d])(?P<month>{_N})\s?月\s?份?的?{_DAY_NUMBER}(?:[日号](?![线楼])|(?=\s?(?:[到至~—-]))|(?=生日))(?:\s?[到至~—-]\s?(?P<last>{_N}|[二三]十[一二三四五六七八九]?)\s?[日号])?(?P<part>)"), _zh_month_day),
    (re.compile(rf"(?P<step>下下|上上|上|下|这|本)个?月(?:{_DAY_NUMBER}[日号]|(?P<part>初|底|中旬|末)?)"), _zh_step_month),
    (re.compile(r"(?<!每)(?<!每个)(?<!以后)(?<!每逢)(?<!一到)(?P<step>下下|上上|上|下|这|本)?个?(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])?(?![年岁边围围期报刊到])"), _zh_weekday),
    (re.compile(rf"({'|'.join(sorted(_DAYS_ZH, key=len, reverse=True))})"), _zh_relative_day),
    (re.compile(rf"(?P<year>今年|明年|去年|前年|后年|\d{{4}}年)?(?<![个\d第半几])(?P<month>{_N})\s?月(?:份)?(?P<part>初|底|中旬|上旬|下旬|末)?(?P<day>)?(?P<last>)?(?![子亮饼嫂光经季票薪租费卡供])"), _zh_month_day),
    (re.compile(rf"(?P<n>\d+|[一二三四五六七八九十两]+)\s?(?P<unit>天|周|个?星期|个?礼拜|个?月|年)(?P<half>半)?\s?(?P<side>以后|之后|后(?![天面来])|以前|之前|前(?![天面]))"), _zh_offset),
    (re.compile(rf"(?P<year>去年|前年|明年|后年|大前年|今年(?={_SEASONS_ZH})|(?=[上下]半年|年底|年初))(?P<season>{_SEASONS_ZH})?"), _zh_year_alone),
    (re.compile(r"(?<![\d第.])(?P<day>\d{1,2}|[二三]?十[一二三四五六七八九]?)\s?[号日](?![线楼院店码门车栋机])"), _zh_bare_day),
]  # fmt: skip


def _chinese_dates(text: str, said_at: datetime, zh: bool) -> Iterator[DateHit]:
    yield from _apply(_ZH_PATTERNS, text, said_at, zh)


def _apply(
    patterns: list[tuple[re.Pattern[str], Finder]], text: str, said_at: datetime, zh: bool
) -> Iterator[DateHit]:
    for pattern, finder in patterns:
        for match in pattern.finditer(text):
            hit = finder(match, text, said_at, zh)
            if hit is not None:
                yield hit


def _en_relative_day(
    match: re.Match[str], text: str, said_at: datetime, zh: bool
) -> DateHit | None:
    word = match.group(1).lower()
    offset = {"yesterday": -1, "last night": -1, "tomorrow": 1, "tmr": 1, "the day after tomorrow": 2,
              "the day before yesterday": -2}.get(word, 0)  # fmt: skip
    day = _midnight(said_at) + timedelta(days=offset)
    if word in {"tonight", "last night", "this evening", "this morning", "this afternoon"}:
        part = {"tonight": "evening", "last night": "evening"}.get(word, word.split()[-1])
        label = f"{day:%Y-%m-%d}" + (
            {"morning": "早上", "afternoon": "下午"}.get(part, "晚") if zh else f" {part}"
        )
        hours = {"morning": 8, "afternoon": 14}.get(part, 19)
        return DateHit(
            match.start(), match.end(), label, day + timedelta(hours=hours), day + timedelta(days=1)
        )
    return _single_day(day, match, text, zh=False)


def _en_weekday(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    step = (match.group("step") or "").lower()
    name = re.sub("day$", "", match.group("day").lower())
    index = next(i for i, day in enumerate(calendar.day_name) if day.lower().startswith(name))
    today = _midnight(said_at)
    monday = today - timedelta(days=said_at.weekday())
    day = monday + timedelta(days=index)
    past = _leans_past(text, chinese=False)
    if step == "next":
        day += timedelta(days=7)
    elif step == "last":
        day -= timedelta(days=7 if day >= today else 0)
    elif step == "" and past and day > said_at:
        day -= timedelta(days=7)
    elif not past and day < today:
        day += timedelta(days=7)
    return _single_day(day, match, text, zh=False)


def _en_period(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    step = {"next": 1, "last": -1, "this": 0, "this past": -1, "this coming": 0, "coming": 0}[
        re.sub(r"\s+", " ", match.group("step").lower())
    ]
    unit = match.group("unit").lower()
    monday = _midnight(said_at) - timedelta(days=said_at.weekday())
    if unit in {"week", "weekend"}:
        hit = _week(monday + timedelta(weeks=step), match, zh, unit == "weekend")
    elif unit == "month":
        start, end = _month_span(said_at.year, said_at.month + step, said_at)
        hit = DateHit(match.start(), match.end(), _month_text(start, zh), start, end)
    elif unit == "year":
        start, _ = _month_span(said_at.year + step, 1, said_at)
        label = f"{start.year}年" if zh else f"{start.year}"
        hit = DateHit(match.start(), match.end(), label, start, start.replace(year=start.year + 1))
    else:
        hit = _en_season(match, unit, step, said_at)
    if (
        hit.text[:3] == "the"
        or zh
        or re.search(r"\b(?:in|on|since|until|by|of|from|for|at|around)\s$", text[: match.start()])
    ):
        return hit
    return DateHit(hit.start, hit.end, f"in {hit.text}", hit.at, hit.until)


def _en_season(match: re.Match[str], unit: str, step: int, said_at: datetime) -> DateHit:
    """A season or named month with next/last: the nearest on that side of now."""
    months = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
    month = months.get(unit) or _MONTHS_EN[unit]
    year = said_at.year
    if step < 0 and month >= said_at.month:
        year -= 1
    if step > 0 and (month <= said_at.month or unit in months):
        year += month <= said_at.month
    start, _ = _month_span(year, month, said_at)
    length = 3 if unit in months else 1
    _, end = _month_span(year, month + length - 1, said_at)
    name = unit if unit in months else calendar.month_name[month]
    return DateHit(match.start(), match.end(), f"{name} {year}", start, end)


def _en_month_day(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    month = _MONTHS_EN[match.group("month").lower()[:3]]
    day = match.group("day") or None
    year = int(match.group("year")) if match.group("year") else None
    past = _leans_past(text, chinese=False)
    if day is None:
        near = year or _nearest_year(month, said_at.day, said_at, past)
        start, end = _month_span(near, month, said_at)
        return DateHit(match.start("month"), match.end(), _month_text(start, zh), start, end)
    if year is None and _YEARLESS.search(text):
        written = f"{month}月{int(day)}日" if zh else f"{calendar.month_name[month]} {int(day)}"
        return DateHit(match.start(), match.end(), written)
    when = _day(year or _nearest_year(month, int(day), said_at, past), month, int(day), said_at)
    return _single_day(when, match, text, zh=False) if when else None


def _en_offset(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    word = match.group("n").lower()
    number = int(word) if word.isdigit() else _NUMBERS_EN[word]
    sign = -1 if (match.group("ago") or "").lower() in {"ago", "earlier", "back"} else 1
    hit = _offset(match, number * sign, match.group("unit").lower(), said_at, chinese=False)
    return DateHit(match.start(), match.end(), hit.text, hit.at, hit.until)


def _en_holiday(match: re.Match[str], text: str, said_at: datetime, zh: bool) -> DateHit | None:
    month, day = {"new year's eve": (12, 31), "new year's day": (1, 1), "christmas": (12, 25),
                  "christmas eve": (12, 24), "halloween": (10, 31), "valentine's day": (2, 14)}[
        match.group().lower().replace("’", "'")
    ]  # fmt: skip
    year = said_at.year
    if _leans_past(text, chinese=False) and (month, day) > (said_at.month, said_at.day):
        year -= 1
    when = _day(year, month, day, said_at)
    return _single_day(when, match, text, zh=False) if when else None


_EN_PATTERNS: list[tuple[re.Pattern[str], Finder]] = [
    (re.compile(r"\b(the day after tomorrow|the day before yesterday|yesterday|last night|today|tonight|tomorrow|tmr|this (?:morning|afternoon|evening))\b", re.I), _en_relative_day),
    (re.compile(rf"\b(?P<month>{_MONTH_EN})\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<year>\d{{4}})\b)?(?!:\d)", re.I), _en_month_day),
    (re.compile(rf"\b(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH_EN})\b(?:,?\s(?P<year>\d{{4}})\b)?", re.I), _en_month_day),
    (re.compile(rf"\b(?P<step>next|last|this past|this coming|this|coming)\s+(?P<unit>week(?!day)(?:end)?|month|year|spring|summer|fall|autumn|winter|{_MONTH_EN})\b(?!s)", re.I), _en_period),
    (re.compile(rf"(?<!every )\b(?:(?P<step>next|last|this)\s+)?(?P<day>{_DAY_EN})\b(?!s\b)(?<!\bsat)(?<!\bsun)(?<!\bwed)", re.I), _en_weekday),
    (re.compile(rf"\b(?:in|by|since|until|till|from|starting|before|after|around|for|late|early|mid)[ -](?P<month>{_MONTH_EN})(?P<day>)?\b(?:\s(?P<year>\d{{4}})\b)?(?!\s?\d)", re.I), _en_month_day),
    (re.compile(rf"\b(?P<n>{_NUM_EN})\s(?P<unit>day|week|month|year)s?\s(?P<ago>ago|earlier|from now)\b", re.I), _en_offset),
    (re.compile(rf"\bin\s(?P<n>{_NUM_EN})\s(?P<unit>day|week|month|year)s?(?P<ago>)(?!['\w]|\s+time)\b", re.I), _en_offset),
    (re.compile(r"\b(?:new year['’]s (?:eve|day)|christmas(?: eve)?|halloween|valentine['’]s day)\b", re.I), _en_holiday),
]  # fmt: skip


def _english_dates(text: str, said_at: datetime, zh: bool) -> Iterator[DateHit]:
    yield from _apply(_EN_PATTERNS, text, said_at, zh)
