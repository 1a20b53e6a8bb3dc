"""Relative dates in Chinese and English, resolved against the moment they were said.

Weeks start on Monday. A day is written ISO (2024-03-13), a month 2024年5月 / May 2024.
"""

import re
from datetime import datetime

from understanding.dates.date_words import DateHit, Finder, overlaps
from understanding.dates.dates_en import ENGLISH
from understanding.dates.dates_zh import CHINESE

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
