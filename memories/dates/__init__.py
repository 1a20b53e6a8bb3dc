"""Relative dates in Chinese and English, resolved against the moment they were said.

Weeks start on Monday. A day is written ISO (2024-03-13), a month 2024年5月 / May 2024.
"""

import re
from datetime import datetime

from memories.dates.date_words import DateHit, overlaps
from memories.dates.dates_en import ENGLISH
from memories.dates.dates_zh import CHINESE


def find_dates(text: str, said_at: datetime, chinese: bool) -> list[DateHit]:
    """The dates of ``text``, in order, not overlapping, longest reading first."""
    found: list[DateHit] = []
    for pattern, finder in [*CHINESE, *ENGLISH] if chinese else [*ENGLISH, *CHINESE]:
        for match in pattern.finditer(text):
            hit = finder(match, said_at, chinese)
            if hit is not None and not overlaps(hit.start, hit.end, found):
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
