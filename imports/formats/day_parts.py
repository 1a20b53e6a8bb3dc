"""The words by which people tell one half of the day from the other, in the languages of CLDR (``babel``)."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from babel import Locale, localedata

_DAY = 24 * 3600
_HALVES = {"am": (0, _DAY // 2), "pm": (_DAY // 2, _DAY)}
_LATIN = {"am": _HALVES["am"], "pm": _HALVES["pm"], "a": _HALVES["am"], "p": _HALVES["pm"]}
_LITERAL = re.compile(r"'([^']+)'")
_SHORT = 3  # letters of a Latin word before a time that only joins it to its date: à, kl., um


def hour_of(hour: int, before: str, after: str = "") -> int | None:
    """The hour of 24 that ``hour`` is with these words around the time; None where one of them is
    no part of a day and no short word that joins."""
    for word, stands_before in ((before, True), (after, False)):
        key = _key(word)
        if not key or (stands_before and key.isascii() and len(key) <= _SHORT):
            continue
        span = _LATIN.get(key) or _spans().get(key)
        if span is not None:
            return _within(hour, span)
        if key in _hours():
            continue
        if not stands_before or len(word.split()) > 2 or len(key) > 2 * _SHORT:
            return None
    return hour


@cache
def _hours() -> frozenset[str]:
    """The words beside a time that say no more than that it is one: ч., Kl., h."""
    formats = (
        one.pattern
        for name in localedata.locale_identifiers()
        for one in Locale.parse(name).time_formats.values()
    )
    return frozenset(_key(word) for one in formats for word in _LITERAL.findall(one))


def _within(hour: int, span: tuple[int, int]) -> int:
    """``hour`` in that half of the day which is nearer to ``span`` (seconds)."""
    if not 1 <= hour <= 12:
        return hour
    if span in _HALVES.values():
        return hour % 12 + span[0] // 3600
    return min((hour % 12, hour % 12 + 12), key=lambda one: _distance(one * 3600, span))


def _distance(second: int, span: tuple[int, int]) -> int:
    begins, ends = span
    if (second - begins) % _DAY < (ends - begins) % _DAY:
        return 0
    return min((begins - second) % _DAY, (second - ends) % _DAY)


@cache
def _spans() -> dict[str, tuple[int, int]]:
    """Each word with the part of the day that it means, in seconds."""
    periods: dict[str, tuple[int, int]] = {}
    halves: dict[str, tuple[int, int]] = {}
    for name in localedata.locale_identifiers():
        _, *more = name.split("_")
        if any(len(part) != 4 for part in more):
            continue  # a country; scripts have four letters
        for period, word, span in _periods(Locale.parse(name)):
            (halves if period in _HALVES else periods).setdefault(_key(word), span)
    return periods | halves


def _periods(locale: Locale) -> Iterator[tuple[str, str, tuple[int, int]]]:
    rules = locale.day_period_rules.get(None, {})
    for widths in locale.day_periods.values():
        for words in widths.values():
            for period, word in words.items():
                if period in _HALVES:
                    yield period, word, _HALVES[period]
                for rule in rules.get(period, ()):
                    begins = rule.get("from", rule.get("at", 0))
                    yield period, word, (begins, rule.get("before", begins + 3600))


def _key(word: str) -> str:
    plain = unicodedata.normalize("NFKC", word).casefold()
    return "".join(char for char in plain if unicodedata.category(char)[0] in "LM")
