"""Reads the words that distinguish the halves of a day (``day_parts.txt``)."""

import unicodedata
from functools import cache
from pathlib import Path

_HALVES = ((0, 12), (12, 24))
_SHORT = 3  # letters of a Latin word before a time that only joins it to its date: à, kl., um


def hour_of(hour: int, before: str, after: str = "") -> int | None:
    """Returns the hour of 24 that ``hour`` is with these words before and after the time; None if
    one of them is neither a part of the day nor a short word that joins."""
    for word, stands_before in ((before, True), (after, False)):
        key = _key(word)
        if not key or (stands_before and key.isascii() and len(key) <= _SHORT):
            continue
        span = _spans().get(key)
        if span:
            return _within(hour, *span)
        joins = stands_before and len(word.split()) <= 2 and len(key) <= 2 * _SHORT
        if span is None and not joins:
            return None
    return hour


@cache
def _spans() -> dict[str, tuple[int, ...]]:
    """Returns the hours from and until which each word lasts; empty for words of any time."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {
        word: tuple(int(hour) for hour in (begins, ends) if hour != "-")
        for begins, ends, *words in rows
        for word in words
    }


def _within(hour: int, begins: int, ends: int) -> int:
    """Returns ``hour`` in that half of the day which is nearer to the span."""
    if not 1 <= hour <= 12:
        return hour
    if (begins, ends) in _HALVES:
        return hour % 12 + begins
    return min((hour % 12, hour % 12 + 12), key=lambda one: _distance(one, begins, ends))


def _distance(hour: int, begins: int, ends: int) -> int:
    """Returns the hours between an hour and a span, 0 within it."""
    if (hour - begins) % 24 < (ends - begins) % 24:
        return 0
    return min((begins - hour) % 24, (hour - ends) % 24)


def _key(word: str) -> str:
    plain = unicodedata.normalize("NFKC", word).casefold()
    return "".join(char for char in plain if unicodedata.category(char)[0] in "LM")
