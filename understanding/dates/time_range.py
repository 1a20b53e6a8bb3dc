"""The stretch of time that a question asks about: 上周, last May, since March, 2023年夏天, 中秋.

Weeks start on Monday; a day, month, season or feast without a year is the latest that has begun,
unless the question looks ahead. A date that only describes what is asked for (the one whose birthday
is on 3 May) is no range. Lunar feasts are known from 1900 to 2100.
"""

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

# The first moment, and the first one after.
Days = tuple[datetime, datetime]

# As wide as words typed into a search box, which need not ask (Han counts double).
_SHORT = 24
_FULL_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_COUNTS = {"couple of": 2, "few": 3, "several": 4, "几": 3, "半": 0.5}
_COUNT = "|".join((r"\d{1,3}", *CARDINALS, *_COUNTS))
# Words that reach back so many days; lately is a month, the other day somewhat over a week ago.
_DAYS = {
    "day": 1, "week": 7, "weekend": 7, "month": 30.5, "year": 365.25,
    "天": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30.5, "年": 365.25,
    **dict.fromkeys(("最近", "近来", "近期", "这阵子", "这段时间", "这些天", "recently", "lately", "these days"), 30),
    **dict.fromkeys(("几天前", "the other day", "a few days ago", "several days ago", "some days ago"), 10),
}  # fmt: skip
# A feast: the day of a year, and of how many days before and from it on people speak so.
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
    """From ``since`` to before ``until``, both aware; None leaves that side open, never
    both. ``words`` are those that say so; ``between`` two dates."""

    since: datetime | None
    until: datetime | None
    words: str
    between: bool = False


def span(query: str, now: datetime) -> Span | None:
    """The time that ``query`` asks about, seen from ``now`` (aware, in the asker's zone);
    None when it names none, or names one without asking."""
    sentence = _asking(query)
    return None if "describes" in _cues(sentence) else _in(sentence, now)


def period(text: str, now: datetime) -> Span | None:
    """The time that a statement says to have held, from a year that it names on, or between two:
    from 2019 to 2021, since March 2019. None where it says neither."""
    found = _in(text, now)
    if found is None or found.since is None or not _FULL_YEAR.search(found.words):
        return None
    return found if found.between or found.until is None else None


def _cues(text: str) -> frozenset[str]:
    """The classes of words of ``question_cues.txt`` that stand in a text."""
    return frozenset(finder("question_cues")(simplified(text).lower()))


def _asking(query: str) -> str:
    """The last sentence that asks, "" when none does; the dates of others are only told."""
    width = len(query.strip()) + len(HAN.findall(query))
    if width <= _SHORT and "tells" not in _cues(query):
        return query
    return next((one.whole for one in reversed(sentences(query)) if _asks(one.whole)), "")


def _asks(sentence: str) -> bool:
    first = sentence.lower().split(maxsplit=1)[0]
    marked = "?" in sentence or "？" in sentence or first in words("question_cues", "opens")
    return marked or "asks" in _cues(sentence)


def _in(text: str, now: datetime) -> Span | None:
    text = simplified(text)
    try:
        hits = _hits(text, now)
        return _joined(hits, text, now) if hits else None
    except (OverflowError, ValueError):  # a year that no calendar holds
        return None


def _hits(text: str, now: datetime) -> list[DateHit]:
    """The stretches named, in order. What is stated with its year stands for itself; words
    that count from a day ("last week") count from now only where there is no such date."""
    chinese, ahead = HAN.search(text) is not None, "ahead" in _cues(text)
    hits: list[DateHit] = []
    _add(hits, text, now, ahead, _BEFORE_DATES)
    for hit in find_dates(text, now, chinese):
        said = text[hit.start : hit.end].lower()
        # Counted from now into what is to come; of the past, such words count from something told
        # (搬家两周后).
        counted_on = said.startswith("in ") or said.endswith(("from now", "后"))
        told_on = hit.at is None or (counted_on and leans_past(text, chinese))
        if not told_on and not overlaps(hit.start, hit.end, hits):
            hits.append(hit if ahead else _latest(hit, now))
    _add(hits, text, now, ahead, _BEHIND_DATES)
    hits.sort(key=lambda hit: hit.start)
    if any(_is_between(text[a.end : b.start]) for a, b in pairwise(hits)):
        return hits
    return [hit for hit in hits if _FULL_YEAR.search(text[hit.start : hit.end])] or hits


def _latest(hit: DateHit, now: datetime) -> DateHit:
    """A date to come whose words leave open which one it is, as the one before it."""
    if hit.at is None or hit.at <= now or not hit.open:
        return hit
    if hit.open == "week":
        week = timedelta(days=7)
        return replace(hit, at=hit.at - week, until=hit.until and hit.until - week)
    return replace(hit, at=_year_before(hit.at), until=hit.until and _year_before(hit.until))


def _year_before(moment: datetime) -> datetime:
    day = 28 if (moment.month, moment.day) == (2, 29) else moment.day
    return moment.replace(year=moment.year - 1, day=day)


def _whole(hit: DateHit) -> Days:
    """All of the days that a date touches: what happened at seven was told at nine."""
    if hit.at is None:
        raise ValueError("A date of no certain year spans no time.")
    since = midnight(hit.at)
    until = hit.until or since + timedelta(days=1)
    if until != midnight(until):
        until = midnight(until) + timedelta(days=1)
    return since, until


# What before or behind a date bounds its time.
_BOUND_EN = re.compile(
    rf"(?:(?P<since>\bsince|自从|自|从)|(?P<after>\bafter)|(?P<by>\bby)|\b(?P<before>before|until|till|prior to)"
    rf"|(?P<week>\b(?:(?P<n>{_COUNT})\s(?P<unit>day|week|month|year)s?|(?:the|last) (?P<unit_>day|week|month|year|weekend)|\w+day)\s+before))\s*(?:the )?$",
    re.IGNORECASE,
)
_BOUND_ZH = re.compile(
    r"\s*(?:(?P<since>以来|至今|到现在|以后|之后|起|后(?![天来面]))|(?P<before>以前|之前|前(?![天后面])))"
)


def _is_between(gap: str) -> bool:
    """Whether what stands between two dates makes them the ends of one time."""
    return gap.strip().removesuffix(" the").strip() in _TO


_TO = frozenset("and to till until through - – — ~ 到 至 和 与".split())


def _joined(hits: list[DateHit], text: str, now: datetime) -> Span:
    """One range of the first date, as the words beside it bound it."""
    for one, other in pairwise(hits):
        if _is_between(text[one.end : other.start]):
            since, until = _whole(one)[0], _whole(other)[1]
            while since >= until:  # "from August 11 to August 15, 2023": its year is the last's
                since = _year_before(since)
            return Span(since, until, text[one.start : other.end].strip(), between=True)
    first = hits[0]
    since, until = _whole(first)
    said = text[first.start : first.end].strip()
    before, behind = _BOUND_EN.search(text[: first.start]), _BOUND_ZH.match(text, first.end)
    bounds = (groups_of(before) if before else {}) | (groups_of(behind) if behind else {})
    if before and "week" in bounds:
        days = _count(bounds.get("n", "1")) * _DAYS[bounds.get("unit", "week")]
        return Span(since - timedelta(days=days), until, f"{before[0].strip()} {said}")
    if "since" in bounds and since <= now:
        return Span(since, None, said)
    if "after" in bounds:
        return Span(until, None, said)
    if "before" in bounds or "by" in bounds:
        return Span(None, until if "by" in bounds else since, said)
    return Span(since, until, said)


def _count(word: str) -> float:
    return _COUNTS[word] if word in _COUNTS else number_of(word)


def _feast(groups: dict[str, str], now: datetime, ahead: bool) -> Days | None:
    """The days of a feast: of the year given, else the next to end or the latest begun."""
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
    """From the first of a month to the last of another, of the year given or the latest."""
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
    given = groups["year"]
    return month_span(now.year + YEARS[given] if given in YEARS else int(given), 1, now, 12)


def _past(groups: dict[str, str], now: datetime, _ahead: bool) -> Days:
    """The last so many days, weeks or months, up to the end of today."""
    days = _count(groups.get("n", "1")) * _DAYS[groups["unit"]]
    return midnight(now - timedelta(days=days)), midnight(now) + timedelta(days=1)


# Patterns, each with what a match of it means; None for what is no time after all.
Readings = list[tuple[re.Pattern[str], Callable[[dict[str, str], datetime, bool], Days | None]]]
# What questions say beyond the dates of statements, and is believed before those or behind them.
_BEFORE_DATES: Readings = [
    (re.compile(
        rf"\b(?:between|from)\s(?P<first>{MONTH})\.?(?:,? (?P<begun>(?:19|20)\d\d))?\s(?:and|to|until|till|through)\s(?:the end of )?(?P<last>{MONTH})\b(?!\.? \d{{1,2}}(?!\d)){_YEAR_EN}"
        rf"|{_YEAR_ZH}(?<![\d年月日个])(?P<first_>{NUMBER_ZH})月?份?(?:到|至|-|~|—)(?P<last_>{NUMBER_ZH})月份?(?![\d一二三四五六七八九十])",
        re.I), _months),
    (re.compile(rf"{_YEAR_ZH}(?<![{_SURNAMES}])(?P<feast>{alternation(_FEASTS)})(?![哥姐叔伯班纪期])(?:[节夜]|假期|长假|期间|当天|那天)*{_YEAR_EN}", re.I), _feast),
]  # fmt: skip
_BEHIND_DATES: Readings = [
    (re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d|今年)年?(?![\d年月])(?=\D|$)"), _whole_year),
    (re.compile(
        rf"\b(?:past|last)\s(?:(?P<n>{_COUNT})\s)?(?P<unit>day|week|month|year)s?\b"
        rf"|(?:过去|最近|近|这|前)(?P<n_>{NUMBER_ZH}|几|半)个?(?P<unit_>天|周|星期|礼拜|月|年)"
        rf"|(?P<unit__>{alternation(word for word, days in _DAYS.items() if days in (10, 30))})",
        re.I), _past),
]  # fmt: skip


def _add(hits: list[DateHit], text: str, now: datetime, ahead: bool, readings: Readings) -> None:
    """Adds the times that the readings see in ``text``, each where no other has been found."""
    for pattern, read in readings:
        for match in pattern.finditer(text):
            if not overlaps(*match.span(), hits) and (days := read(groups_of(match), now, ahead)):
                hits.append(DateHit(*match.span(), match[0], *days))
