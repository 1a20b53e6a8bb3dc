"""The time range that a question asks about: 上周, last May, since March, 2023年夏天, 中秋.

Weeks start on Monday; a day, month, season or feast without a year is the latest that has begun,
unless the question looks ahead. A date that only describes what is asked for (the one whose
birthday is on 3 May) is no range. Lunar feasts are known from 1900 to 2100."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from understanding.dates.important_dates import YearlyDay, falls_on
from understanding.dates.relative_dates import (
    NUMBER_ZH,
    YEARS,
    DateHit,
    find_dates,
    groups_of,
    leans_past,
    midnight,
    month_of,
    month_span,
    number_of,
    overlaps,
)
from understanding.lexicon import alternation, finder, relative_times, rows, words
from understanding.numerals import CARDINALS, MONTH
from understanding.sentences import sentences
from understanding.text import HAN, simplified

Days = tuple[datetime, datetime]  # the first moment of a range, and the first one after it

_SHORT = 24  # the width of words typed into a search box, which need no question (Han is 2 wide)

_FULL_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_COUNTS = {"couple of": 2, "few": 3, "several": 4, "几": 3, "半": 0.5}
_COUNT = "|".join((r"\d{1,3}", *CARDINALS, *_COUNTS))
# The days that words reach back; lately is a month, the other day somewhat over a week ago.
_DAYS = {
    "day": 1, "week": 7, "weekend": 7, "month": 30.5, "year": 365.25,
    "天": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30.5, "年": 365.25,
    **dict.fromkeys(("最近", "近来", "近期", "这阵子", "这段时间", "这些天", "recently", "lately", "these days"), 30),
    **dict.fromkeys(("几天前", "the other day", "a few days ago", "several days ago", "some days ago"), 10),
}  # fmt: skip
# Feasts: the day of the year, the days before it that the word includes, and those from it on.
_FEASTS = {
    row["word"]: (
        YearlyDay(int(row["month"]), int(row["day"]), None, row["calendar"]),
        timedelta(days=int(row["before"])),
        timedelta(days=int(row["days"])),
    )
    for row in rows("feasts")
}
# 国庆 and 中秋 are given names too: 王国庆, 小中秋.
_SURNAMES = "".join(sorted(words("surnames", "single") - words("surnames", "weak"))) + "小老阿"
_YEAR_ZH = rf"(?:(?P<year>{alternation(relative_times('year', 'zh'))}|(?<!\d)(?:19|20)\d\d年?)的?)?"
_YEAR_EN = rf"(?:,? (?:of |in )?(?P<year_>{alternation(relative_times('year', 'en'))}|(?:19|20)\d\d)(?!\d))?"


@dataclass(frozen=True, slots=True)
class Span:
    """A time from ``since`` to before ``until``, both aware; None leaves that side open, never
    both. ``words`` state it; ``between``: two dates state it."""

    since: datetime | None
    until: datetime | None
    words: str
    between: bool = False


def span(query: str, now: datetime) -> Span | None:
    """Returns the time that ``query`` asks about, seen from ``now`` (aware, in the asker's zone);
    None if it names none, or names one without asking."""
    sentence = _question_in(query)
    return None if "describes" in _cues(sentence) else _range_in(sentence, now)


def period(text: str, now: datetime) -> Span | None:
    """Returns when a statement was true: from a year that it names on, or between two (from 2019 to
    2021, since March 2019). None if it states neither."""
    stated = _range_in(text, now)
    if stated is None or stated.since is None or not _FULL_YEAR.search(stated.words):
        return None
    return stated if stated.between or stated.until is None else None


def _cues(text: str) -> frozenset[str]:
    """The classes of ``question_cues.txt`` whose words are in a text."""
    return frozenset(finder("question_cues")(simplified(text).lower()))


def _question_in(query: str) -> str:
    """The query if it is short, else its last question, "" if none: other dates are only stated."""
    width = len(query.strip()) + len(HAN.findall(query))
    if width <= _SHORT and "tells" not in _cues(query):
        return query
    return next((one.whole for one in reversed(sentences(query)) if _is_question(one.whole)), "")


def _is_question(sentence: str) -> bool:
    first = sentence.lower().split(maxsplit=1)[0]
    marked = "?" in sentence or "？" in sentence or first in words("question_cues", "opens")
    return marked or "asks" in _cues(sentence)


def _range_in(text: str, now: datetime) -> Span | None:
    """The time that a text names; None if it names none, or one that no calendar contains."""
    text = simplified(text)
    try:
        hits = _hits(text, now)
        return _bounded(hits, text, now) if hits else None
    except (OverflowError, ValueError):  # a year that no calendar holds
        return None


def _hits(text: str, now: datetime) -> list[DateHit]:
    """The times named in a text, in order. Those with a year exclude others; words that count from
    a day ("last week") count from now only if no such date is named."""
    chinese, ahead = HAN.search(text) is not None, "ahead" in _cues(text)
    hits: list[DateHit] = []
    _add(hits, text, now, ahead, _BEFORE_DATES)
    for hit in find_dates(text, now, chinese):
        date_words = text[hit.start : hit.end].lower()
        # Words that count from now on; in a text about the past they count from an event (搬家两周后).
        counted_on = date_words.startswith("in ") or date_words.endswith(("from now", "后"))
        is_told = hit.at is None or (counted_on and leans_past(text, chinese))
        if not is_told and not overlaps(hit.start, hit.end, hits):
            hits.append(hit if ahead else _latest(hit, now))
    _add(hits, text, now, ahead, _AFTER_DATES)
    hits.sort(key=lambda hit: hit.start)
    if any(_is_between(text[a.end : b.start]) for a, b in pairwise(hits)):
        return hits
    return [hit for hit in hits if _FULL_YEAR.search(text[hit.start : hit.end])] or hits


def _latest(hit: DateHit, now: datetime) -> DateHit:
    """Moves a future date whose words leave open which one it is to the one before it."""
    if hit.at is None or hit.at <= now or not hit.open:
        return hit
    if hit.open == "week":
        week = timedelta(days=7)
        return replace(hit, at=hit.at - week, until=hit.until and hit.until - week)
    return replace(hit, at=_year_before(hit.at), until=hit.until and _year_before(hit.until))


def _year_before(moment: datetime) -> datetime:
    day = 28 if (moment.month, moment.day) == (2, 29) else moment.day
    return moment.replace(year=moment.year - 1, day=day)


def _whole_days(hit: DateHit) -> Days:
    """All of the days that a date touches: what happened at seven was told at nine."""
    if hit.at is None:
        raise ValueError("A date of no certain year spans no time.")
    since = midnight(hit.at)
    until = hit.until or since + timedelta(days=1)
    if until != midnight(until):
        until = midnight(until) + timedelta(days=1)
    return since, until


# Words before or after a date that bound its time.
_BOUND_EN = re.compile(
    rf"(?:(?P<since>\bsince|自从|自|从)|(?P<after>\bafter)|(?P<by>\bby)|\b(?P<before>before|until|till|prior to)"
    rf"|(?P<week>\b(?:(?P<n>{_COUNT})\s(?P<unit>day|week|month|year)s?|(?:the|last) (?P<unit_>day|week|month|year|weekend)|\w+day)\s+before))\s*(?:the )?$",
    re.IGNORECASE,
)
_BOUND_ZH = re.compile(
    r"\s*(?:(?P<since>以来|至今|到现在|以后|之后|起|后(?![天来面]))|(?P<before>以前|之前|前(?![天后面])))"
)


def _is_between(gap: str) -> bool:
    """Whether the text between two dates makes them the ends of one time."""
    return gap.strip().removesuffix(" the").strip() in _TO


_TO = frozenset("and to till until through - – — ~ 到 至 和 与".split())


def _bounded(hits: list[DateHit], text: str, now: datetime) -> Span:
    """The time between two dates, else the first date as the words beside it bound it."""
    for one, other in pairwise(hits):
        if _is_between(text[one.end : other.start]):
            since, until = _whole_days(one)[0], _whole_days(other)[1]
            while since >= until:  # "from August 11 to August 15, 2023": its year is the last's
                since = _year_before(since)
            return Span(since, until, text[one.start : other.end].strip(), between=True)
    first = hits[0]
    since, until = _whole_days(first)
    date_words = text[first.start : first.end].strip()
    en, zh = _BOUND_EN.search(text[: first.start]), _BOUND_ZH.match(text, first.end)
    bounds = (groups_of(en) if en else {}) | (groups_of(zh) if zh else {})
    if en and "week" in bounds:
        days = _count(bounds.get("n", "1")) * _DAYS[bounds.get("unit", "week")]
        return Span(since - timedelta(days=days), until, f"{en[0].strip()} {date_words}")
    if "since" in bounds and since <= now:
        return Span(since, None, date_words)
    if "after" in bounds:
        return Span(until, None, date_words)
    if "before" in bounds or "by" in bounds:
        return Span(None, until if "by" in bounds else since, date_words)
    return Span(since, until, date_words)


def _count(word: str) -> float:
    return _COUNTS[word] if word in _COUNTS else number_of(word)


def _feast(groups: dict[str, str], now: datetime, ahead: bool) -> Days | None:
    """The days of a feast: in the year given, else the next to end or the latest begun."""
    day, before, days = _FEASTS[groups["feast"]]
    given = groups.get("year", "")
    year = now.year + YEARS[given] if given in YEARS else int(given[:4] or now.year)
    for number in (year,) if given else (year - 1, year, year + 1) if ahead else (year, year - 1):
        if at := falls_on(day, number):
            start = midnight(now).replace(at.year, at.month, at.day)
            if given or (start + days > now if ahead else start - before <= now):
                return start - before, start + days
    return None


def _months(groups: dict[str, str], now: datetime, _ahead: bool) -> Days | None:
    """From the first of one month to the last of another, in the year given or the latest."""
    first, last = month_of(groups["first"]), month_of(groups["last"])
    begun = groups.get("begun")
    given = groups.get("year") or (begun and str(int(begun) + (first > last)))
    year = (
        YEARS[given] + now.year if given and given in YEARS else int((given or str(now.year))[:4])
    )
    begins = int(begun) if begun else year - (first > last)
    since, until = month_span(begins, first, now)[0], month_span(year, last, now)[1]
    return (since, until) if given or since <= now else (_year_before(since), _year_before(until))


def _whole_year(groups: dict[str, str], now: datetime, _ahead: bool) -> Days:
    year = groups["year"]
    return month_span(now.year + YEARS[year] if year in YEARS else int(year), 1, now, 12)


def _past(groups: dict[str, str], now: datetime, _ahead: bool) -> Days:
    """The last days, weeks, months or years, up to the end of today."""
    days = _count(groups.get("n", "1")) * _DAYS[groups["unit"]]
    return midnight(now - timedelta(days=days)), midnight(now) + timedelta(days=1)


# Patterns, each with the function that reads a match; None if the match is no time after all.
Readings = list[tuple[re.Pattern[str], Callable[[dict[str, str], datetime, bool], Days | None]]]
# Times that questions have beside the dates of statements, read before and after those.
_BEFORE_DATES: Readings = [
    (re.compile(
        rf"\b(?:between|from)\s(?P<first>{MONTH})\.?(?:,? (?P<begun>(?:19|20)\d\d))?\s(?:and|to|until|till|through)\s(?:the end of )?(?P<last>{MONTH})\b(?!\.? \d{{1,2}}(?!\d)){_YEAR_EN}"
        rf"|{_YEAR_ZH}(?<![\d年月日个])(?P<first_>{NUMBER_ZH})月?份?(?:到|至|-|~|—)(?P<last_>{NUMBER_ZH})月份?(?![\d一二三四五六七八九十])",
        re.I), _months),
    (re.compile(rf"{_YEAR_ZH}(?<![{_SURNAMES}])(?P<feast>{alternation(_FEASTS)})(?![哥姐叔伯班纪期])(?:[节夜]|假期|长假|期间|当天|那天)*{_YEAR_EN}", re.I), _feast),
]  # fmt: skip
_AFTER_DATES: Readings = [
    (re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d|今年)年?(?![\d年月])(?=\D|$)"), _whole_year),
    (re.compile(
        rf"\b(?:past|last)\s(?:(?P<n>{_COUNT})\s)?(?P<unit>day|week|month|year)s?\b"
        rf"|(?:过去|最近|近|这|前)(?P<n_>{NUMBER_ZH}|几|半)个?(?P<unit_>天|周|星期|礼拜|月|年)"
        rf"|(?P<unit__>{alternation(word for word, days in _DAYS.items() if days in (10, 30))})",
        re.I), _past),
]  # fmt: skip


def _add(hits: list[DateHit], text: str, now: datetime, ahead: bool, readings: Readings) -> None:
    """Adds to ``hits`` the times that the readings find in ``text`` where there is none yet."""
    for pattern, read in readings:
        for match in pattern.finditer(text):
            if not overlaps(*match.span(), hits) and (days := read(groups_of(match), now, ahead)):
                hits.append(DateHit(*match.span(), match[0], *days))
