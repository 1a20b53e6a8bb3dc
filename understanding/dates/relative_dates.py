"""Finds dates in Chinese and English text and resolves them against the moment they were said.

Weeks start on Monday. A day is written ISO (2024-03-13), a month 2024年5月 / May 2024."""

import calendar
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from understanding.lexicon import alternation, finder, mapping, relative_times, rows, words
from understanding.lexicon.rules import rows as rule_rows
from understanding.numerals import CARDINALS, MONTH, MONTHS, chinese_number

NUMBER_ZH = r"(?:\d{1,2}|[一二三四五六七八九十两]{1,3})"
YEARS = relative_times("year")
_NUMBERS = CARDINALS | {"a": 1, "an": 1, "a couple of": 2, "couple of": 2}
_DAYS = relative_times("day")
_WEEKDAYS = {row["zh"]: int(row["number"]) for row in rows("weekdays")} | {"天": 6}
_STEPS = {"上上": -2, "上": -1, "last": -1, "this past": -1, "下": 1, "next": 1, "下下": 2}
_UNITS = {"天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
# The hour that a part of the day stands for, and what it adds to an hour of twelve.
_PART_HOUR = {word: int(hour) for word, hour in mapping("day_parts", "hour").items()}
_PART_ADDS = {word: int(adds) for word, adds in mapping("day_parts", "adds").items()}
# The first month of a part of a year, and how many months it has.
_YEAR_PARTS = {row["word"]: (int(row["month"]), int(row["months"])) for row in rows("year_parts")}

# Verbs and particles of the past, of the future, and of either. 的 after a verb of a completed act
# (买的), or at the end of a clause with a day (搬过来的), is that of 是…的; a participle after "is" is
# about the future (is booked for May).
_TENSE_ZH = re.compile(
    r"(?P<past>(?<=[^太不好])了(?![解不得])|过(?!敏|来|去|年|节|生日|期)|刚|上次|当时|的时候|那天"
    r"|[搬买卖做办生辞离签装修骨折识断]的|[来去上下回到完好]的(?=$|[，。！；,.!;吧呢啊吗？?]))"
    r"|(?P<coming>[要将]|打算|准备|计划|到期|盘算)|[会约该定等就再]|之前|以前|截止|到时|提醒|deadline",
    re.I,
)
_PAST_FORM = rf"(?:{alternation(words('irregular_pasts'))}|\w+ed)"
_TENSE_EN = re.compile(
    rf"(?:\b(?:is|are|be)\s(?:\w+\s)?{_PAST_FORM}|['’](?:s|re)\s(?:\w+\s)?\w+ed)\b"
    r"|(?P<coming>\b(?:will|going to|plan(?:s|ning)?|due|starts?)\b|'ll\b)"
    r"|\b(?:is|are|plan\w*|(?:it|he|she|there)'s|have to|need|by|next)\b|'re\b"
    rf"|(?P<past>\b{_PAST_FORM}\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class DateHit:
    """A date in a text: its offsets, how to write it, and the time from ``at`` (None for a day of
    every year) to before ``until``. ``open`` is "year" or "week" if the words leave open which."""

    start: int
    end: int
    text: str
    at: datetime | None = None
    until: datetime | None = None
    open: str = ""


def overlaps(start: int, end: int, hits: Iterable[DateHit]) -> bool:
    """Whether the text from ``start`` to ``end`` has characters in common with one of the hits."""
    return any(start < hit.end and hit.start < end for hit in hits)


def midnight(moment: datetime) -> datetime:
    """Returns the beginning of the day of a moment."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def month_span(
    year: int, month: int, said_at: datetime, months: int = 1
) -> tuple[datetime, datetime]:
    """Returns the start of a month and the end, exclusive, of the ``months`` from it on; month 13
    is January of the next year."""
    start, after = (
        midnight(said_at).replace(year=year + number // 12, month=number % 12 + 1, day=1)
        for number in (month - 1, month - 1 + months)
    )
    return start, after


def leans_past(text: str, chinese: bool) -> bool:
    """Whether a text has verbs of the past and no others that show a tense."""
    return _one_tense(_tenses(text, chinese)) == "past"


def _one_tense(tenses: Iterable[str]) -> str:
    """The tense if all are the same; "" otherwise."""
    distinct = set(tenses)
    return distinct.pop() if len(distinct) == 1 else ""


def _tenses(text: str, chinese: bool) -> list[str]:
    """The tense of each verb that shows one: "past", "coming" (future), or "" if it may be any."""
    tense = _TENSE_ZH if chinese else _TENSE_EN
    return [verb.lastgroup or "" for verb in tense.finditer(text)]


class _DateMatch:
    """A match of a date pattern with the moment it was said at, and whether the text is Chinese."""

    def __init__(self, match: re.Match[str], said_at: datetime, chinese: bool) -> None:
        self.match, self.said_at, self.chinese = match, said_at, chinese
        self.groups = groups_of(match)
        self.start = match.end("lead") if "lead" in self.groups else match.start()
        self.text_before = match.string[: self.start].lower()
        self.today = midnight(said_at)
        self.monday = self.today - timedelta(days=said_at.weekday())

    @cached_property
    def tense(self) -> str:
        """The tense of the verb, as :func:`_tenses` names it: in English of the last one before the
        date (he is a baker and moved here in May), else the one that all around it have. What is
        true since a date began in the past."""
        if self.chinese:  # the clause of the date
            (start, end), text = self.match.span(), self.match.string
            begins = max(text.rfind(mark, 0, start) for mark in "，。！；") + 1
            ends = (at for mark in "，。！；" if (at := text.find(mark, end)) >= 0)
            tenses = set(_tenses(text[begins : min(ends, default=None)], chinese=True))
            return "coming" if "coming" in tenses and "past" not in tenses else _one_tense(tenses)
        if self.text_before.endswith("since "):
            return "past"
        sentence = self.text_before[max(map(self.text_before.rfind, ".!?")) + 1 :]
        if before := _tenses(sentence, chinese=False):
            return before[-1]
        return _one_tense(_tenses(self.match.string, chinese=False))

    @property
    def year(self) -> int | None:
        """The year that the words give, None if they give none."""
        year = self.groups.get("year")
        if not year:
            return None
        return self.said_at.year + YEARS[year] if year in YEARS else int(year[:4])

    def nearest_year(self, month: int, day: int) -> int:
        """The year of a month and day without one: the next, or one up to 75 days ago (15 for a
        verb of the future); for a verb of the past the last, or one up to 15 days ahead."""
        delta = (month - self.said_at.month) * 30 + day - self.said_at.day
        if self.tense == "past":
            return self.said_at.year - (delta > 15)
        return self.said_at.year + (delta < (-15 if self.tense == "coming" else -75))

    def stretch(
        self, zh: str, en: str, span: tuple[datetime, datetime], open_: str = ""
    ) -> DateHit:
        """A hit for a stretch of time, in the language of the text; ``open_`` as in ``DateHit``."""
        text = zh if self.chinese else en
        return DateHit(self.start, self.match.end(), text, *span, open_)

    def months(
        self, name: str, span: tuple[datetime, datetime], year: int, open_: str = ""
    ) -> DateHit:
        """A hit for a month or a part of a year (``name``), or for a whole year if it is ""."""
        last_word = self.text_before.replace("-", " ").split()[-1:]
        preposition = "" if last_word and last_word[0] in _PREPOSITIONS else "in"
        english = " ".join(filter(None, (preposition, name, str(year))))
        return self.stretch(f"{year}年{name}", english, span, open_)

    def month(self, year: int, month: int, open_: str = "") -> DateHit:
        """A hit for a month; month 13 is January of the next year."""
        span = month_span(year, month, self.said_at)
        number, part = span[0].month, self.groups.get("part", "")
        name = f"{number}月{part}" if self.chinese else calendar.month_name[number]
        return self.months(name, span, span[0].year, open_)

    def day_of(self, year: int, month: int, day: int) -> datetime | None:
        """The date of a day of a month, or None if the month has no such day."""
        start, end = month_span(year, month, self.said_at)
        return start + timedelta(days=day - 1) if 1 <= day <= (end - start).days else None

    def day(self, day: datetime | None, open_: str = "") -> DateHit | None:
        """A hit for a day with the time of day in or after its words; None if ``day`` is None."""
        if day is None:
            return None
        end, time, written, on_clock = self._time()
        at = day + time
        until = at + timedelta(hours=1) if on_clock else day + timedelta(days=1)
        return DateHit(self.match.start(), end, f"{day:%Y-%m-%d}{written}", at, until, open_)

    def _time(self) -> tuple[int, timedelta, str, bool]:
        """The end of the words for the time of day, the time, its text, and whether it is exact."""
        end, words_ = self.match.end(), self.match[0].lower()
        carried = next((part for part in _PART_HOUR if words_.endswith(part)), "")
        if clock := _CLOCK.match(self.match.string, end):
            groups = groups_of(clock)
            if "only" not in groups:
                hour, minute = _hour_minute(groups, groups.get("part", carried))
                if hour <= 24 and minute <= 59:
                    time = timedelta(hours=hour, minutes=minute)
                    return clock.end(), time, f" {hour:02d}:{minute:02d}", True
            else:
                end, carried = clock.end(), groups["only"]
        written = carried and (carried if self.chinese else f" {carried}")
        return end, timedelta(hours=_PART_HOUR.get(carried, 0)), written, False


def groups_of(match: re.Match[str]) -> dict[str, str]:
    """Returns the nonempty groups of a match, in lower case, and named without ``_`` at the end."""
    return {name.rstrip("_"): part.lower() for name, part in match.groupdict().items() if part}


def _hour_minute(groups: dict[str, str], part: str) -> tuple[int, int]:
    """The hour of 24 and the minute of a clock time; ``part`` is the part of the day."""
    hour = chinese_number(groups["hour"])
    if "ampm" in groups:
        hour = hour % 12 + 12 * groups["ampm"].startswith("p")
    elif hour < 12 and not (part == "中午" and hour >= 11):
        hour += _PART_ADDS.get(part, 0)
    minute_word = groups.get("minute", "0")
    return hour, {"半": 30, "一刻": 15}.get(minute_word) or chinese_number(minute_word)


def number_of(word: str) -> int:
    """Returns the number that a word means: two, 两, a couple of or 28."""
    return _NUMBERS[word] if word in _NUMBERS else chinese_number(word)


def month_of(word: str) -> int:
    """Returns the number of a month: may, 五 or 5."""
    return MONTHS.get(word) or chinese_number(word)


def _calendar(date: _DateMatch) -> DateHit | None:
    """Reads a day of a month, or a range of days. A day of every year has no moment."""
    month, year = month_of(date.groups["month"]), date.year
    day = chinese_number(date.groups["day"])
    if year is not None:
        return date.day(date.today.replace(year, month, day))
    if month > 12:
        return None
    if finder("yearly_days", "yearless")(date.match.string.lower()):
        written = f"{month}月{day}日" if date.chinese else f"{calendar.month_name[month]} {day}"
        return DateHit(*date.match.span(), written)
    when = date.day_of(date.nearest_year(month, day), month, day)
    if when and (last_day := date.groups.get("last")):
        last = date.day_of(when.year, month, chinese_number(last_day))
        if last is not None:
            written = f"{when:%Y-%m-%d}至{last:%Y-%m-%d}"
            return date.stretch(written, written, (when, last + timedelta(days=1)), "year")
    return date.day(when, "year")


def _day_of_month(date: _DateMatch) -> DateHit | None:
    """Reads a day without its month (Saturday the 14th, 14号): the next one with this weekday, or
    the last one if the sentence is about the past; None if none is within six months."""
    weekday, number = date.groups.get("weekday"), chinese_number(date.groups["day"])
    step = -1 if date.tense == "past" else 1
    for months in range(0, _MONTHS_AROUND * step, step):
        day = date.day_of(date.said_at.year, date.said_at.month + months, number)
        fits = day and (weekday is None or f"{day:%A}".lower().startswith(weekday[:3]))
        if day and fits and (day - date.today).days * step >= 0:
            return date.day(day)
    return None


def _week(date: _DateMatch) -> DateHit | None:
    """Reads a day of a week, a weekend or a week."""
    step, name = date.groups.get("step", ""), date.groups.get("weekday", "")
    monday = date.monday + timedelta(weeks=_STEPS.get(step, 0))
    if not name:
        text = f"{monday:%Y-%m-%d}"
        span = monday, monday + timedelta(days=7)
        return date.stretch(f"{text}起的一周", f"the week of {text}", span)
    if name in ("末", "end"):
        first = monday + timedelta(days=5)
        text = f"{first:%Y-%m-%d}"
        span = first, first + timedelta(days=2)
        open_ = "" if step else "week"
        return date.stretch(f"{text}的周末", f"the weekend of {text}", span, open_)
    number = next((n for n in range(7) if calendar.day_name[n].lower().startswith(name[:3])), None)
    day = monday + timedelta(days=_WEEKDAYS[name] if number is None else number)
    if step == "last":  # the one before today, which may be of this week
        return date.day(day + timedelta(weeks=day + timedelta(weeks=1) < date.today))
    if step not in ("", "this"):
        return date.day(day)
    if date.tense == "past":
        return date.day(day - timedelta(weeks=day > date.said_at and not step), "week")
    return date.day(day + timedelta(weeks=day < date.today), "week")


def _month(date: _DateMatch) -> DateHit | None:
    """Reads a month, without a year as the nearest."""
    month, year = month_of(date.groups["month"]), date.year
    if not 1 <= month <= 12:
        return None
    if year is not None:
        return date.month(year, month)
    if finder("yearly_days", "yearless")(date.match.string.lower()):
        return None
    return date.month(date.nearest_year(month, date.said_at.day), month, "year")


def _step(date: _DateMatch) -> DateHit | None:
    """Reads the last, this or next month (or a day of it), year, season or month by name."""
    step, unit = _STEPS.get(date.groups["step"], 0), date.groups["unit"]
    year, month = date.said_at.year, date.said_at.month
    if unit in ("月", "month"):
        if day := date.groups.get("day"):
            return date.day(date.day_of(year, month + step, chinese_number(day)))
        return date.month(year, month + step)
    if unit == "year":
        return date.months("", month_span(year + step, 1, date.said_at, 12), year + step)
    first, months = _YEAR_PARTS.get(unit) or (MONTHS[unit], 1)
    year += (step > 0 and first <= month) - (step < 0 and first >= month)
    name = unit if unit in _YEAR_PARTS else calendar.month_name[first]
    return date.months(name, month_span(year, first, date.said_at, months), year)


def _offset(date: _DateMatch) -> DateHit | None:
    """Reads a number of days, weeks, months or years from now."""
    number, unit = number_of(date.groups["n"]), date.groups["unit"]
    side = date.groups.get("side", "")
    number *= -1 if side in ("ago", "earlier") or "前" in side else 1
    unit = _UNITS.get(unit, unit)
    if unit == "day":
        return date.day(date.today + timedelta(days=number))
    if unit == "week":
        day = date.today + timedelta(weeks=number)
        span = day, day + timedelta(days=7)
        return date.stretch(f"{day:%Y-%m-%d}前后", f"around {day:%Y-%m-%d}", span)
    if unit == "month":
        return date.month(date.said_at.year, date.said_at.month + number)
    year = date.said_at.year + number
    return date.months("", month_span(year, 1, date.said_at, 12), year)


def _year(date: _DateMatch) -> DateHit | None:
    """Reads a year, or a part of one."""
    year, part = date.year or date.said_at.year, date.groups.get("season", "")
    first, months = _YEAR_PARTS.get(part, (1, 12))
    name = part.removeprefix("年") if date.chinese else part
    span = month_span(year, first, date.said_at, months)
    return date.months(name, span, year, "" if date.year else "year")


_MONTHS_AROUND = 6
_YEAR_PART, _SEASON = (
    alternation(row["word"] for row in rows("year_parts") if row["language"] == language)
    for language in ("zh", "en")
)
_PREPOSITIONS = words("context_en", "month_before") | {"for", "at", "starting"}
_CLOCK = re.compile(
    r",?\s*(?:at\s+)?(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?P<ampm>[ap]\.?m\b\.?)"
    rf"|(?:,?\s*at\s+|\s?的?)(?P<part>{alternation(mapping('day_parts', 'adds', 'zh'))})?(?P<hour_>{NUMBER_ZH})(?:点|[:：](?=\d\d))(?:(?P<minute_>半|一刻|\d{{1,2}}|[一二三四五]?十[一二三四五六七八九]?)分?)?"
    rf"|(?:\s?的?(?P<only>{alternation(mapping('day_parts', 'adds', 'zh'))})(?![你我他她已该])|\s+(?P<only_>morning|afternoon|evening|night))",
    re.I,
)
_READINGS: dict[str, Callable[[_DateMatch], DateHit | None]] = {
    "word": lambda date: date.day(date.today + timedelta(days=_DAYS[date.groups["word"]])),
    "calendar": _calendar, "day_of_month": _day_of_month, "week": _week,
    "month": _month, "step": _step, "offset": _offset, "year": _year,
}  # fmt: skip
_DATES = rule_rows(
    __file__, "dates", MONTH=MONTH, NUMBER=NUMBER_ZH, SEASON=_SEASON, YEAR_PART=_YEAR_PART,
    YEAR=rf"{alternation(relative_times('year', 'zh'))}|\d{{4}}年",
    DAY=rf"{NUMBER_ZH}|[二三]十[一二三四五六七八九]?",
    DAY_ZH=alternation(relative_times("day", "zh")), DAY_EN=alternation(relative_times("day", "en")),
    WEEKDAY=r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)day|mon|tues?|thurs?|fri",
    STEP_EN="next|last|this past|this coming|this|coming", STEP_ZH="下下|上上|上|下|这|本",
    COUNT=rf"\d{{1,2}}|{'|'.join(_NUMBERS)}",
)  # fmt: skip

# Years of dates that people mention; every calendar calculation can hold them in every time zone.
_KNOWN_YEARS = range(1000, 3000)
_LUNAR = tuple(words("yearly_days", "lunar"))  # before a month and day of no solar calendar
# Letters that patterns match as s, i and k since they ignore case, and that tables lack.
_PLAIN = str.maketrans("ſıİK", "siIK")


def find_dates(text: str, said_at: datetime, chinese: bool) -> list[DateHit]:
    """Returns the dates of ``text`` in order, not overlapping. What no calendar contains (3000年前,
    9999-12-31, 0000-00-00) is no date, nor is a part of it (12-31), nor a lunar day."""
    hits: list[DateHit] = []
    rejected: list[DateHit] = []
    plain = text.translate(_PLAIN)
    for row in _DATES:
        for match in row["pattern"].finditer(plain):
            start, end = match.span()
            if overlaps(start, end, rejected):
                continue
            if plain[:start].lower().rstrip().endswith(_LUNAR):
                rejected.append(DateHit(start, end, match.group()))
                continue
            try:
                hit = _READINGS[row["reads"]](_DateMatch(match, said_at, chinese))
                moments = [moment for moment in (hit.at, hit.until) if moment] if hit else []
                if any(moment.year not in _KNOWN_YEARS for moment in moments):
                    raise ValueError
            except (OverflowError, ValueError):
                rejected.append(DateHit(start, end, match.group()))
                continue
            if hit is not None and not overlaps(hit.start, hit.end, hits):
                hits.append(hit)
    return sorted(hits, key=lambda hit: hit.start)
